// SPDX-License-Identifier: Apache-2.0
//
// The kernels and segments that graphs of many tests have in common: compiled once (kernels.cpp).
// Each stands here once; a test that has another compiles it itself.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include <strid/operator/time_order.hpp>
#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

#include "windows.hpp"

#ifndef STRID_SHARED
#define STRID_SHARED extern template class
#endif

namespace strid::test::shared {

using operators::Identity;
using operators::InputHead;
using operators::NoRouter;
using operators::Sink;

using Key = Field<&Event::key>;
using Time = Field<&Event::time>;
using Sum = std::remove_const_t<decltype(test::sum)>;
using SumRow = RowOf<std::int64_t>;
using MeanRow = RowOf<double>;
using CountRow = RowOf<std::uint64_t>;
template <class T>
using Hashed = message::Hashed<T>;

template <class T>
using Replayed = operators::SourceHead<Replay<T>>;
template <class T>
using Timed = operators::EventTimeOperator<T, Field<&T::time>, BoundedDisorder>;
using InOrder = operators::EventTimeOperator<Event, Time, MonotonousTime>;
using HashOfKey = operators::HashKey<Event, Key>;
using ByKey = operators::KeyByRouter<Event, Key>;
template <class T>
using Next = operators::SingleSlotRouter<T>;

template <class Result>
using OrLate = std::variant<Result, Event>;
template <class Result>
using Apart = operators::SplitRouter<OrLate<Result>, graph::IndexOfType>;
template <std::size_t I, class Result>
using Taken = operators::Map<OrLate<Result>, graph::TakeType<I, OrLate<Result>>,
                             operators::Plain<graph::TakeType<I, OrLate<Result>>>>;

using Sums = window::KeyedTimeWindows<Event, Key, std::uint32_t, Time, Sum>;
using Sessions = window::KeyedSessions<Event, Key, std::uint32_t, Time, Sum>;
template <class Windows>
using AndLate = operators::WithLate<Windows, Event>;
using Part = window::PanePart<std::uint32_t, std::int64_t>;

}  // namespace strid::test::shared

namespace strid::operators {

using namespace test::shared;
using test::Event;
using test::ToRows;

// Sources of events, with times and keys, and each part of them.
STRID_SHARED Kernel<Replayed<Event>, Next<Event>>;
STRID_SHARED Kernel<Replayed<Event>, ByKey>;
STRID_SHARED Kernel<Replayed<Event>, ByKey, InOrder>;
STRID_SHARED Kernel<Replayed<Event>, Next<Event>, InOrder>;
STRID_SHARED Kernel<Replayed<Event>, Next<Event>, Timed<Event>>;
STRID_SHARED Kernel<Replayed<Event>, Next<Hashed<Event>>, InOrder, HashOfKey>;
STRID_SHARED Kernel<Replayed<Event>, Next<Hashed<Event>>, Timed<Event>, HashOfKey>;
STRID_SHARED Kernel<SourceHead<InletSource<Event>>, Next<Event>>;
STRID_SHARED Kernel<InputHead<Event>, Next<Event>, Identity<Event>>;
STRID_SHARED Kernel<InputHead<Event>, Next<Event>, InOrder>;
STRID_SHARED Kernel<InputHead<Event>, Next<Event>, Timed<Event>>;
STRID_SHARED Kernel<InputHead<Event>, Next<Event>, TimeOrder<Event, Time, ByArrival>>;
STRID_SHARED Kernel<InputHead<Event>, ByKey, Identity<Event>>;
STRID_SHARED Kernel<InputHead<Event>, ByKey, InOrder>;
STRID_SHARED Kernel<InputHead<Event>, KeyByRouter<Event, InOneGroup>, Identity<Event>>;
STRID_SHARED Kernel<InputHead<Event>, Next<Hashed<Event>>, HashOfKey>;
STRID_SHARED Kernel<InputHead<Event>, Next<Hashed<Event>>, InOrder, HashOfKey>;
STRID_SHARED Kernel<InputHead<Event>, Next<Hashed<Event>>, Timed<Event>, HashOfKey>;
STRID_SHARED Kernel<InputHead<Hashed<Event>>, Next<Hashed<Event>>, Identity<Hashed<Event>>>;

// Sums by key, with their late records or without.
STRID_SHARED Kernel<InputHead<Hashed<Event>>, Next<SumRow>, Sums>;
STRID_SHARED Kernel<InputHead<Hashed<Event>>, Apart<SumRow>, AndLate<Sums>>;
STRID_SHARED Kernel<InputHead<Hashed<Event>>, Next<OrLate<SumRow>>, AndLate<Sums>>;
STRID_SHARED Kernel<InputHead<Hashed<Event>>, Apart<SumRow>, AndLate<Sessions>>;
STRID_SHARED Kernel<InputHead<Hashed<Event>>, Next<OrLate<SumRow>>, AndLate<Sessions>>;
STRID_SHARED Kernel<InputHead<OrLate<SumRow>>, Apart<SumRow>, Identity<OrLate<SumRow>>>;
STRID_SHARED Kernel<InputHead<OrLate<SumRow>>, Next<SumRow>, Taken<0, SumRow>>;
STRID_SHARED Kernel<InputHead<OrLate<SumRow>>, Next<Event>, Taken<1, SumRow>>;
STRID_SHARED Kernel<InputHead<SumRow>, Next<SumRow>, Identity<SumRow>>;
STRID_SHARED Kernel<InputHead<SumRow>, Next<SumRow>, window::OrderedByTime<SumRow>>;
STRID_SHARED Kernel<InputHead<SumRow>, KeyByRouter<SumRow, Field<&SumRow::key>>, Identity<SumRow>>;
STRID_SHARED Kernel<InputHead<SumRow>, NoRouter, Sink<SumRow, ToRows>>;
STRID_SHARED Kernel<InputHead<Part>, KeyByRouter<Part, Field<&Part::key>>, Identity<Part>>;

// Behind windows whose results are fractions.
STRID_SHARED Kernel<InputHead<OrLate<MeanRow>>, Apart<MeanRow>, Identity<OrLate<MeanRow>>>;
STRID_SHARED Kernel<InputHead<OrLate<MeanRow>>, Next<MeanRow>, Taken<0, MeanRow>>;
STRID_SHARED Kernel<InputHead<OrLate<MeanRow>>, Next<Event>, Taken<1, MeanRow>>;
STRID_SHARED Kernel<InputHead<MeanRow>, Next<MeanRow>, Identity<MeanRow>>;

// Behind those that count.
STRID_SHARED Kernel<InputHead<CountRow>, NoRouter, Sink<CountRow, ToRows>>;
STRID_SHARED Kernel<InputHead<CountRow>, Next<CountRow>, Identity<CountRow>>;

}  // namespace strid::operators

namespace strid::graph {

using namespace test::shared;
using test::Event;
using test::ToRows;

STRID_SHARED Segment<ByKey, Replayed<Event>>;
STRID_SHARED Segment<ByKey, Replayed<Event>, InOrder>;
STRID_SHARED Segment<ByKey, Replayed<Event>, Timed<Event>>;
STRID_SHARED Segment<ByKey, InputHead<Event>, Identity<Event>>;
STRID_SHARED Segment<Next<Event>, Replayed<Event>, InOrder>;
STRID_SHARED Segment<Next<Event>, Replayed<Event>, Timed<Event>>;
STRID_SHARED Segment<Next<Hashed<Event>>, Replayed<Event>, InOrder, HashOfKey>;
STRID_SHARED Segment<Next<Hashed<Event>>, Replayed<Event>, Timed<Event>, HashOfKey>;
STRID_SHARED Segment<Apart<SumRow>, InputHead<Hashed<Event>>, AndLate<Sums>>;
STRID_SHARED Segment<Apart<SumRow>, InputHead<Hashed<Event>>, AndLate<Sessions>>;
STRID_SHARED Segment<Next<SumRow>, InputHead<OrLate<SumRow>>, Taken<0, SumRow>>;
STRID_SHARED Segment<Next<Event>, InputHead<OrLate<SumRow>>, Taken<1, SumRow>>;
STRID_SHARED Segment<NoRouter, InputHead<Event>, Sink<Event, Collect<Event>>>;
STRID_SHARED Segment<NoRouter, InputHead<SumRow>, Sink<SumRow, ToRows>>;
STRID_SHARED Segment<NoRouter, InputHead<MeanRow>, Sink<MeanRow, ToRows>>;

}  // namespace strid::graph
