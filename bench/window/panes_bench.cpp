// SPDX-License-Identifier: Apache-2.0
//
// The states that windows of event time keep for a key, side by side
// (engine/window/structures/panes.hpp), without the graph around it. By the number of panes in a
// window that slides by one pane: a record in its order, every pane one record, with the firing of
// its window; and a record that comes late to a window that has fired, with that window's new
// value. For tumbling windows a fold, incremental and over the records. Each pair's answers are
// compared.
//
//   panes_bench [RECORDS]     default 1,000,000
#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/engine/window/result_of.hpp>
#include <strid/engine/window/structures/panes.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/fold.hpp>

namespace {

using namespace strid::window;

std::uint64_t value_at(std::uint64_t position) {
    return (position * 0x9e3779b97f4a7c15ULL) >> 40;
}

struct Value {
    std::uint64_t operator()(std::uint64_t value) const { return value; }
};
/// Associative, and nothing else that would make it cheap.
using Largest = Extreme<Value, std::uint64_t, std::greater<>>;
using Kept = KeptIn<Largest, DabaLite<Largest>>;
using InTree = KeptIn<Largest, PaneTree<Largest>>;

struct Measured {
    double in_order_ns;
    double late_ns;
    std::uint64_t checksum;
};

/// A window of so many panes that slides by one, and then records that come late to all of it.
template <class A>
Measured measure(std::uint64_t panes, std::uint64_t records, std::uint64_t late_records) {
    const A aggregate{};
    PanesOf<A> kept{aggregate};
    Measured measured{0, 0, 0};
    const auto add_up = [&](const auto& state) { measured.checksum += aggregate.lower(state); };
    const auto length = static_cast<PaneIndex>(panes);
    const auto end = static_cast<PaneIndex>(panes + records);
    std::int64_t began = 0;
    for (PaneIndex pane = 0; pane < end; ++pane) {
        if (pane == length) began = strid::now_ns();
        kept.add(aggregate, pane, value_at(static_cast<std::uint64_t>(pane)));
        kept.slide_to(aggregate, {pane + 1 - length, pane + 1}, add_up);
        kept.drop_before(pane + 1 - length);
    }
    measured.in_order_ns =
        static_cast<double>(strid::now_ns() - began) / static_cast<double>(records);
    began = strid::now_ns();
    for (std::uint64_t i = 0; i < late_records; ++i) {
        const auto pane = end - 1 - static_cast<PaneIndex>(value_at(i) % panes);
        kept.add(aggregate, pane, value_at(~i));
        add_up(kept.sum(aggregate, {end - length, end}));
    }
    measured.late_ns =
        static_cast<double>(strid::now_ns() - began) / static_cast<double>(late_records);
    return measured;
}

/// Nanoseconds per record of tumbling windows of so many records.
template <class F>
double fold_ns(const F& function, std::uint64_t per_window, std::uint64_t records,
               std::uint64_t& checksum) {
    PanesOf<F> kept{function};
    checksum = 0;
    const std::int64_t began = strid::now_ns();
    for (std::uint64_t i = 0; i < records; ++i) {
        const auto window = static_cast<PaneIndex>(i / per_window);
        const std::uint64_t value = value_at(i);
        if constexpr (requires { kept.add(function, PaneRange{window, window + 1}, value); }) {
            kept.add(function, {window, window + 1}, value);
        } else {
            kept.add(function, window, value);
        }
        if ((i + 1) % per_window != 0) continue;
        kept.slide_to(function, {window, window + 1},
                      [&](const auto& state) { checksum += value_of(function, 0, 0, state); });
        kept.drop_before(window + 1);
    }
    return static_cast<double>(strid::now_ns() - began) / static_cast<double>(records);
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    if (records == 0) {
        std::fprintf(stderr, "usage: panes_bench [RECORDS]\n");
        return 2;
    }
    bool all_equal = true;
    std::printf(
        "The largest value of a window that slides by one pane, nanoseconds per record\n\n");
    std::printf("| panes | sliding, in order | tree, in order | sliding, late | tree, late |\n");
    std::printf("|---|---|---|---|---|\n");
    for (const std::uint64_t panes : {10ULL, 100ULL, 1'000ULL, 10'000ULL, 100'000ULL}) {
        const std::uint64_t late = std::max<std::uint64_t>(records / panes, 100);
        const Measured sliding = measure<Kept>(panes, records, late);
        const Measured tree = measure<InTree>(panes, records, late);
        all_equal = all_equal && sliding.checksum == tree.checksum;
        std::printf("| %" PRIu64 " | %.1f | %.1f | %.0f | %.0f |\n", panes, sliding.in_order_ns,
                    tree.in_order_ns, sliding.late_ns, tree.late_ns);
        std::fflush(stdout);
    }
    std::printf("\nA fold over tumbling windows, nanoseconds per record\n\n");
    std::printf("| records in a window | incremental | over the records |\n|---|---|---|\n");
    const auto mixed = [](std::uint64_t& hash, std::uint64_t value) {
        hash = (hash ^ value) * 0x100000001b3ULL;
    };
    for (const std::uint64_t per_window : {100ULL, 10'000ULL, 1'000'000ULL}) {
        std::uint64_t checksum = 0;
        std::uint64_t of_content = 0;
        const auto fold = strid::window::fold<std::uint64_t>(std::uint64_t{1}, mixed);
        const double incremental = fold_ns(fold, per_window, records, checksum);
        const double kept = fold_ns(fold.of_content(), per_window, records, of_content);
        all_equal = all_equal && checksum == of_content;
        std::printf("| %" PRIu64 " | %.1f | %.1f |\n", per_window, incremental, kept);
    }
    std::printf("\nanswers: %s\n", all_equal ? "all equal" : "WRONG");
    return all_equal ? 0 : 1;
}
