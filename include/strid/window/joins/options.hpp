// SPDX-License-Identifier: Apache-2.0
//
// What is said of a join where it is called: which times meet, which records without a partner come
// out, and for how long late ones are taken.
//
// Threads: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <strid/base/time.hpp>
#include <strid/window/result.hpp>

namespace strid {

/// One end of an interval, in it or not.
struct JoinBound {
    Duration offset;        ///< Added to the time of the left record.
    bool inclusive = true;  ///< False: the time of the bound itself does not meet.
};

/// The times of right records that a left record meets, relative to its own.
struct JoinInterval {
    JoinBound lower;  ///< The earlier end.
    JoinBound upper;  ///< The later end.
};

/// The interval from `lower` to `upper`, both of them in it: `within(0s, 60s)` are the right
/// records of the minute that begins with the left one.
[[nodiscard]] constexpr JoinInterval within(Duration lower, Duration upper) noexcept {
    return {.lower = {lower}, .upper = {upper}};
}

/// Which records without a partner come out, too.
enum class JoinKind : std::uint8_t {
    inner,  ///< No record without a partner.
    left,   ///< Left records without a partner.
    full    ///< Records of both streams without a partner.
};

/// Options of `join`, by interval or by windows.
struct JoinOptions {
    std::string name = {};            ///< Empty: "join-<n>".
    std::size_t parallelism = 0;      ///< 0: the planner's choice.
    JoinKind kind = JoinKind::inner;  ///< Which records without a partner come out, too.
    /// Records are taken for this long after they are late, and what they may meet is kept so much
    /// longer. A window that fires again gives what is new, so that each pair still comes out once;
    /// but a record that came out alone may get a partner then. An interval join waits instead, and
    /// gives records without a partner so much later.
    Duration lateness = Duration::zero();
    /// Windows that the end of the streams finds open, and records of an outer join that then still
    /// wait for a partner.
    OpenWindows at_end = OpenWindows::fire;
    /// For window joins. The records of an interval join are late by their own input in any case.
    LateBy late_by = LateBy::slowest_input;
};

/// Options of `as_of`.
struct AsOfOptions {
    std::string name = {};        ///< Empty: "join-<n>".
    std::size_t parallelism = 0;  ///< 0: the planner's choice.
    /// `inner`: left records that meet none are left out. `left`: they come out alone.
    JoinKind kind = JoinKind::inner;
    /// How far a right record may lie before the left one, this far included. Nothing: as far as
    /// there are any; then one right record of each key is kept for ever.
    std::optional<Duration> tolerance = std::nullopt;
    /// Whether a right record with the time of the left record counts.
    bool matches_equal = true;
    /// Records are taken for this long after they are late, and answers wait so much longer.
    Duration lateness = Duration::zero();
    /// Left records that the end of the streams finds waiting.
    OpenWindows at_end = OpenWindows::fire;
};

}  // namespace strid
