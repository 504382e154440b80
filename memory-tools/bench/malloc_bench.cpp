// SPDX-License-Identifier: Apache-2.0
//
// The cost of malloc and free in a program, with any preloaded allocator. Plain C++: no part of
// Strid is in it but the size of a cache line and the pause of a spin. Each thread stays on a core.
//
//   malloc_bench exchange [OPERATIONS]           one thread allocates, another frees
//   malloc_bench random THREADS [OPERATIONS]     each thread for itself, random lifetimes
//
// exchange: 16 to 512 bytes, each size alike, through a ring of 1,024 pointers, 64 at a time.
// random: 20,000 live blocks a thread; each operation frees one and allocates one in its place,
// half of them out of the youngest thousandth, so that short and long lives mix; 7 of 10 sizes up
// to 128 bytes, nearly all others up to 1,024, one in 50 up to 16 KiB.
//
// The first and the last word of each block are written after it was allocated, and checked before
// it is freed. One line comes out: operations a second (an operation is one malloc and one free)
// and the peak of resident memory in KiB.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <sched.h>

#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/base/relax.hpp>

namespace {

using strid::cache_line_bytes;

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 1) {}
    std::uint64_t next() {  // xorshift64*
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545F4914F6CDD1DU;
    }
    std::size_t below(std::size_t bound) {
        return static_cast<std::size_t>((next() >> 32) * std::uint64_t{bound} >> 32);
    }

  private:
    std::uint64_t state_;
};

/// Thread `index` of the program stays on one core, another one for each as far as there are any:
/// two threads that share a core would hand over through its first cache.
void stay_on_core(std::size_t index) {
    static const cpu_set_t allowed = [] {
        cpu_set_t set;
        CPU_ZERO(&set);
        sched_getaffinity(0, sizeof set, &set);
        return set;
    }();
    const auto count = static_cast<std::size_t>(CPU_COUNT(&allowed));
    if (count == 0) return;
    std::size_t left = index % count;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed) || left-- != 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "malloc_bench: %s\n", what);
    std::exit(1);
}

// Both words say the size; the rest of the block is the program's, and is not looked at.
void* allocate(std::size_t bytes) {
    auto* const memory = static_cast<char*>(std::malloc(bytes));
    if (memory == nullptr) fail("no memory");
    const std::uint64_t mark = reinterpret_cast<std::uintptr_t>(memory) ^ bytes;
    std::memcpy(memory, &bytes, sizeof bytes);
    std::memcpy(memory + bytes - sizeof mark, &mark, sizeof mark);
    return memory;
}

void release(void* block) {
    auto* const memory = static_cast<char*>(block);
    std::size_t bytes = 0;
    std::memcpy(&bytes, memory, sizeof bytes);
    if (bytes > 16384) fail("a block has lost its size");
    std::uint64_t mark = 0;
    std::memcpy(&mark, memory + bytes - sizeof mark, sizeof mark);
    if (mark != (reinterpret_cast<std::uintptr_t>(memory) ^ bytes)) fail("a block has changed");
    std::free(memory);
}

/// Pointers from one thread to another, 64 at a time, so that what is measured is not the ring.
class Ring {
  public:
    void push(void* block) {
        while (tail_ - head_seen_ == slot_count) {
            // Pairs with the release in pop().
            head_seen_ = head_published_.load(std::memory_order_acquire);
            if (tail_ - head_seen_ == slot_count) wait();
        }
        slots_[tail_++ % slot_count] = block;
        if (tail_ % together == 0) flush();
    }
    void flush() {
        // Pairs with the acquire in pop().
        tail_published_.store(tail_, std::memory_order_release);
    }
    void* pop() {
        while (tail_seen_ == head_) {
            // Pairs with the release in flush().
            tail_seen_ = tail_published_.load(std::memory_order_acquire);
            if (tail_seen_ == head_) wait();
        }
        void* const block = slots_[head_++ % slot_count];
        // Pairs with the acquire in push().
        if (head_ % together == 0) head_published_.store(head_, std::memory_order_release);
        return block;
    }

  private:
    static constexpr std::size_t slot_count = 1024;
    static constexpr std::size_t together = 64;

    // Where other programs use the cores as well, the other thread may not be running.
    static void wait() {
        thread_local unsigned spins = 0;
        if (++spins % 512 == 0) std::this_thread::yield();
        strid::relax();
    }

    alignas(cache_line_bytes) std::atomic<std::size_t> tail_published_{0};
    alignas(cache_line_bytes) std::size_t tail_ = 0;  // the producer's
    std::size_t head_seen_ = 0;
    alignas(cache_line_bytes) std::atomic<std::size_t> head_published_{0};
    alignas(cache_line_bytes) std::size_t head_ = 0;  // the consumer's
    std::size_t tail_seen_ = 0;
    alignas(cache_line_bytes) std::array<void*, slot_count> slots_{};
};

void exchange(std::size_t operations) {
    const auto ring = std::make_unique<Ring>();
    stay_on_core(0);
    std::thread consumer([&ring, operations] {
        stay_on_core(1);
        for (std::size_t i = 0; i < operations; ++i) release(ring->pop());
    });
    Random random(1);
    for (std::size_t i = 0; i < operations; ++i) ring->push(allocate(16 + random.below(497)));
    ring->flush();
    consumer.join();
}

std::size_t some_size(Random& random) {
    const std::size_t kind = random.below(100);
    if (kind < 70) return 16 + random.below(113);
    if (kind < 98) return 129 + random.below(896);
    return 1025 + random.below(15360);
}

void live_and_die(std::size_t operations, std::size_t thread) {
    constexpr std::size_t live = 20'000;
    stay_on_core(thread);
    Random random(thread + 1);
    std::vector<void*> blocks(live);
    for (void*& block : blocks) block = allocate(some_size(random));
    for (std::size_t i = 0; i < operations; ++i) {
        const std::size_t at =
            random.next() >> 63 != 0 ? random.below(live / 1000) : random.below(live);
        release(blocks[at]);
        blocks[at] = allocate(some_size(random));
    }
    for (void* const block : blocks) release(block);
}

void random_lives(std::size_t threads, std::size_t operations) {
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(live_and_die, operations, i);
    live_and_die(operations, 0);
    for (std::thread& other : others) other.join();
}

std::size_t number(const char* text, std::size_t smallest, std::size_t greatest) {
    char* end = nullptr;
    const std::size_t value = std::strtoull(text, &end, 10);
    if (end == text || *end != '\0' || value < smallest || value > greatest) {
        std::fprintf(stderr, "malloc_bench: not a number from %zu to %zu: %s\n", smallest, greatest,
                     text);
        std::exit(2);
    }
    return value;
}

// Not getrusage(), whose peak is also that of the process before it became this program.
long peak_kib() {
    long kib = 0;
    if (std::FILE* const status = std::fopen("/proc/self/status", "r")) {
        char line[256];
        while (std::fgets(line, sizeof line, status) != nullptr) {
            if (std::sscanf(line, "VmHWM: %ld kB", &kib) == 1) break;
        }
        std::fclose(status);
    }
    if (kib == 0) fail("no VmHWM in /proc/self/status");
    return kib;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view mode = argc > 1 ? argv[1] : "";
    const bool is_random = mode == "random";
    const int expected = is_random ? 3 : 2;
    if ((mode != "exchange" && !is_random) || argc < expected || argc > expected + 1) {
        std::fprintf(stderr, "malloc_bench exchange [OPERATIONS] | random THREADS [OPERATIONS]\n");
        return 2;
    }
    constexpr std::size_t most = 1'000'000'000'000;
    const std::size_t threads = is_random ? number(argv[2], 1, 1024) : 1;
    const std::size_t operations = argc > expected ? number(argv[expected], 1, most) : 10'000'000;
    const auto begin = std::chrono::steady_clock::now();
    if (is_random) {
        random_lives(threads, operations);
    } else {
        exchange(operations);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%.0f operations/s %ld KiB\n",
                static_cast<double>(operations * threads) / took.count(), peak_kib());
    return 0;
}
