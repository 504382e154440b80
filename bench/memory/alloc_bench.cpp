// SPDX-License-Identifier: Apache-2.0
//
// The allocation pattern of streams (papers 1 and 3): one thread allocates tasks and writes them,
// another reads, checks and frees them; in between a ring of pointers. Prints the nanoseconds that
// one task costs in all, ring included, as the median of several rounds.
//
//   alloc_bench --allocator slab
//   LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2 alloc_bench --allocator malloc
//
// `none` sends the same tasks from a fixed array: what the ring and the cache lines cost by
// themselves. bench/memory/compare_allocators.sh runs all and prints the ratios.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

#include <sched.h>

#include <strid/base/clock.hpp>
#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/memory/slab_allocator.hpp>

#include "../statistics.hpp"

namespace {

struct Settings {
    std::string_view allocator = "slab";
    std::size_t object_bytes = 0;  // 0: 32 and then 64
    std::size_t tasks = 4'000'000;
    std::size_t rounds = 7;
    std::size_t batch = 16;
    std::size_t ring = 1024;
    bool pin = true;
};

template <std::size_t Bytes>
struct Object {
    std::uint64_t words[Bytes / sizeof(std::uint64_t)];
};

struct Slab {
    strid::memory::SlabAllocator allocator{{.lanes = 1}};
    void* allocate(std::size_t bytes) { return allocator.allocate(bytes); }
    void free(void* memory) noexcept { allocator.deallocate(memory, 0); }
};

struct Malloc {
    void* allocate(std::size_t bytes) { return ::operator new(bytes); }
    void free(void* memory) noexcept { ::operator delete(memory); }
};

// More slots than the ring, so that none is written while it is read.
struct None {
    static constexpr std::size_t slots = 8192;
    std::vector<std::byte> memory = std::vector<std::byte>(slots * 64);
    std::size_t next = 0;
    void* allocate(std::size_t bytes) { return &memory[next++ % slots * bytes]; }
    void free(void*) noexcept {}
};

void pin_to(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

// A short spin, then the core is offered to others: the benchmark must end on one core as well.
class Patience {
  public:
    void wait() {
        if (++tries_ < 200) {
            __builtin_ia32_pause();
        } else {
            std::this_thread::yield();
        }
    }
    void reset() { tries_ = 0; }

  private:
    unsigned tries_ = 0;
};

template <std::size_t Bytes, class Allocator>
void produce(strid::channel::SpscRing<void*>& ring, Allocator& allocator,
             const Settings& settings) {
    std::uint64_t sequence = 0;
    Patience patience;
    while (sequence < settings.tasks) {
        const std::size_t wanted = std::min(settings.batch, settings.tasks - sequence);
        const auto slots = ring.claim(wanted);
        if (slots.empty()) {
            patience.wait();
            continue;
        }
        patience.reset();
        for (void*& slot : slots) {
            auto* const object = static_cast<Object<Bytes>*>(allocator.allocate(Bytes));
            for (std::uint64_t& word : object->words) word = sequence;
            ++sequence;
            slot = object;
        }
        ring.commit(slots.size());
    }
    ring.close();
}

template <std::size_t Bytes, class Allocator>
std::uint64_t consume(strid::channel::SpscRing<void*>& ring, Allocator& allocator,
                      const Settings& settings) {
    std::uint64_t sum = 0;
    Patience patience;
    while (true) {
        const auto slots = ring.peek(settings.batch);
        if (slots.empty()) {
            if (ring.drained()) return sum;
            patience.wait();
            continue;
        }
        patience.reset();
        for (void* const slot : slots) {
            const auto* const object = static_cast<const Object<Bytes>*>(slot);
            for (const std::uint64_t word : object->words) sum += word;
            allocator.free(slot);
        }
        ring.release(slots.size());
    }
}

template <std::size_t Bytes, class Allocator>
double round_ns_per_task(Allocator& allocator, const Settings& settings) {
    strid::channel::SpscRing<void*> ring(settings.ring);
    std::atomic<bool> ready{false};
    std::uint64_t sum = 0;
    std::thread consumer([&] {
        if (settings.pin) pin_to(1);
        ready.store(true, std::memory_order_release);  // pairs with the load below
        sum = consume<Bytes>(ring, allocator, settings);
    });
    while (!ready.load(std::memory_order_acquire)) {  // pairs with the store above
        std::this_thread::yield();
    }
    const std::int64_t start = strid::now_ns();
    produce<Bytes>(ring, allocator, settings);
    consumer.join();
    const std::int64_t end = strid::now_ns();
    const std::uint64_t tasks = settings.tasks;
    if (sum != tasks * (tasks - 1) / 2 * (Bytes / sizeof(std::uint64_t))) {
        std::fprintf(stderr, "wrong answer: the tasks that arrived are not those that were sent\n");
        std::exit(1);
    }
    return static_cast<double>(end - start) / static_cast<double>(tasks);
}

template <std::size_t Bytes, class Allocator>
void measure(const Settings& settings) {
    if (settings.object_bytes != 0 && settings.object_bytes != Bytes) return;
    Allocator allocator;
    std::vector<double> results;
    round_ns_per_task<Bytes>(allocator, settings);  // warm-up
    for (std::size_t round = 0; round < settings.rounds; ++round) {
        results.push_back(round_ns_per_task<Bytes>(allocator, settings));
    }
    std::sort(results.begin(), results.end());
    std::printf("%s %zu bytes: %.2f ns per task (median of %zu; %.2f to %.2f)\n",
                std::string(settings.allocator).c_str(), Bytes,
                strid::bench::quantile_of_sorted(results, 0.5), results.size(), results.front(),
                results.back());
}

template <class Allocator>
void measure_all(const Settings& settings) {
    measure<32, Allocator>(settings);
    measure<64, Allocator>(settings);
}

bool parse(int argc, char** argv, Settings& settings) {
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        if (arguments[at] == "--no-pin") {
            settings.pin = false;
            continue;
        }
        if (at + 1 == arguments.size()) return false;
        const std::string_view name = arguments[at];
        const std::string_view value = arguments[++at];
        std::size_t* number = name == "--bytes"    ? &settings.object_bytes
                              : name == "--tasks"  ? &settings.tasks
                              : name == "--rounds" ? &settings.rounds
                              : name == "--batch"  ? &settings.batch
                              : name == "--ring"   ? &settings.ring
                                                   : nullptr;
        if (name == "--allocator") {
            settings.allocator = value;
        } else if (number == nullptr ||
                   std::from_chars(value.data(), value.data() + value.size(), *number).ec !=
                       std::errc{} ||
                   (*number == 0 && number != &settings.object_bytes)) {
            return false;
        }
    }
    return settings.ring <= None::slots / 2;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    if (!parse(argc, argv, settings)) {
        std::fprintf(stderr,
                     "usage: alloc_bench [--allocator slab|malloc|none] [--bytes 32|64] "
                     "[--tasks N] [--rounds N] [--batch N] [--ring N (at most 4096)] [--no-pin]\n");
        return 2;
    }
    settings.pin = settings.pin && std::thread::hardware_concurrency() >= 2;
    if (settings.pin) pin_to(0);
    if (settings.allocator == "slab") {
        measure_all<Slab>(settings);
    } else if (settings.allocator == "malloc") {
        measure_all<Malloc>(settings);
    } else if (settings.allocator == "none") {
        measure_all<None>(settings);
    } else {
        std::fprintf(stderr, "unknown allocator\n");
        return 2;
    }
}
