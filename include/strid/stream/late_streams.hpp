// SPDX-License-Identifier: Apache-2.0
//
// The streams of operators that give their late records as streams of their own.
//
// Threads: as Stream.
#pragma once

#include <strid/operator/stream_time.hpp>
#include <strid/stream/stream_types.hpp>

namespace strid {

/// The result of a window with `late_apart`. Both streams must be consumed.
template <class Result, class T, class Time = operators::NaturalTime<T>>
struct WindowStreams {
    Stream<Result> results;       ///< One record for each window.
    StreamTimedBy<T, Time> late;  ///< Records that came too late, unchanged.
};

/// The result of `apply` with `late_apart`. Both streams must be consumed. An operator that follows
/// `records` directly is fused with the operator that emits them, so it gets them in their order.
template <class Records, class T, class Time>
struct RecordsAndLate {
    Records records;              ///< The operator's output.
    StreamTimedBy<T, Time> late;  ///< Records that came too late, unchanged.
};

/// The result of a join with `late_apart`. Late records have the times of their streams. All
/// streams must be consumed.
template <class Pair, class L, class R, class LeftTime = operators::NaturalTime<L>,
          class RightTime = operators::NaturalTime<R>>
struct JoinStreams {
    Stream<Pair> pairs;                      ///< The results of the function, one for each pair.
    StreamTimedBy<L, LeftTime> late_left;    ///< Left records that came too late.
    StreamTimedBy<R, RightTime> late_right;  ///< Right records that came too late.
};

}  // namespace strid
