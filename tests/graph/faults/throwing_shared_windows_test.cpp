// SPDX-License-Identifier: Apache-2.0
//
// Functions that throw in windows whose work is shared between replicas (throwing.hpp).
#include <strid/window/aggregates/content.hpp>

#include "throwing.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

const Broken broken_ones[] = {
    {"farmed content", "broken",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(sliding(100, 30), window::content<Event>([probe](auto records) {
                         probe();
                         return records.size();
                     }),
                     share::farmed, {.name = "broken"})
             .sink(ignore);
     }},
    {"a combined sum", "broken-parts",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(sliding(100, 30), window::sum<Event>(value_with(probe)), share::combined,
                     {.name = "broken"})
             .sink(ignore);
     }},
    {"a paned sum", "broken-panes",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(sliding(100, 30), window::sum<Event>(value_with(probe)), share::paned,
                     {.name = "broken"})
             .sink(ignore);
     }},
    {"a paned sum of counts", "broken-panes",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(window::CountWindows::sliding(20, 5), window::sum<Event>(value_with(probe)),
                     share::paned, {.name = "broken"})
             .sink(ignore);
     }},
    {"a map-reduced sum", "broken-map",
     [](Graph& graph, const std::vector<Event>& events, const Probe& probe) {
         stream_of(graph, events)
             .key_by<&Event::key>()
             .window(sliding(100, 30), window::sum<Event>(value_with(probe)), share::map_reduce,
                     {.name = "broken"})
             .sink(ignore);
     }},
};

TEST(SharedWindowFaults, AFunctionThatThrowsEndsTheRunAndNamesTheOperator) {
    end_the_run_and_name_the_operator(broken_ones);
}

}  // namespace
}  // namespace strid
