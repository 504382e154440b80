// SPDX-License-Identifier: Apache-2.0
//
// The operators of the two graphs that have one for each feature: full.cpp and papers_form.cpp. An
// operator takes a record with the hash of its key, or, where no key leads to it, the record alone:
// then it has one replica. `Make` makes the emitted record of a call and its value.
//
// Threads: only the task of the node.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/operator/contract.hpp>

#include "branch_join.hpp"
#include "counts.hpp"
#include "fullness.hpp"
#include "pairs.hpp"
#include "scores.hpp"
#include "shard_table.hpp"
#include "voip_stream.hpp"

namespace strid::apps::voip_stream {

/// The records that the dispatcher makes of a call.
struct MarkedCall {
    Key calling;
    Key called;
    std::uint32_t start;
    std::uint32_t duration;
    std::uint32_t now;
    bool is_new;
};

/// A call as the count of those that are called takes it, and as it is asked for that count.
struct NumberAtCall {
    Key calling;
    Key called;
    std::uint32_t start;
    std::uint32_t now;
    bool asks;

    [[nodiscard]] Key number() const noexcept { return asks ? calling : called; }
};
template <class Call>
[[nodiscard]] NumberAtCall number_at(const Call& call, bool asks) noexcept {
    return {call.calling, call.called, call.start, call.now, asks};
}
struct ShardOfNumberAtCall {
    std::uint32_t operator()(const NumberAtCall& call) const noexcept {
        return shard_of(call.number());
    }
};

/// The record of what arrives.
template <class T>
[[nodiscard]] const T& call_of(const T& call) noexcept {
    return call;
}
template <class T>
[[nodiscard]] const T& call_of(const message::Hashed<T>& arrived) noexcept {
    return arrived.record;
}
template <class Arrived>
using CallOf = std::remove_cvref_t<decltype(call_of(std::declval<const Arrived&>()))>;
/// No key leads to an operator that such records arrive at.
template <class Arrived>
inline constexpr bool has_no_key = std::is_same_v<Arrived, CallOf<Arrived>>;
template <class Make, class Arrived>
using MadeOf =
    std::remove_cvref_t<std::invoke_result_t<const Make&, const CallOf<Arrived>&, double>>;

template <class Record>
[[nodiscard]] Part part_of(const Record& call, double value, std::uint32_t branch) noexcept {
    return {call.calling, call.called, value, call.start, branch};
}
/// A part for a branch of the join that follows.
struct MakePart {
    std::uint32_t branch = 0;

    template <class Record>
    [[nodiscard]] Part operator()(const Record& call, double value) const noexcept {
        return part_of(call, value, branch);
    }
};

template <class Pairs, bool one_replica = false>
class Dispatcher : public OperatorTypes<message::Hashed<TimedCall>, MarkedCall> {
  public:
    static constexpr OperatorTraits traits{.kind = "dispatcher",
                                           .hears = events<Opened, Closed>,
                                           .only_reads = true,
                                           .one_replica = one_replica};

    explicit Dispatcher(SharedPlan plan)
        : plan_(std::move(plan)), arena_(2 * shards * plan_->pair_lines) {}

    void on([[maybe_unused]] const Opened& opened) {
        if constexpr (Pairs::is_filter) {
            pairs_.open(opened.context, "pairs", plan_->pairs);
            arena_.make_ready(opened.context.parallelism);
        }
    }
    void process(const message::Hashed<TimedCall>& arrived, auto& emit) {
        const TimedCall& call = arrived.record;
        auto& detector = detectors_.find_or_make(shard_of(call.calling), plan_->pair_lines, arena_);
        const bool is_new =
            detector.is_new(call.calling, call.called, hash_of_pair(call.calling, call.called),
                            call.now, plan_->memory);
        emit(MarkedCall{call.calling, call.called, call.start, call.duration, call.now, is_new});
    }
    void on(const Closed&) noexcept {
        if constexpr (Pairs::is_filter) {
            detectors_.for_each([this](const auto& detector) {
                pairs_.add(detector.previous().pairs());
                pairs_.add(detector.current().pairs());
            });
        }
    }
    auto state() { return saved_shards(detectors_, arena_, plan_->pair_lines); }

  private:
    SharedPlan plan_;
    LineArena arena_;
    ShardTable<Detector<Pairs>> detectors_;
    Fullness pairs_;
};

/// Which count of the caller an operator keeps.
struct Counted {
    bool over_long = false;  ///< with the long time, otherwise the short one
    bool talk = false;       ///< seconds, otherwise calls
    bool only_new = false;   ///< calls to new callees
};

template <template <std::size_t> class Cells, class In, class Make,
          bool one_replica = has_no_key<In>>
class CallerCount : public OperatorTypes<In, MadeOf<Make, In>> {
  public:
    static constexpr OperatorTraits traits{.kind = "caller-count",
                                           .hears = events<Opened, Closed>,
                                           .only_reads = true,
                                           .one_replica = one_replica};

    CallerCount(SharedPlan plan, Counted counted, Make make)
        : plan_(std::move(plan)), counted_(counted), make_(make), arena_(shards * plan_->lines) {}

    void on([[maybe_unused]] const Opened& opened) {
        if constexpr (Cells<1>::is_filter) {
            numbers_.open(opened.context, "numbers", plan_->numbers);
            arena_.make_ready(opened.context.parallelism);
        }
    }
    void process(const In& arrived, auto& emit) {
        const auto& call = call_of(arrived);
        const Growth& growth = counted_.over_long ? plan_->long_growth : plan_->short_growth;
        auto& count = counts_.find_or_make(ShardOfCaller{}(call), plan_->lines, arena_);
        const double value = counted_.only_new && !call.is_new
                                 ? count.get(call.calling, call.now, growth)
                                 : count.add(call.calling, counted_.talk ? call.duration : 1.0,
                                             call.start, call.now, growth);
        emit(make_(call, value));
    }
    void on(const Closed&) noexcept {
        if constexpr (Cells<1>::is_filter) {
            counts_.for_each([this](const auto& count) { numbers_.add(count.cells().numbers()); });
        }
    }
    auto state() { return saved_shards(counts_, arena_, plan_->lines); }

  private:
    SharedPlan plan_;
    Counted counted_;
    Make make_;
    LineArena arena_;
    ShardTable<Count<Cells>> counts_;
    Fullness numbers_;
};

template <class In>
class GlobalAcd : public OperatorTypes<In, Part> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "global-acd", .hears = events<>, .only_reads = true, .one_replica = true};

    explicit GlobalAcd(SharedPlan plan) : plan_(std::move(plan)) {}

    void process(const In& call, auto& emit) {
        constexpr std::uint32_t branch = 1;
        const double mean = mean_.add(call.duration, call.start, call.now, plan_->long_growth);
        emit(part_of(call, mean, branch));
    }
    auto state() { return std::tie(mean_); }

  private:
    SharedPlan plan_;
    MeanDuration mean_;
};

/// Takes two records of each call, NumberAtCall or one that adds to it.
template <template <std::size_t> class Cells, class In, class Make>
class Rcr : public OperatorTypes<In, MadeOf<Make, In>> {
  public:
    static constexpr OperatorTraits traits{.kind = "rcr",
                                           .emits = Emits::at_most_one,
                                           .hears = events<Opened, Closed>,
                                           .only_reads = true};

    Rcr(SharedPlan plan, Make make)
        : plan_(std::move(plan)), make_(make), arena_(shards * plan_->lines) {}

    void on([[maybe_unused]] const Opened& opened) {
        if constexpr (Cells<1>::is_filter) {
            numbers_.open(opened.context, "numbers", plan_->numbers);
            arena_.make_ready(opened.context.parallelism);
        }
    }
    void process(const In& arrived, auto& emit) {
        const auto& call = call_of(arrived);
        const Growth& growth = plan_->short_growth;
        auto& received = received_.find_or_make(ShardOfNumberAtCall{}(call), plan_->lines, arena_);
        if (call.asks) {
            emit(make_(call, received.get(call.calling, call.now, growth)));
        } else {
            received.add(call.called, 1, call.start, call.now, growth);
        }
    }
    void on(const Closed&) noexcept {
        if constexpr (Cells<1>::is_filter) {
            received_.for_each(
                [this](const auto& count) { numbers_.add(count.cells().numbers()); });
        }
    }
    auto state() { return saved_shards(received_, arena_, plan_->lines); }

  private:
    SharedPlan plan_;
    Make make_;
    LineArena arena_;
    ShardTable<Count<Cells>> received_;
    Fullness numbers_;
};

/// The score of a call, of a join of the parts 0 (FoFiR), 1 (URL) and 2 (ACD).
struct ScoreOfParts {
    CallScore operator()(const Part& part, const std::array<double, 3>& values) const noexcept {
        return {number_of(part.calling),
                number_of(part.called),
                {part.start},
                values[0],
                values[1],
                values[2],
                score_of(values[0], values[1], values[2])};
    }
};
/// Part 2, of a join of the parts 0 (CT24), 1 (the mean of all calls) and 2 (ECR24).
struct AcdOfParts {
    Part operator()(const Part& part, const std::array<double, 3>& values) const noexcept {
        return part_of(part, acd_of(values[0], values[2], values[1]), 2);
    }
};

}  // namespace strid::apps::voip_stream
