// SPDX-License-Identifier: Apache-2.0
//
// Tumbling windows of event time, a sum by key, on one worker, by how many keys there are: 1;
// 1,000 and 10,000,000, each as often as any other, in random order; 10,000,000 of which few are
// frequent (Zipf, exponent 1.2). Half of the records lie in each of two windows: one or two of
// every one of the 10,000,000 keys. By hand: a table that is emptied after each window. Rounds
// alternate; the keys are drawn before.
//
// Memory is what the process has more at the end of the last window, before it fires, than when
// the first record was asked for: allocated as malloc counts it, with its headers; resident from
// /proc/self/statm. Freed memory is given back to the system before each run.
//
// Keys expire with their windows: in the second table each window has keys of its own, and what is
// allocated must not grow with the keys that were seen; in the third, 10,000,000 keys are followed
// by 1,000. Every window's sum and count is compared with a plain array's.
//
//   keys_bench [RECORDS [ROUNDS]]     default 30,000,000 records, 3 rounds; some 5 GiB
#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <strid/base/clock.hpp>
#include <strid/base/hash.hpp>
#include <strid/stream/graph.hpp>
#include <strid/window/aggregates.hpp>

#include "../bar.hpp"
#include "../statistics.hpp"
#include "zipf.hpp"

namespace {

using namespace strid;

constexpr std::int64_t step_ns = 50;  // from a record to the next
constexpr std::uint32_t many = 10'000'000;
constexpr std::uint32_t few = 1'000;

bool all_right = true;

// ---- the records -------------------------------------------------------------------------------

struct Reading {
    std::uint64_t key;
    EventTime time;
    std::int64_t value;
};

/// The sum of a window counts its records, too, in its lower bits.
constexpr int count_bits = 28;

Reading reading(std::uint32_t key, std::uint64_t position) {
    const std::uint64_t mixed = position * 0x9e3779b97f4a7c15ULL >> 56;
    return {key, EventTime::of_ns(static_cast<std::int64_t>(position) * step_ns),
            static_cast<std::int64_t>(mixed << count_bits | 1)};
}

struct Input {
    std::string name;
    std::uint64_t in_window;          // records
    std::vector<std::uint32_t> keys;  // of the records, whole windows

    [[nodiscard]] std::uint64_t windows() const { return keys.size() / in_window; }
};

/// `count` keys from `first` on, each as often as any other: all in random order, then all again.
void append_uniform(std::vector<std::uint32_t>& to, std::uint64_t records, std::uint32_t first,
                    std::uint32_t count, std::mt19937_64& random) {
    std::vector<std::uint32_t> round(count);
    std::iota(round.begin(), round.end(), first);
    for (; records != 0; records -= std::min<std::uint64_t>(records, count)) {
        std::shuffle(round.begin(), round.end(), random);
        const auto wanted = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(records, count));
        to.insert(to.end(), round.begin(), round.begin() + wanted);
    }
}

// ---- answers -----------------------------------------------------------------------------------

struct Answer {
    std::uint64_t windows = 0;
    std::uint64_t records = 0;
    std::uint64_t values = 0;
    std::uint64_t where = 0;  // no order changes it

    void add(std::uint64_t key, std::uint64_t window, std::int64_t sum) noexcept {
        const auto bits = static_cast<std::uint64_t>(sum);
        ++windows;
        records += bits & ((std::uint64_t{1} << count_bits) - 1);
        values += bits >> count_bits;
        where += (key + 1) * (window + 1) * bits;
    }
    friend bool operator==(const Answer&, const Answer&) = default;
};

Answer plain_answer(const Input& input) {
    Answer answer;
    std::vector<std::int64_t> sums(std::size_t{1} +
                                   *std::max_element(input.keys.begin(), input.keys.end()));
    std::uint64_t position = 0;
    for (std::uint64_t window = 0; window < input.windows(); ++window) {
        std::fill(sums.begin(), sums.end(), 0);
        for (; position < (window + 1) * input.in_window; ++position) {
            sums[input.keys[position]] += reading(input.keys[position], position).value;
        }
        for (std::uint64_t key = 0; key < sums.size(); ++key) {
            if (sums[key] != 0) answer.add(key, window, sums[key]);
        }
    }
    return answer;
}

// ---- one run -----------------------------------------------------------------------------------

struct Sample {
    std::int64_t time_ns;
    std::uint64_t allocated_bytes;
    std::uint64_t resident_bytes;

    static Sample now() {
        const struct mallinfo2 allocated = mallinfo2();
        std::ifstream statm("/proc/self/statm");
        std::uint64_t pages = 0;
        std::uint64_t resident_pages = 0;
        statm >> pages >> resident_pages;
        return {now_ns(), allocated.uordblks + allocated.hblkhd,
                resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))};
    }
};

struct ReadingSource {
    using record_type = Reading;
    static constexpr SourceTraits traits{.hears = events<>};
    const Input* input;
    std::vector<Sample>* samples;  // of the caller: before the first window, at the end of each
    std::uint64_t next = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        if (next == samples->size() * input->in_window) samples->push_back(Sample::now());
        if (next == input->keys.size()) return SourceStatus::finished;
        const std::uint64_t end = std::min(next + budget, samples->size() * input->in_window);
        std::uint64_t position = next;
        for (bool go_on = true; go_on && position != end; ++position) {
            go_on = emit(reading(input->keys[position], position));
        }
        next = position;
        return SourceStatus::more;
    }
    auto state() { return std::tie(next); }
};

struct AnswerSink {
    static constexpr FunctionTraits traits{.hears = events<Closed>};

    Answer* result;  // of the caller, which reads it after the run
    std::int64_t length_ns;
    Answer answer{};

    template <class Result>
    void operator()(const Result& row) noexcept {
        answer.add(row.key, static_cast<std::uint64_t>(row.window.start.ns() / length_ns),
                   row.value);
    }
    void on(Closed) noexcept { *result = answer; }
    auto state() { return std::tie(answer); }
};

struct Measured {
    double seconds = 0;
    Answer answer = {};
    std::vector<Sample> samples = {};
};

Measured measure(const Input& input) {
    malloc_trim(0);
    Measured measured;
    measured.samples.reserve(input.windows() + 1);
    const std::int64_t length_ns = static_cast<std::int64_t>(input.in_window) * step_ns;
    Graph graph{"keys"};
    graph.source(ReadingSource{&input, &measured.samples})
        .event_time<&Reading::time>(MonotonousTime{})
        .key_by<&Reading::key>()
        .window(window::TimeWindows::tumbling(Duration{length_ns}), window::sum<&Reading::value>())
        .sink(AnswerSink{&measured.answer, length_ns});
    RunOptions options;
    options.workers = 1;
    options.parallelism = 1;
    measured.seconds = run(graph, options).seconds;
    return measured;
}

Measured measure_by_hand(const Input& input) {
    struct Hash {
        using is_avalanching = void;
        std::size_t operator()(std::uint64_t key) const { return hash_of(key); }
    };
    malloc_trim(0);
    Measured measured;
    const std::int64_t begin_ns = now_ns();
    boost::unordered_flat_map<std::uint64_t, std::int64_t, Hash> sums;
    std::uint64_t position = 0;
    for (std::uint64_t window = 0; window < input.windows(); ++window) {
        for (; position < (window + 1) * input.in_window; ++position) {
            const Reading one = reading(input.keys[position], position);
            sums[one.key] += one.value;
        }
        for (const auto& [key, sum] : sums) measured.answer.add(key, window, sum);
        sums.clear();
    }
    measured.seconds = static_cast<double>(now_ns() - begin_ns) * 1e-9;
    return measured;
}

void check(const Input& input, const Measured& measured, const Answer& expected) {
    if (measured.answer == expected && expected.records == input.keys.size()) return;
    std::printf("WRONG ANSWER: %s\n", input.name.c_str());
    all_right = false;
}

// ---- the tables --------------------------------------------------------------------------------

struct Row {
    Input input;
    Answer expected;
    std::vector<double> by_hand_ns = {};  // per record
    std::vector<double> ns = {};          // the engine, the whole run
    std::vector<double> first_ns = {};    // of the first window
    std::vector<double> second_ns = {};   // of the second, and the results of the first
    std::vector<double> allocated = {};   // bytes per key in a window
    std::vector<double> resident = {};

    [[nodiscard]] double live() const {
        return static_cast<double>(expected.windows) / static_cast<double>(input.windows());
    }
    void measure_once() {
        const auto ns_of = [this](const Measured& measured) {
            check(input, measured, expected);
            return measured.seconds * 1e9 / static_cast<double>(input.keys.size());
        };
        by_hand_ns.push_back(ns_of(measure_by_hand(input)));
        const Measured measured = measure(input);
        ns.push_back(ns_of(measured));
        const auto& samples = measured.samples;
        const Sample& begin = samples.front();
        const Sample& end = samples.back();
        const auto in_window = static_cast<double>(input.in_window);
        const auto ns_between = [in_window](const Sample& from, const Sample& to) {
            return static_cast<double>(to.time_ns - from.time_ns) / in_window;
        };
        const auto bytes_per_key = [this](std::uint64_t from, std::uint64_t to) {
            return (static_cast<double>(to) - static_cast<double>(from)) / live();
        };
        first_ns.push_back(ns_between(begin, samples[1]));
        second_ns.push_back(ns_between(samples[1], end));
        allocated.push_back(bytes_per_key(begin.allocated_bytes, end.allocated_bytes));
        resident.push_back(bytes_per_key(begin.resident_bytes, end.resident_bytes));
    }
};

Row make_row(std::string name, std::uint64_t in_window, std::vector<std::uint32_t> keys) {
    Input input{std::move(name), in_window, std::move(keys)};
    const Answer expected = plain_answer(input);
    return {std::move(input), expected};
}

constexpr std::uint64_t windows = 2;

std::vector<Row> rows_by_distribution(std::uint64_t in_window) {
    std::mt19937_64 random{1};
    const auto uniform = [&](const char* name, std::uint32_t count) {
        std::vector<std::uint32_t> keys;
        append_uniform(keys, windows * in_window, 0, count, random);
        return make_row(name, in_window, std::move(keys));
    };
    std::vector<Row> rows;
    rows.push_back(uniform("1,000 keys", few));  // what the others are compared with
    rows.push_back(uniform("1 key", 1));
    rows.push_back(uniform("10,000,000 keys", many));
    const bench::Zipf zipf{many, 1.2};
    std::vector<std::uint32_t> keys(windows * in_window);
    for (std::uint32_t& key : keys) key = zipf(random);
    rows.push_back(make_row("Zipf 1.2 over 10,000,000", in_window, std::move(keys)));
    return rows;
}

/// The median and the range of the ratios round by round.
std::string ratio_of(const std::vector<double>& these, const std::vector<double>& those) {
    const std::vector<double> all = bench::ratios(these, those);
    const auto [low, high] = std::minmax_element(all.begin(), all.end());
    return fmt::format("{:.2f} ({:.2f} to {:.2f})", bench::median(all), *low, *high);
}

void print_rows(const std::vector<Row>& rows) {
    std::printf(
        "Nanoseconds per record\n\n| | keys in a window | by hand | times 1,000 keys | Strid |"
        " times 1,000 keys | first window | second |\n|---|---|---|---|---|---|---|---|\n");
    for (const Row& row : rows) {
        std::printf("| %s | %.0f | %.1f | %s | %.1f | %s | %.1f | %.1f |\n", row.input.name.c_str(),
                    row.live(), bench::median(row.by_hand_ns),
                    ratio_of(row.by_hand_ns, rows.front().by_hand_ns).c_str(),
                    bench::median(row.ns), ratio_of(row.ns, rows.front().ns).c_str(),
                    bench::median(row.first_ns), bench::median(row.second_ns));
    }
    std::printf("\nBytes per key of a window\n\n| | allocated | resident |\n|---|---|---|\n");
    for (const Row& row : rows) {
        const bool whole_pages = row.live() > 100'000;
        std::printf("| %s | %.0f | %s |\n", row.input.name.c_str(), bench::median(row.allocated),
                    whole_pages ? fmt::format("{:.0f}", bench::median(row.resident)).c_str() : "");
    }
    for (const Row& row : rows) {
        bench::print_reported("windows of time by key, memory for each live key, " + row.input.name,
                              bench::median(row.allocated), "bytes");
    }
}

/// The growth of the process at the end of some windows.
Measured print_windows(const Input& input) {
    const Measured measured = measure(input);
    check(input, measured, plain_answer(input));
    std::printf("\n%s\n\n| window | allocated, MiB | resident, MiB |\n|---|---|---|\n",
                input.name.c_str());
    const auto mib = [](std::uint64_t from, std::uint64_t to) {
        return (static_cast<double>(to) - static_cast<double>(from)) / (1 << 20);
    };
    const Sample& begin = measured.samples.front();
    for (const std::size_t window : {1UL, 2UL, 3UL, 10UL, 20UL}) {
        if (window >= measured.samples.size()) break;
        const Sample& at = measured.samples[window];
        std::printf("| %zu | %.1f | %.1f |\n", window,
                    mib(begin.allocated_bytes, at.allocated_bytes),
                    mib(begin.resident_bytes, at.resident_bytes));
    }
    std::fflush(stdout);
    return measured;
}

void keys_that_come_and_go(std::uint64_t records) {
    constexpr std::uint32_t phases = 20;
    const auto in_window = static_cast<std::uint32_t>(records / 2 / phases);
    std::mt19937_64 random{2};
    Input fresh{fmt::format("{} keys of its own in each window", in_window / 2), in_window, {}};
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
        append_uniform(fresh.keys, in_window, phase * (in_window / 2), in_window / 2, random);
    }
    const std::vector<Sample> samples = print_windows(fresh).samples;
    const auto allocated = [&samples](std::size_t window) {
        return static_cast<double>(samples[window].allocated_bytes - samples[0].allocated_bytes);
    };
    // At the end of the first window nothing has fired yet, so no key was given back.
    constexpr double fixed_bytes = 64 << 10;  // of the operator, whatever the keys
    if (allocated(phases) > 1.25 * allocated(2) + fixed_bytes) {
        std::printf("WRONG: what is allocated grows with the keys that were seen\n");
        all_right = false;
    }
    const auto at_first = static_cast<std::uint32_t>(std::min<std::uint64_t>(many, records / 3));
    Input burst{fmt::format("{} keys in the first window, 1,000 in each later one", at_first),
                records / 3,
                {}};
    append_uniform(burst.keys, burst.in_window, 0, at_first, random);
    append_uniform(burst.keys, 2 * burst.in_window, many, few, random);
    print_windows(burst);
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 30'000'000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
    if (records < 100 || records > windows << count_bits || rounds <= 0) {
        std::fprintf(stderr, "usage: keys_bench [RECORDS [ROUNDS]]\n");
        return 2;
    }
    {
        std::vector<Row> rows = rows_by_distribution(records / windows);
        for (int round = 0; round < rounds; ++round) {
            for (Row& row : rows) row.measure_once();
        }
        print_rows(rows);
    }
    keys_that_come_and_go(records);
    std::printf("\nanswers: %s\n", all_right ? "all equal" : "WRONG");
    return all_right ? 0 : 1;
}
