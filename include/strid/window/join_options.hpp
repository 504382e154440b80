// SPDX-License-Identifier: Apache-2.0
//
// The options of joins: which times are joined, which records without a partner come out, and for
// how long late ones are taken.
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

/// The times of right records that join a left record, relative to its time.
struct JoinInterval {
    JoinBound lower;  ///< The earlier end.
    JoinBound upper;  ///< The later end.
};

/// The interval from `lower` to `upper`, both included: `within(0s, 60s)` joins right records of
/// the minute that begins with the left record.
[[nodiscard]] constexpr JoinInterval within(Duration lower, Duration upper) noexcept {
    return {.lower = {lower}, .upper = {upper}};
}

/// Which records without a partner are emitted, too.
enum class JoinKind : std::uint8_t {
    inner,  ///< No record without a partner.
    left,   ///< Left records without a partner.
    full    ///< Records of both streams without a partner.
};

/// Options of `join`, by interval or by windows.
struct JoinOptions {
    std::string name = {};            ///< Empty: "join-<n>".
    std::size_t parallelism = 0;      ///< 0: the planner's choice.
    JoinKind kind = JoinKind::inner;  ///< Which records without a partner are emitted, too.
    /// Records up to this far behind the watermark are still joined, and their possible partners
    /// are kept that much longer. A window that fires again emits only new pairs, so each pair
    /// still comes out once; but a record that came out alone may get a partner then. An interval
    /// join waits instead, and emits records without a partner that much later.
    Duration lateness = Duration::zero();
    /// The action, at the end of the streams, for open windows and for records of an outer join
    /// that wait for a partner.
    OpenWindows at_end = OpenWindows::fire;
    /// For window joins. An interval join always uses `own_input`.
    LateBy late_by = LateBy::slowest_input;
};

/// Options of `as_of`.
struct AsOfOptions {
    std::string name = {};        ///< Empty: "join-<n>".
    std::size_t parallelism = 0;  ///< 0: the planner's choice.
    /// `inner`: left records without a partner are dropped. `left`: they come out alone.
    JoinKind kind = JoinKind::inner;
    /// How far a right record may lie before the left one, inclusive. Empty: any distance; then one
    /// right record of each key is kept until the end of the run.
    std::optional<Duration> tolerance = std::nullopt;
    /// Whether a right record with the time of the left record counts.
    bool matches_equal = true;
    /// Records up to this far behind the watermark are still joined, and results wait that much
    /// longer.
    Duration lateness = Duration::zero();
    /// The action for left records that wait at the end of the streams.
    OpenWindows at_end = OpenWindows::fire;
};

}  // namespace strid
