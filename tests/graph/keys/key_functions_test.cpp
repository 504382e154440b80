// SPDX-License-Identifier: Apache-2.0
//
// Functions of keys that own something, in front of every kind of operator.
#include <memory>
#include <string>

#include "../windows/wide_events.hpp"

namespace strid {
namespace {

using namespace test;

/// The edge is made together with the operator behind it, and both call the key function: one that
/// cannot be copied by its bytes is whole in both.
TEST(KeyFunctions, MayOwnSomething) {
    const auto key_of = [divisor = std::make_shared<std::uint32_t>(3)](const Wide& wide) {
        return wide.key / *divisor;
    };
    const std::vector<Wide> records = widened(random_events(3, {.keys = 30}, 500));
    std::map<std::uint32_t, std::uint64_t> expected_counts;
    for (const Wide& record : records) ++expected_counts[record.key / 3];
    const auto agrees = [&](const char* what, auto&& build) {
        SCOPED_TRACE(what);
        Graph graph{"keys"};
        std::map<std::uint32_t, std::uint64_t> counts;
        build(graph.source(replay(records))
                  .event_time<&Wide::time>(BoundedDisorder{Duration::max()})
                  .key_by(key_of),
              [&counts](std::uint32_t key, std::uint64_t more) { counts[key] += more; });
        run(graph);
        EXPECT_EQ(counts, expected_counts);
    };
    const auto one_each = [](auto stream, auto count) {
        std::move(stream).sink([count](const Wide& wide) { count(wide.key / 3, 1); });
    };
    agrees("accumulate", [](auto keyed, auto count) {
        std::move(keyed)
            .accumulate(
                std::uint64_t{0}, [](std::uint64_t& sum, const Wide&) { ++sum; }, Emit::at_end)
            .sink([count](const Keyed<std::uint32_t, std::uint64_t>& last) {
                count(last.key, last.value);
            });
    });
    agrees("map", [&](auto keyed, auto count) {
        one_each(std::move(keyed).map([seen = 0](Wide&) mutable { ++seen; }), count);
    });
    agrees("reduce", [&](auto keyed, auto count) {
        one_each(std::move(keyed).reduce([](const Wide&, const Wide& last) { return last; }),
                 count);
    });
    agrees("window of counts", [](auto keyed, auto count) {
        std::move(keyed)
            .window(CountWindows::tumbling(7), window::count())
            .sink([count](const auto& row) { count(row.key, row.value); });
    });
    agrees("window of time", [](auto keyed, auto count) {
        std::move(keyed)
            .window(TimeWindows::tumbling(Duration{100}), window::count())
            .sink([count](const auto& row) { count(row.key, row.value); });
    });
    agrees("window of counts of whole records", [](auto keyed, auto count) {
        std::move(keyed)
            .sealed()
            .window(CountWindows::tumbling(7), window::count())
            .sink([count](const auto& row) { count(row.key, row.value); });
    });
    const auto one = [one = std::make_shared<std::uint64_t>(1)](const Wide&) { return *one; };
    agrees("window with a function that owns something", [&](auto keyed, auto count) {
        std::move(keyed)
            .window(CountWindows::tumbling(7), window::sum<Wide>(one))
            .sink([count](const auto& row) { count(row.key, row.value); });
    });
    agrees("sink", [&](auto keyed, auto count) { one_each(std::move(keyed), count); });
}

}  // namespace
}  // namespace strid
