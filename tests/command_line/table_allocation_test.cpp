// SPDX-License-Identifier: Apache-2.0
//
// No allocation per row in `strid window` with aggregates whose states have memory of their own,
// from file to file: panes of ten rows, and a table that is several times as long.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include "../../tools/strid/window/window_graph.hpp"
#include "../support/allocation_row.hpp"
#include "../support/allocations.hpp"
#include "../support/counting_new.hpp"
#include "../support/folder.hpp"
#include "../support/perturbed.hpp"

namespace strid::tool {
namespace {

constexpr std::uint64_t keys = 7;

/// Ten rows of each key in 70 units of time, then nothing for as long: also a session.
std::string table_of(std::uint64_t rows) {
    std::string text = "key,time,number,word\n";
    for (std::uint64_t n = 0; n != rows; ++n) {
        const std::uint64_t time = n + n / 70 * 70;
        text += std::to_string(n % keys) + ',' + std::to_string(time) + ',' +
                std::to_string(n * n % 1'009) + ",a word that is longer than most and number " +
                std::to_string(n * n % 101) + '\n';
    }
    return text;
}

template <class Windows>
void expect_none_per_row(const std::string& name, Windows windows) {
    if (test::perturbed) GTEST_SKIP() << "perturbed";
    const auto plan = std::make_shared<TablePlan>();
    plan->keys = {"key"};
    if constexpr (!std::is_same_v<Windows, window::CountWindows>) plan->times = {"time"};
    plan->format.unit_ns = 1;
    plan->read_aggregates("median(number),p99(number),distinct(word),distinct_approximately(word)");
    constexpr std::uint64_t few = 140'000;
    const test::Folder folder;
    const std::string short_path = folder.write("short.csv", table_of(few));
    const auto allocations_of = [&](const std::string& path, const RunOptions& options) {
        const std::uint64_t before = test::allocations.load();
        Graph graph{"counted"};
        WindowJob job;
        job.plan = plan;
        job.inputs = {path};
        job.output = "/dev/null";
        job.format = TableFormat::csv;
        job.csv.header = CsvHeader::skip;
        job.csv.columns = {"key"};
        for (const std::string& time : plan->times) job.csv.columns.emplace_back(time);
        for (const ValueColumn& value : plan->values) job.csv.columns.emplace_back(value.name);
        build_windows(graph, job, windows);
        run(graph, options);
        return static_cast<double>(test::allocations.load() - before);
    };
    struct Way {
        std::string name;
        std::size_t workers;
        std::uint64_t rows;
        double per_row_max;
    };
    // A state that allocates does so at least once for a pane or a session of ten rows. With two
    // workers a run asks for memory up to five thousand times more or less, by how many results
    // wait between them: a quarter of the bar for the rows between.
    for (const auto& [way, workers, many, per_row_max] :
         {Way{"one worker", 1, 4 * few, 0.001}, Way{"two workers", 2, 16 * few, 0.01}}) {
        const std::string long_path = folder.write("long.csv", table_of(many));
        const RunOptions options{.workers = workers};
        const double at_first = allocations_of(short_path, options);
        const double per_row =
            (allocations_of(long_path, options) - at_first) / static_cast<double>(many - few);
        test::print_allocations("strid window, " + name, way, per_row < 0 ? 0 : per_row);
        EXPECT_LE(per_row, per_row_max) << name << ", " << way;
    }
}

TEST(TableAllocations, NoneForARowInASketch) {
    using window::CountWindows;
    using window::SessionWindows;
    using window::TimeWindows;
    expect_none_per_row("of counts", CountWindows::sliding(50, 10));
    expect_none_per_row("of time", TimeWindows::sliding(Duration{700}, Duration{140}));
    expect_none_per_row("sessions", SessionWindows::with_gap(Duration{20}));
}

}  // namespace
}  // namespace strid::tool
