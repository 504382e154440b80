// SPDX-License-Identifier: Apache-2.0
//
// Two streams merged into one stream of variants: the base of joins, as-of joins and `connect`.
//
// Threads: as Stream.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/engine/plan/alternatives.hpp>
#include <strid/engine/plan/shared_work.hpp>
#include <strid/engine/window/joins/pairs.hpp>
#include <strid/stream/join_keys.hpp>
#include <strid/stream/keyed_stream.hpp>
#include <strid/stream/late_streams.hpp>
#include <strid/stream/stream.hpp>

namespace strid {

namespace graph {

/// `by_key` and `merged` use the streams up; all else stays as it is.
template <class Left, class Right, class LeftKey, class RightKey>
class TwoSides {
  public:
    using L = typename Left::record_type;
    using R = typename Right::record_type;
    using LeftTime = typename Left::time_type;
    using RightTime = typename Right::time_type;
    using Either = window::EitherSide<L, R>;
    using KeyOf = window::EitherKey<LeftKey, RightKey>;
    using TimeOf = window::EitherTime<LeftTime, RightTime>;

    /// `name`: of the operator that they are for, or empty.
    template <class Keys>
    TwoSides(Left left, Right right, Keys keys, std::string name)
        : time_of_{left.time(), right.time()},
          left_(std::move(left)),
          right_(std::move(right)),
          key_of_{std::move(keys.left), std::move(keys.right)},
          name_(std::move(name)) {}

    [[nodiscard]] const KeyOf& key_of() const noexcept { return key_of_; }
    [[nodiscard]] const TimeOf& time_of() const noexcept { return time_of_; }

    /// Each record where its key is.
    [[nodiscard]] auto by_key() && {
        auto lefts = either<0>(std::move(left_), "left").key_by(key_of_);
        auto rights = either<1>(std::move(right_), "right").key_by(key_of_);
        return std::move(lefts).merge(std::move(rights));
    }
    [[nodiscard]] auto merged() && {
        return either<0>(std::move(left_), "left").merge(either<1>(std::move(right_), "right"));
    }

    /// The streams of what gives pairs and late records of either side.
    template <class S>
    [[nodiscard]] auto pairs_and_late(S stream) const {
        using Pair = std::variant_alternative_t<0, typename S::record_type>;
        auto [pairs, left, right] = alternatives<Pair, L, R>(std::move(stream), name_,
                                                             {"pairs", "late-left", "late-right"});
        return with_times(std::move(pairs), std::move(left), std::move(right));
    }
    /// The same where the late records of both sides are one stream.
    template <class Pair, class S>
    [[nodiscard]] auto pairs_and_late(Stream<Pair> pairs, S late) const {
        auto [left, right] =
            alternatives<L, R>(std::move(late), name_, {"late-left", "late-right"});
        return with_times(std::move(pairs), std::move(left), std::move(right));
    }

    /// An operator that is a part of the one that they are for.
    [[nodiscard]] OperatorOptions part(const char* what, std::size_t parallelism = 0) const {
        return {.name = name_.empty() ? "" : name_ + "-" + what, .parallelism = parallelism};
    }

  private:
    template <std::size_t side, class Upstream>
    auto either(Upstream upstream, const char* which) const {
        using T = typename Upstream::record_type;
        return SharedWork::side_of<Either, side>(
            std::move(upstream),
            [](T&& record) {
                return Either{std::in_place_index<side>, std::move(record)};
            },
            part(which));
    }

    template <class Pair>
    auto with_times(Stream<Pair> pairs, Stream<L> left, Stream<R> right) const {
        return JoinStreams<Pair, L, R, LeftTime, RightTime>{
            std::move(pairs), std::move(left).carrying(time_of_.left),
            std::move(right).carrying(time_of_.right)};
    }

    TimeOf time_of_;
    Left left_;
    Right right_;
    KeyOf key_of_;
    std::string name_;
};

template <class Left, class Right, class Keys>
[[nodiscard]] auto two_sides(Left left, Right right, Keys keys, std::string name) {
    return TwoSides<Left, Right, decltype(Keys::left), decltype(Keys::right)>{
        std::move(left), std::move(right), std::move(keys), std::move(name)};
}

}  // namespace graph
}  // namespace strid
