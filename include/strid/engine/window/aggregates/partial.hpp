// SPDX-License-Identifier: Apache-2.0
//
// Windows computed in two levels (paper 2, paned and map-reduce windows): the first level computes
// the states of parts of a window, the second level combines them to values.
#pragma once

#include <cstdint>
#include <optional>

#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {

/// Where so many panes lie between a window and the next, each replica combines them to its part of
/// a window before it sends anything.
inline constexpr std::int64_t panes_worth_combining = 4;

/// An aggregate whose result is its state: what the first level computes.
template <Aggregate A>
struct Part : A {
    [[nodiscard]] typename A::State lower(const typename A::State& state) const { return state; }
};

/// The aggregate over results of the first level: what the second level computes. A part takes the
/// place of a record; the algebra is that of `A`.
template <Aggregate A, class PartResult>
struct Merged : A {
    using State = typename A::State;
    [[nodiscard]] State lift(const PartResult& part) const { return part.value; }
    void add(State& state, const PartResult& part) const {
        state = this->combine(state, part.value);
    }
};

/// The same for windows of counts: a part stands for the records that it has.
template <Aggregate A, class PartResult>
struct MergedCounts : Merged<A, PartResult> {
    [[nodiscard]] static std::uint64_t positions_of(const PartResult& part) noexcept {
        return part.window.end - part.window.start;
    }
};

/// One of any number of values of a window of counts, or the mark that ends them. The operator that
/// puts windows in order needs the mark: it shows that no value is to come.
template <class Result>
struct ValueOrEnd {
    decltype(Result::key) key;
    std::uint64_t start;  ///< Of the window.
    std::optional<Result> value;
};

/// The combined state of some records of a window of counts.
template <class K, class State>
struct CountPart {
    K key;
    CountBounds window;
    State value;
    std::uint64_t records;  ///< How many they are, 1 at least.
};

}  // namespace strid::window
