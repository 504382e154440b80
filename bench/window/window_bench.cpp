// SPDX-License-Identifier: Apache-2.0
//
// What one record costs in a window that slides by one: insert, evict, query. By the length of the
// window, for every structure; by the disorder of the stream, for the finger tree; and for one very
// long window the worst record, in combinations and in time, DABA Lite beside two stacks. Every
// row's answers are summed up and compared with those of a plain loop.
//
//   window_bench [RECORDS]     default 2,000,000
#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/finger_tree.hpp>
#include <strid/window/flat_fat.hpp>
#include <strid/window/in_order.hpp>
#include <strid/window/two_stacks.hpp>

namespace {

using namespace strid::window;

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

/// The sum of the sums of those in the last `length` positions up to the latest that came, by
/// marking who came.
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

/// Every record timed on its own, once the window is full.
template <class W>
void worst_row(const char* name, std::uint64_t length, std::uint64_t records) {
    std::uint64_t combinations = 0;
    W window{CountedSum{&combinations}};
    std::uint64_t checksum = 0;
    std::uint64_t most = 0;
    std::vector<std::int64_t> times;
    times.reserve(records);
    for (std::uint64_t i = 0; i < length + records; ++i) {
        const std::uint64_t before = combinations;
        const std::int64_t begin = strid::now_ns();
        if (window.size() == length) window.evict();
        window.insert(value_at(i));
        checksum += window.query();
        const std::int64_t end = strid::now_ns();
        most = std::max(most, combinations - before);
        if (i >= length) times.push_back(end - begin);
    }
    check(name, length, checksum, checksum_of_sums(length, length + records));
    double mean = 0;
    for (const std::int64_t ns : times) mean += static_cast<double>(ns);
    mean /= static_cast<double>(times.size());
    std::sort(times.begin(), times.end());
    const auto at = [&times](double share) {
        return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
    };
    std::printf("| %s | %" PRIu64 " | %.0f | %" PRId64 " | %" PRId64 " | %" PRId64 " | %.1f |\n",
                name, most, mean, at(0.5), at(0.9999), times.back(),
                static_cast<double>(at(0.9999)) / mean);
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
    constexpr std::uint64_t length = 1'000'000;
    std::printf(
        "\nThe worst record in a window of 1,000,000; nanoseconds, with two clock reads\n\n");
    std::printf(
        "| | combinations at most | mean | median | 99.99 %% | worst | 99.99 %% / mean |\n");
    std::printf("|---|---|---|---|---|---|---|\n");
    worst_row<DabaLite<CountedSum>>("DABA Lite", length, records);
    worst_row<TwoStacks<CountedSum>>("two stacks", length, records);
    std::printf("\nanswers: %s\n", all_right ? "all equal" : "WRONG");
    return all_right ? 0 : 1;
}
