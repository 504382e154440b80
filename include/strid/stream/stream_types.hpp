// SPDX-License-Identifier: Apache-2.0
//
// The types of the handles that a graph is built with, by name only.
#pragma once

#include <strid/base/field.hpp>
#include <strid/engine/plan/segment.hpp>
#include <strid/operator/stream_time.hpp>

namespace strid {

/// `Time` gives the time of its records (operator/stream_time.hpp).
template <class T, class Chain = graph::Chain<operators::InputHead<T>>,
          class Time = operators::NaturalTime<T>>
class Stream;
/// A stream as it is stored and passed, with its time, a type of function.
template <class T, class TimeOf>
using StreamTimedBy = Stream<T, graph::Chain<operators::InputHead<T>>, TimeOf>;
/// The same with a member: `TimedStream<Trip, &Trip::at>`.
template <class T, auto Member>
using TimedStream = StreamTimedBy<T, Field<Member>>;

namespace graph {
// An edge by key that is there already (engine/plan/keyed_edge.hpp).
template <class T, class Time = operators::NaturalTime<T>>
struct KeyedEdge;
// Windows by key (engine/plan/keyed_windows.hpp).
template <class T, class KeyOf, class Upstream>
class KeyedWindows;
// Windows in every way (engine/plan/shared_windows.hpp).
template <class T, class KeyOf, class Upstream>
class SharedWindows;
}  // namespace graph

struct KeepKeys;
/// A stream that is partitioned by key (stream/keyed_stream.hpp).
template <class T, class KeyOf, class Upstream = graph::KeyedEdge<T>, class Life = KeepKeys>
class KeyedStream;

}  // namespace strid
