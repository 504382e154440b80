// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in windows of sketches and sets (sketches.hpp): panes of ten records, in
// every structure that windows are kept in. The memory that panes and their combinations leave is
// used again (memory/recycling.hpp). Other kinds of windows are in
// other_sketch_allocation_test.cpp.
#include <strid/engine/window/structures/flat_fat.hpp>
#include <strid/engine/window/structures/panes.hpp>
#include <strid/engine/window/structures/two_stacks.hpp>

#include "sketches_by_key.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

TEST(Allocations, NoneForARecordInASketchOfAFewRecords) {
    expect_none_of_counts("quantile", of_counts, quantile);
    expect_none_of_counts("distinct", of_counts, distinct);
    expect_none_of_counts("distinct texts", of_counts, distinct_texts);
    expect_none_of_counts("distinct, about", of_counts, about);
    expect_none_of_counts("distinct, roughly", of_counts, roughly);
    expect_none_of_counts("all, tumbling", window::CountWindows::tumbling(10), all);
    expect_none_of_counts("all, each record", window::CountWindows::sliding(10, 1), all);
}

TEST(Allocations, NoneForARecordInASketchWhateverItSlidesIn) {
    expect_none_of_counts("DABA Lite", of_counts, all);
    expect_none_of_counts("two stacks", of_counts, window::kept_in<window::TwoStacks>(all));
    expect_none_of_counts("FlatFAT", of_counts, window::kept_in<window::FlatFat>(all));
    expect_none_of_time("panes, DABA Lite", of_time, all);
    expect_none_of_time("panes, tumbling", window::TimeWindows::tumbling(70ns), all);
    expect_none_of_time("panes, two stacks", of_time, window::kept_in<window::TwoStacks>(all));
    expect_none_of_time("panes, FlatFAT", of_time, window::kept_in<window::FlatFat>(all));
    expect_none_of_time("a finger tree", of_time, window::kept_in<window::PaneTree>(all));
}

}  // namespace
}  // namespace strid
