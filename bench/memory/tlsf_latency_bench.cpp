// SPDX-License-Identifier: Apache-2.0
//
// How long one operation of TLSF takes at worst, against its median, and the same of the C library.
// Operations allocate or free at random: sizes are drawn by octave, pieces stay out for a random
// time. Each operation is timed by itself with the counter of the processor, less what an empty
// measurement takes.
//
//   tlsf_latency_bench [--operations N] [--rounds N] [--pieces N] [--bytes-max N]
//
// A timer interrupt or a neighbour lengthens some operations of every run, whatever the allocator.
// So the same sequence runs several times, each time in a child process of the same state: the i-th
// operation does exactly the same steps in each, and its time is the least of them. The rest is the
// time of the operation itself. Worst times of single runs are printed beside it. Pages are
// touched before: each child does the whole sequence once without timing.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include <strid/base/clock.hpp>
#include <strid/memory/tlsf.hpp>

#include "../bar.hpp"
#include "../command_line.hpp"
#include "../statistics.hpp"

namespace {

struct Settings {
    std::size_t operations = 10'000'000;
    std::size_t rounds = 9;
    std::size_t pieces = 4096;
    std::size_t bytes_max = 16'384;
};

/// Memory that children write and the parent reads.
template <class T>
std::span<T> shared_memory(std::size_t count) {
    void* const memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    return {static_cast<T*>(memory), count};
}

class Tlsf {
  public:
    explicit Tlsf(const Settings& settings)
        : arena_({.capacity_bytes = settings.pieces * settings.bytes_max, .prefault = true}) {}
    void* allocate(std::size_t bytes) noexcept { return arena_.try_allocate(bytes); }
    void free(void* piece) noexcept { arena_.deallocate(piece); }

  private:
    strid::memory::Tlsf arena_;
};

/// As still as it can be made: it keeps what it has, and maps nothing apart.
class CLibrary {
  public:
    explicit CLibrary(const Settings&) {
        mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
        mallopt(M_MMAP_MAX, 0);
    }
    void* allocate(std::size_t bytes) noexcept { return std::malloc(bytes); }
    void free(void* piece) noexcept { std::free(piece); }
};

class Random {
  public:
    std::uint64_t operator()() noexcept {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }

  private:
    std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

std::uint64_t begin_of_measurement() noexcept {
    _mm_lfence();
    const std::uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
}
std::uint64_t end_of_measurement() noexcept {
    unsigned processor = 0;
    const std::uint64_t now = __rdtscp(&processor);
    _mm_lfence();
    return now;
}

/// Does the sequence; cycles of the i-th operation go to times[i], or nowhere where it is empty.
/// False where an allocation failed.
template <class Allocator>
bool run_sequence(Allocator& allocator, const Settings& settings, std::span<std::uint32_t> times) {
    Random random;
    std::vector<void*> pieces(settings.pieces, nullptr);
    const auto octaves = static_cast<unsigned>(std::bit_width(settings.bytes_max)) - 4;
    bool served = true;
    for (std::size_t i = 0; i < settings.operations; ++i) {
        const std::uint64_t drawn = random();
        void*& piece = pieces[(drawn >> 32) % pieces.size()];
        const std::size_t top = settings.bytes_max >> (drawn & 0xff) % octaves;
        const std::size_t bytes = top / 2 + (drawn >> 8) % (top / 2) + 1;
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        if (piece != nullptr) {
            begin = begin_of_measurement();
            allocator.free(piece);
            end = end_of_measurement();
            piece = nullptr;
        } else {
            begin = begin_of_measurement();
            piece = allocator.allocate(bytes);
            end = end_of_measurement();
            if (piece == nullptr) return false;
            // The program writes what it asked for: heads of neighbours are out of the cache then.
            *static_cast<std::uint64_t*>(piece) = drawn;
        }
        if (!times.empty()) {
            times[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(end - begin, UINT32_MAX));
        }
    }
    for (void* const piece : pieces) allocator.free(piece);
    return served;
}

/// One round in a child: the sequence to touch the pages, and the sequence that is timed.
template <class Allocator>
void measure_round(const Settings& settings, std::span<std::uint32_t> times) {
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process for a round");
    if (child == 0) {
        Allocator allocator(settings);
        const bool served =
            run_sequence(allocator, settings, {}) && run_sequence(allocator, settings, times);
        _exit(served ? 0 : 1);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
        throw std::runtime_error("a round failed: an allocation was refused");
    }
}

/// The counter may go in steps: of 10 ns, on some virtual machines.
double counter_step() {
    std::vector<double> changes;
    std::uint64_t last = __rdtsc();
    while (changes.size() < 10'000) {
        const std::uint64_t now = __rdtsc();
        if (now != last) changes.push_back(static_cast<double>(now - last));
        last = now;
    }
    const double least = *std::min_element(changes.begin(), changes.end());
    std::erase_if(changes, [&](double change) { return change > 1.5 * least; });
    return std::accumulate(changes.begin(), changes.end(), 0.0) /
           static_cast<double>(changes.size());
}

/// The median of values that were read in steps, as of grouped data: between the step that holds it
/// and the next by how many values are below. Sorts.
double median_of_steps(std::span<std::uint32_t> values, double step) {
    std::sort(values.begin(), values.end());
    const auto group = [&](std::uint32_t value) { return std::llround(value / step); };
    const auto middle = group(values[values.size() / 2]);
    const auto first = std::partition_point(values.begin(), values.end(),
                                            [&](auto value) { return group(value) < middle; });
    const auto end = std::partition_point(first, values.end(),
                                          [&](auto value) { return group(value) == middle; });
    const auto below = static_cast<double>(first - values.begin());
    const double share =
        (static_cast<double>(values.size()) / 2 - below) / static_cast<double>(end - first);
    return (static_cast<double>(middle) - 0.5 + share) * step;
}

/// Cycles of a measurement with nothing in it.
double empty_cycles(double step) {
    std::vector<std::uint32_t> all(100'001);
    for (std::uint32_t& cycles : all) {
        const std::uint64_t begin = begin_of_measurement();
        cycles = static_cast<std::uint32_t>(end_of_measurement() - begin);
    }
    return median_of_steps(all, step);
}

double cycles_per_ns() {
    const auto begin_ns = strid::now_ns();
    const std::uint64_t begin = __rdtsc();
    while (strid::now_ns() - begin_ns < 50'000'000) {
    }
    return static_cast<double>(__rdtsc() - begin) / static_cast<double>(strid::now_ns() - begin_ns);
}

/// Cycles as time.
struct Scale {
    double step;
    double empty;
    double per_ns;

    [[nodiscard]] double ns(double cycles) const { return std::max(cycles - empty, 1.0) / per_ns; }
    /// Of sorted values.
    [[nodiscard]] double ns_at(std::span<const std::uint32_t> sorted, double share) const {
        return ns(strid::bench::quantile_of_sorted(sorted, share));
    }
};

/// The worst operation over the median.
template <class Allocator>
double measure(const char* name, const Settings& settings, std::span<std::uint32_t> times,
               const Scale& scale) {
    std::vector<std::uint32_t> least(settings.operations, UINT32_MAX);
    std::vector<double> medians;
    std::vector<double> high_of_runs;
    std::vector<double> worst_of_runs;
    for (std::size_t round = 0; round < settings.rounds; ++round) {
        measure_round<Allocator>(settings, times);
        for (std::size_t i = 0; i < times.size(); ++i) least[i] = std::min(least[i], times[i]);
        medians.push_back(scale.ns(median_of_steps(times, scale.step)));
        high_of_runs.push_back(scale.ns_at(times, 0.99999));
        worst_of_runs.push_back(scale.ns_at(times, 1));
    }
    std::sort(least.begin(), least.end());
    const double worst = scale.ns_at(least, 1);
    const double half = strid::bench::median(medians);
    std::printf("%-8s %9.1f %9.1f %9.1f %9.1f %9.1f %8.1f %12.1f %12.1f\n", name, half,
                scale.ns_at(least, 0.99), scale.ns_at(least, 0.999), scale.ns_at(least, 0.99999),
                worst, worst / half, strid::bench::median(high_of_runs),
                strid::bench::median(worst_of_runs));
    std::fflush(stdout);
    return worst / half;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace strid::bench;
    try {
        Settings settings;
        CommandLine({{"--operations", number_into(settings.operations)},
                     {"--rounds", number_into(settings.rounds)},
                     {"--pieces", number_into(settings.pieces)},
                     {"--bytes-max", number_into(settings.bytes_max)}})
            .read(argc, argv);
        if (settings.operations == 0 || settings.rounds == 0 || settings.pieces == 0 ||
            settings.bytes_max < 64) {
            throw std::invalid_argument("every number at least 1, --bytes-max at least 64");
        }
        const std::span<std::uint32_t> times = shared_memory<std::uint32_t>(settings.operations);
        const double step = counter_step();
        const Scale scale{step, empty_cycles(step), cycles_per_ns()};
        std::printf(
            "%zu operations, %zu pieces of up to %zu bytes; ns without the %.1f of an empty "
            "measurement; each operation the least of %zu runs, worst times of single runs "
            "at the right\n\n",
            settings.operations, settings.pieces, settings.bytes_max, scale.empty / scale.per_ns,
            settings.rounds);
        std::printf("%-8s %9s %9s %9s %9s %9s %8s %12s %12s\n", "", "median", "99 %", "99.9 %",
                    "99.999 %", "worst", "/median", "run 99.999 %", "run worst");
        const double ours = measure<Tlsf>("TLSF", settings, times, scale);
        const double theirs = measure<CLibrary>("glibc", settings, times, scale);
        print_bar("TLSF, worst operation / its median", ours, Bar::at_most, 20);
        print_reported("glibc, worst operation / its median", theirs, "times");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tlsf_latency_bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
