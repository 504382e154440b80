// SPDX-License-Identifier: Apache-2.0
//
// No allocation per record in windows of sketches and sets (sketches.hpp), in every way to share
// them.
#include <string>

#include "sketches.hpp"

namespace strid {
namespace {

using namespace test;

/// Of shared windows: as many states as lie on their way to the second level.
constexpr std::size_t of_levels = 8'000;

/// The states of the first level go to another thread and are let go of there.
template <class Build>
void expect_none_when_shared(const std::string& name, const Build& build) {
    const Stock stock{of_levels};
    expect_none_per_record(name, [&](auto stream) {
        build(std::move(stream).event_time(time_of, LateStart{50ns}).key_by(key_of)).sink(Drop{});
    });
}

TEST(Allocations, NoneForARecordInASketchOfSharedCounts) {
    expect_none_when_shared("parallel, of counts", [](auto grouped) {
        return std::move(grouped).window(of_counts, all, share::farmed, of_three);
    });
    expect_none_when_shared("paned, of counts", [](auto grouped) {
        return std::move(grouped).window(of_counts, all, share::paned, of_three);
    });
    expect_none_when_shared("map-reduce, of counts", [](auto grouped) {
        return std::move(grouped).window(of_counts, all, share::map_reduce, of_three);
    });
}

TEST(Allocations, NoneForARecordInASketchOfSharedTime) {
    expect_none_when_shared("parallel, of time", [](auto grouped) {
        return std::move(grouped).window(of_time, all, share::farmed, of_three);
    });
    expect_none_when_shared("paned, of time", [](auto grouped) {
        return std::move(grouped).window(of_time, all, share::paned, of_three);
    });
    expect_none_when_shared("map-reduce, of time", [](auto grouped) {
        return std::move(grouped).window(of_time, all, share::map_reduce, of_three);
    });
}

}  // namespace
}  // namespace strid
