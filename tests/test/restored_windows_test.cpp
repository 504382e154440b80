// SPDX-License-Identifier: Apache-2.0
//
// The state() of windows of event time is complete (alike.hpp). Each test is named by the class
// that it is about: operators_listed.py, beside this file, finds a class without one.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <strid/engine/operator/late_apart.hpp>
#include <strid/engine/window/operators/keyed_time_windows.hpp>
#include <strid/engine/window/operators/partial_panes.hpp>
#include <strid/window/aggregates/content.hpp>

#include "alike.hpp"

namespace strid::test {
namespace {

using namespace window;

template <class A, Firing firing = Firing::totals>
using Windows = KeyedTimeWindows<Reading, KeyOf, std::uint32_t, TimeOf, A, firing>;

const TimeWindows overlapping = TimeWindows::sliding(Duration{30}, Duration{10});

TEST(Restored, KeyedTimeWindows) {
    for (const TimeWindows& windows : {TimeWindows::tumbling(Duration{20}), overlapping,
                                       TimeWindows::sliding(Duration{10}, Duration{25})}) {
        for (const Duration lateness : {Duration{0}, Duration{25}}) {
            for (const LateBy late_by : {LateBy::slowest_input, LateBy::own_input}) {
                WindowOptions options;
                options.lateness = lateness;
                options.late_by = late_by;
                keyed_state_is_complete(
                    [&] {
                        return Windows<InOrderOfArrival>{windows, {}, {}, {}, options};
                    },
                    {.cases = 100});
            }
        }
    }
}

TEST(Restored, KeyedTimeWindowsOfFolds) {
    keyed_state_is_complete([] { return Windows<FoldInOrder>{overlapping, {}, {}, {}, {}}; });
}

/// Rows are given early and again, and windows without a record are filled in.
TEST(Restored, KeyedTimeWindowsWithUpdates) {
    UpdateOptions options;
    options.window.lateness = Duration{25};
    options.early_every = Duration{300};
    options.fill_max = 1'000'000;
    keyed_state_is_complete(
        [&] {
            return Windows<InOrderOfArrival, Firing::updates>{overlapping, {}, {}, {}, options};
        },
        {.keys = 3, .clock_step = 200});
}

TEST(Restored, KeyedTimeWindowsOfParts) {
    keyed_state_is_complete([] {
        return Windows<SumOfValues, Firing::parts>{overlapping, {}, {}, {}, {}};
    });
}

/// Replicas share the windows.
TEST(Restored, KeyedTimeWindowsOfAFarm) {
    keyed_state_is_complete([] {
        Windows<InOrderOfArrival> windows{overlapping, {}, {}, {}, {}};
        windows.farm();
        return windows;
    });
}

/// The keys' texts are the operator's own.
TEST(Restored, KeyedTimeWindowsOfTexts) {
    using OfTexts = KeyedTimeWindows<Line, KeyOf, std::string_view, TimeOf, InOrderOfArrival>;
    state_is_complete(
        [] {
            return OfTexts{overlapping, {}, {}, {}, {}};
        },
        arriving_by_key<Line>(KeyOf{}, TimeOf{}), a_line);
}

/// Late records among its results.
TEST(Restored, LateApart) {
    using Apart = operators::WithLate<Windows<InOrderOfArrival>, Reading>;
    keyed_state_is_complete([] {
        return Apart{Windows<InOrderOfArrival>{overlapping, {}, {}, {}, {}}};
    });
}

/// The records of a window are in memory of the function, which goes with them: element 2.
TEST(Restored, KeyedTimeWindowsOfContent) {
    const auto function = content<Reading>([](std::span<const Reading> readings) {
        std::string all;
        for (const Reading& reading : readings) all += text_of(reading) + ";";
        return all;
    });
    keyed_state_is_complete(
        [&] {
            return Windows<std::remove_const_t<decltype(function)>>{
                overlapping, {}, {}, function, {}};
        },
        {.unneeded = {2}});
}

/// Panes in a finger tree.
TEST(Restored, KeyedTimeWindowsOfTrees) {
    using InTree = KeptIn<InOrderOfArrival, PaneTree<InOrderOfArrival>>;
    WindowOptions options;
    options.lateness = Duration{25};
    keyed_state_is_complete([&] { return Windows<InTree>{overlapping, {}, {}, {}, options}; });
}

TEST(Restored, PartialPanes) {
    using Partial = PartialPanes<Reading, KeyOf, std::uint32_t, TimeOf, SumOfValues>;
    // That records do not find their state is judged after thousands of parts: elements 4, 5, 6.
    // The first end only saves a look at places that are not due: element 3.
    state_is_complete(
        [] {
            return Partial{overlapping, {}, {}, {}};
        },
        {.cases = 100, .unneeded = {3, 4, 5, 6}});
}

}  // namespace
}  // namespace strid::test
