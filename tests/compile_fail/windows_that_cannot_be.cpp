// SPDX-License-Identifier: Apache-2.0
//
// A window that there is not, or whose work cannot be shared so (engine/plan/window_table.hpp), and
// a stream that is asked for a time it has not: the compiler says which in one sentence.
// error: a window needs windows (TimeWindows, CountWindows, SessionWindows
// error: a window needs a function of the records T that arrive
// error: it is not known when these records happened: give event_time before
// error: it is not known when these records happened: give event_time before
// error: sessions and windows with a trigger are by key
// error: records of a key_by that is sealed or merged are sent by key already
// error: windows of counts are not combined
// error: not those of full content, of several values or of final aggregates
// error: the aggregate has to be commutative (see share::farmed, any_order)
// error: combined windows are for commutative aggregates with a small plain state
// error: late_apart is for windows of time and sessions, by key or share::farmed
// error: late_apart is for windows of time and sessions, by key or share::farmed
// error: streams that are merged take their time from one function
// error: is for map, filter, flat_map, accumulate and reduce: windows and process forget keys by
// error: late_apart is for an operator that finds late records
#include <span>
#include <string>

#include <strid/base/field.hpp>
#include <strid/operator/aligned.hpp>
#include <strid/operator/deduplicate.hpp>
#include <strid/operator/time_order.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/content.hpp>
#include <strid/window/aggregates/fold.hpp>

#include "numbers.hpp"

struct Trip {
    int airport;
    double delay;
    strid::EventTime at;
    strid::EventTime booked;
    std::string pilot;
};

void build(strid::Graph& graph) {
    namespace window = strid::window;
    namespace share = strid::share;
    using strid::late_apart;
    const auto hours = window::TimeWindows::tumbling(std::chrono::hours{1});
    const auto tens = window::CountWindows::tumbling(10);
    const auto pauses = window::SessionWindows::with_gap(std::chrono::hours{1});
    const auto all =
        window::content<Trip>([](std::span<const Trip> trips) { return trips.size(); });
    const auto same = [](int number) { return number; };
    const auto trips = [&] { return graph.source(Numbers{}).map([](int) { return Trip{}; }); };
    const auto timed = [&] { return trips().event_time<&Trip::at>(strid::MonotonousTime{}); };
    const auto keyed = [&] { return timed().key_by<&Trip::airport>(); };

#ifdef STRID_MUST_NOT_COMPILE
    keyed().window(std::chrono::hours{1}, window::count());
    keyed().window(hours, window::sum([](int number) { return number; }));
    trips().key_by<&Trip::airport>().window(hours, window::count());
    graph.source(Numbers{}).key_by(same).apply(strid::deduplicate(std::chrono::hours{1}));
    keyed().window(pauses, window::count(), share::farmed);
    keyed().sealed().window(hours, window::count(), share::paned);
    keyed().window(tens, window::count(), share::combined);
    keyed().window(hours, all, share::paned);
    keyed().window(hours, window::mean<&Trip::delay>(), share::map_reduce);
    timed().key_by<&Trip::pilot>().window(hours, window::count(), share::combined);
    keyed().window(tens, all, late_apart);
    keyed().window(hours, window::count(), share::paned | late_apart);
    timed().merge(trips().event_time<&Trip::booked>(strid::MonotonousTime{}));
    timed().key_by<&Trip::airport>(strid::keep_at_most(9)).window(tens, window::count());
    (void)timed().apply(strid::aligned(strid::Alignment{std::chrono::hours{1}}), late_apart);
#else
    (void)timed().apply(strid::in_order_of_time(), late_apart);
    keyed().window(tens, window::count());
    (void)keyed().apply(strid::deduplicate(std::chrono::hours{1}));
    (void)graph.source(Numbers{}).key_by(same);
    keyed().window(hours, all);
    keyed().sealed().window(tens, window::count());
    keyed().window(hours, all, share::farmed | late_apart);
    keyed().window(pauses, window::mean<&Trip::delay>());
    (void)timed().merge(trips().timed_by<&Trip::at>());
#endif
}
