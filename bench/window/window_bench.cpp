// SPDX-License-Identifier: Apache-2.0
//
// The cost of one record in a window that slides by one: insert, evict, query. By the length of the
// window, for every structure; by the disorder of the stream, for the finger tree; and for one very
// long window the worst record, in combinations and in time, DABA Lite beside two stacks, each
// record between two reads of the clock, whose own median is taken off. Every row's answers are
// summed up and compared with those of a plain loop.
//
//   window_bench [RECORDS]     default 2,000,000
#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/histogram.hpp>
#include <strid/engine/window/structures/finger_tree.hpp>
#include <strid/engine/window/structures/flat_fat.hpp>
#include <strid/engine/window/structures/two_stacks.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/in_order.hpp>

#include "../bar.hpp"
#include "../statistics.hpp"
#include "least_times.hpp"

namespace {

using namespace strid::window;
using strid::bench::LeastTimes;

bool all_right = true;

std::uint64_t value_at(std::uint64_t position) {
    return (position * 0x9e3779b97f4a7c15ULL) >> 40;
}

/// A sum of which nothing is known but that it is associative, and that counts its combinations.
struct CountedSum {
    using State = std::uint64_t;
    std::uint64_t* combinations;
    [[nodiscard]] State identity() const { return 0; }
    [[nodiscard]] State combine(const State& older, const State& newer) const {
        ++*combinations;
        return older + newer;
    }
};

struct Value {
    std::uint64_t operator()(std::uint64_t value) const { return value; }
};
using Total = Sum<Value, std::uint64_t>;
using Largest = Extreme<Value, std::uint64_t, std::greater<>>;

/// The sum of a sum: what every structure's answers add up to, wrapped.
std::uint64_t checksum_of_sums(std::uint64_t length, std::uint64_t records) {
    std::uint64_t total = 0;
    std::uint64_t checksum = 0;
    for (std::uint64_t i = 0; i < records; ++i) {
        total += value_at(i);
        if (i >= length) total -= value_at(i - length);
        checksum += total;
    }
    return checksum;
}

/// The sum of the largest of the last `length`, by running maxima from both ends of blocks of that
/// length (van Herk's): a window is the end of one block and the beginning of the next.
std::uint64_t checksum_of_maxima(std::uint64_t length, std::uint64_t records) {
    std::vector<std::uint64_t> to_end(records);  // from a position to the end of its block
    for (std::uint64_t i = records; i-- != 0;) {
        const bool last = i + 1 == records || (i + 1) % length == 0;
        to_end[i] = last ? value_at(i) : std::max(value_at(i), to_end[i + 1]);
    }
    std::uint64_t from_begin = 0;
    std::uint64_t checksum = 0;
    for (std::uint64_t i = 0; i < records; ++i) {
        from_begin = i % length == 0 ? value_at(i) : std::max(from_begin, value_at(i));
        // The window begins in the block before, but for one that is a block, or the first.
        const bool crosses = i >= length && (i + 1) % length != 0;
        checksum += crosses ? std::max(from_begin, to_end[i - length + 1]) : from_begin;
    }
    return checksum;
}

/// Nanoseconds per record; the checksum of the answers in `checksum`.
template <class W, class Lift, class Lower>
double slide_ns(W window, std::uint64_t length, std::uint64_t records, Lift lift, Lower lower,
                std::uint64_t& checksum) {
    checksum = 0;
    const std::int64_t begin = strid::now_ns();
    for (std::uint64_t i = 0; i < records; ++i) {
        if (window.size() == length) window.evict();
        window.insert(lift(value_at(i)));
        checksum += lower(window.query());
    }
    return static_cast<double>(strid::now_ns() - begin) / static_cast<double>(records);
}

void check(const char* what, std::uint64_t length, std::uint64_t checksum, std::uint64_t expected) {
    if (checksum == expected) return;
    std::printf("WRONG ANSWER: %s, length %" PRIu64 "\n", what, length);
    all_right = false;
}

void rows_by_length(std::uint64_t records) {
    std::printf("Nanoseconds per record: insert, evict, query\n\n");
    std::printf(
        "| length | subtract on evict | two stacks | DABA Lite | FlatFAT |"
        " monotone deque (maximum) | DABA Lite (maximum) |\n");
    std::printf("|---|---|---|---|---|---|---|\n");
    const auto as_is = [](std::uint64_t value) { return value; };
    const auto present = [](std::uint64_t value) { return Largest::State{value, true}; };
    const auto value_of = [](const Largest::State& state) { return state.value; };
    for (const std::uint64_t length : {1ULL, 10ULL, 100ULL, 1'000ULL, 10'000ULL, 1'000'000ULL}) {
        const std::uint64_t expected = checksum_of_sums(length, records);
        const std::uint64_t expected_maxima = checksum_of_maxima(length, records);
        std::uint64_t sum = 0;
        const double subtract =
            slide_ns(SubtractOnEvict<Total>{}, length, records, as_is, as_is, sum);
        check("subtract on evict", length, sum, expected);
        const double stacks = slide_ns(TwoStacks<Total>{}, length, records, as_is, as_is, sum);
        check("two stacks", length, sum, expected);
        const double daba = slide_ns(DabaLite<Total>{}, length, records, as_is, as_is, sum);
        check("DABA Lite", length, sum, expected);
        const double tree = slide_ns(FlatFat<Total>{}, length, records, as_is, as_is, sum);
        check("FlatFAT", length, sum, expected);
        const double deque =
            slide_ns(MonotoneDeque<Largest>{}, length, records, present, value_of, sum);
        check("monotone deque (maximum)", length, sum, expected_maxima);
        const double daba_maximum =
            slide_ns(DabaLite<Largest>{}, length, records, present, value_of, sum);
        check("DABA Lite (maximum)", length, sum, expected_maxima);
        std::printf("| %" PRIu64 " | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", length, subtract,
                    stacks, daba, tree, deque, daba_maximum);
        std::fflush(stdout);
    }
}

/// 0, 1, ... as they come when each is held up by up to `disorder` positions.
std::vector<std::uint64_t> delayed_positions(std::uint64_t records, std::uint64_t disorder) {
    std::vector<std::uint64_t> positions(records);
    std::iota(positions.begin(), positions.end(), 0);
    const auto arrival = [disorder](std::uint64_t position) {
        return position + value_at(~position) % (disorder + 1);
    };
    std::stable_sort(
        positions.begin(), positions.end(),
        [&arrival](std::uint64_t a, std::uint64_t b) { return arrival(a) < arrival(b); });
    return positions;
}

/// The sum of the sums of the values in the last `length` positions up to the latest that has
/// arrived, by marking the positions that have arrived.
std::uint64_t checksum_of_delayed(const std::vector<std::uint64_t>& positions,
                                  std::uint64_t length) {
    std::vector<bool> came(positions.size());
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t total = 0;
    std::uint64_t checksum = 0;
    for (const std::uint64_t position : positions) {
        end = std::max(end, position + 1);
        for (; begin + length < end; ++begin) {
            if (came[begin]) total -= value_at(begin);
        }
        if (position >= begin) total += value_at(position);
        came[position] = true;
        checksum += total;
    }
    return checksum;
}

void rows_by_disorder(std::uint64_t records) {
    std::printf(
        "\nThe finger tree, nanoseconds per record that comes up to so many positions late\n\n");
    std::printf("| length | 0 | 10 | 1,000 | 100,000 |\n|---|---|---|---|---|\n");
    for (const std::uint64_t length : {100'000ULL, 1'000'000ULL}) {
        std::printf("| %" PRIu64, length);
        for (const std::uint64_t disorder : {0ULL, 10ULL, 1'000ULL, 100'000ULL}) {
            const auto positions = delayed_positions(records, disorder);
            FingerTree<Total, std::uint64_t> window;
            std::uint64_t end = 0;
            std::uint64_t checksum = 0;
            const std::int64_t started = strid::now_ns();
            for (const std::uint64_t position : positions) {
                end = std::max(end, position + 1);
                window.insert(position, value_at(position));
                window.evict_before(end - std::min(end, length));
                checksum += window.query();
            }
            const std::int64_t took = strid::now_ns() - started;
            check("finger tree", length, checksum, checksum_of_delayed(positions, length));
            std::printf(" | %.1f", static_cast<double>(took) / static_cast<double>(records));
            std::fflush(stdout);
        }
        std::printf(" |\n");
    }
}

/// The most combinations that any record takes, from the first on.
template <class W>
std::uint64_t most_combinations(const char* name, std::uint64_t length, std::uint64_t records) {
    std::uint64_t combinations = 0;
    W window{CountedSum{&combinations}};
    std::uint64_t checksum = 0;
    std::uint64_t most = 0;
    for (std::uint64_t i = 0; i < length + records; ++i) {
        const std::uint64_t before = combinations;
        if (window.size() == length) window.evict();
        window.insert(value_at(i));
        checksum += window.query();
        most = std::max(most, combinations - before);
    }
    check(name, length, checksum, checksum_of_sums(length, length + records));
    return most;
}

/// The time of a structure's records, a value for each pass.
struct Passes {
    const char* name;
    LeastTimes least;
    std::vector<double> mean = {};    // of a pass without clock
    std::vector<double> middle = {};  // from here on less the clock
    std::vector<double> high = {};    // 99.99 %
    std::vector<double> worst = {};

    /// A pass whose times have `of_clock` of the clock's in each.
    void add(const strid::Histogram& times, std::int64_t of_clock) {
        const auto net = [of_clock](double ns) {
            return std::max(ns - static_cast<double>(of_clock), 0.0);
        };
        middle.push_back(net(static_cast<double>(times.percentile(50))));
        high.push_back(net(static_cast<double>(times.percentile(99.99))));
        worst.push_back(net(static_cast<double>(times.max())));
    }
};

/// The difference of two reads of the clock with nothing in between: this machine's noise, and the
/// median, which is taken off what is measured.
std::int64_t clock_pass(Passes& passes, std::uint64_t records) {
    strid::Histogram times;
    for (std::uint64_t i = 0; i < records; ++i) {
        const std::int64_t begin = strid::now_ns();
        const std::int64_t took = strid::now_ns() - begin;
        times.record(took);
        passes.least.record(took);
    }
    const std::int64_t of_clock = times.percentile(50);
    passes.add(times, of_clock);
    return of_clock;
}

/// Every record timed on its own, once the window is full. Times go to a histogram: in an array
/// they would cost a page of addresses now and then, which shows at 99.99 %.
template <class W>
void timed_pass(Passes& passes, std::uint64_t length, std::uint64_t records,
                std::int64_t of_clock) {
    const std::uint64_t expected = checksum_of_sums(length, length + records);
    std::uint64_t checksum = 0;
    std::int64_t filled_ns = 0;
    W unclocked;
    for (std::uint64_t i = 0; i < length + records; ++i) {
        if (i == length) filled_ns = strid::now_ns();
        if (unclocked.size() == length) unclocked.evict();
        unclocked.insert(value_at(i));
        checksum += unclocked.query();
    }
    passes.mean.push_back(static_cast<double>(strid::now_ns() - filled_ns) /
                          static_cast<double>(records));
    check(passes.name, length, checksum, expected);

    W window;
    checksum = 0;
    strid::Histogram times;
    for (std::uint64_t i = 0; i < length + records; ++i) {
        const std::int64_t begin = strid::now_ns();
        if (window.size() == length) window.evict();
        window.insert(value_at(i));
        checksum += window.query();
        const std::int64_t end = strid::now_ns();
        if (i < length) continue;
        times.record(end - begin);
        passes.least.record(end - begin);
    }
    check(passes.name, length, checksum, expected);
    passes.add(times, of_clock);
}

std::string median_and_range(const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return fmt::format("{:.0f} ({:.0f} to {:.0f})", strid::bench::median(values), *low, *high);
}

void print_passes(const Passes& of, std::uint64_t combinations) {
    std::printf("| %s | %" PRIu64 " | %.1f | %.0f | %s | %.0f |\n", of.name, combinations,
                strid::bench::median(of.mean), strid::bench::median(of.middle),
                median_and_range(of.high).c_str(), strid::bench::median(of.worst));
}

/// Of the least times of the records, less the clock's.
double net_ns(const Passes& of, double of_clock, double percent) {
    return std::max(static_cast<double>(of.least.percentile(percent)) - of_clock, 0.0);
}

void print_least(const Passes& of, double of_clock) {
    std::printf("| %s | %.1f | %.0f | %.0f | %.0f |", of.name,
                of.mean.empty() ? 0.0 : strid::bench::median(of.mean), net_ns(of, of_clock, 50),
                net_ns(of, of_clock, 99.99), net_ns(of, of_clock, 100));
    if (!of.mean.empty())
        std::printf(" %.1f", net_ns(of, of_clock, 99.99) / strid::bench::median(of.mean));
    std::printf(" |\n");
}

/// Three combinations for an insertion, two for an eviction, one for a query (daba_lite.hpp).
void print_worst(const Passes& daba, double of_clock, std::uint64_t combinations) {
    using namespace strid::bench;
    print_bar("a window of 1,000,000 records, the most combinations of a record",
              static_cast<double>(combinations), Bar::at_most, 6);
    print_bar("a window of 1,000,000 records, the 99.99 % of the records' times / their mean",
              net_ns(daba, of_clock, 99.99) / strid::bench::median(daba.mean), Bar::at_most, 10);
}

void worst_records(std::uint64_t records) {
    constexpr std::uint64_t length = 1'000'000;
    constexpr int count = 9;
    Passes clock{"the clock alone", LeastTimes{records}};
    Passes daba{"DABA Lite", LeastTimes{records}};
    Passes stacks{"two stacks", LeastTimes{records}};
    std::vector<double> of_clock;
    for (int pass = 0; pass < count; ++pass) {
        const std::int64_t ns = clock_pass(clock, records);
        timed_pass<DabaLite<Total>>(daba, length, records, ns);
        timed_pass<TwoStacks<Total>>(stacks, length, records, ns);
        of_clock.push_back(static_cast<double>(ns));
    }
    std::printf(
        "\nThe worst record in a window of 1,000,000: nanoseconds, less the median of %.0f that the"
        " clock takes; medians of %d passes\n\n",
        strid::bench::median(of_clock), count);
    std::printf(
        "| | combinations at most | mean | median | 99.99 %% | worst |\n"
        "|---|---|---|---|---|---|\n");
    std::printf("| the clock alone | | | 0 | %s | %.0f |\n", median_and_range(clock.high).c_str(),
                strid::bench::median(clock.worst));
    const std::uint64_t most = most_combinations<DabaLite<CountedSum>>(daba.name, length, records);
    print_passes(daba, most);
    print_passes(stacks, most_combinations<TwoStacks<CountedSum>>(stacks.name, length, records));
    std::printf(
        "\nThe same without what the machine did meanwhile: of each record the pass that took"
        " least\n\n"
        "| | mean | median | 99.99 %% | worst | 99.99 %% / mean |\n|---|---|---|---|---|---|\n");
    for (const Passes* passes : {&clock, &daba, &stacks})
        print_least(*passes, strid::bench::median(of_clock));
    std::printf("\n");
    print_worst(daba, strid::bench::median(of_clock), most);
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000'000;
    if (records == 0) {
        std::fprintf(stderr, "usage: window_bench [RECORDS]\n");
        return 2;
    }
    rows_by_length(records);
    rows_by_disorder(records);
    worst_records(records);
    std::printf("\nanswers: %s\n", all_right ? "all equal" : "WRONG");
    return all_right ? 0 : 1;
}
