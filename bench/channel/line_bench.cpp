// SPDX-License-Identifier: Apache-2.0
//
// The cost of a cache line that goes from one core to another and back, again and again: a producer
// fills blocks of 32 KiB, a consumer on another core reads them and gives them back. Compared is
// what the consumer leaves behind: lines that it has only read, or lines that it has written, one
// byte each, once it was done with the block (docs/design/0008).
//
//   line_bench [--cores P,C]     (default: the first two cores)
//
// Rounds alternate between the contestants; the table gives medians and quartiles, nanoseconds per
// line of 64 bytes. Every run checks the sum of what arrived.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/base/prefetch.hpp>
#include <strid/engine/channel/spsc_ring.hpp>

#include "../statistics.hpp"
#include "transfer.hpp"

namespace {

using namespace strid;
using strid::bench::Cores;
using strid::bench::quantile;

constexpr std::size_t block_bytes = 32 << 10;
constexpr std::size_t lines = block_bytes / cache_line_bytes;
constexpr std::size_t ahead_bytes = 1024;
constexpr std::uint64_t transfers = 4'000;
constexpr int rounds = 9;

struct alignas(cache_line_bytes) Line {
    std::array<std::uint64_t, cache_line_bytes / sizeof(std::uint64_t)> words;
};

struct Way {
    bool asks_ahead = false;  // the producer
    bool owns = false;        // the consumer
};

/// Blocks go to the consumer through one ring and come back through the other.
class Transfer {
  public:
    Transfer(std::size_t blocks, Way way)
        : way_(way), memory_(blocks * lines), full_(blocks), empty_(blocks) {
        for (std::size_t i = 0; i < blocks; ++i) (void)empty_.try_push(&memory_[i * lines]);
    }
    double ns_per_line(const Cores& cores) {
        std::uint64_t sum = 0;
        const auto ns = bench::time_pair_ns(
            cores, [this] { produce(); }, [this, &sum] { sum = consume(); });
        bench::check_sum(sum, transfers * lines);
        return static_cast<double>(ns) / static_cast<double>(transfers * lines);
    }

  private:
    void produce() {
        std::uint64_t next = 1;
        for (std::uint64_t i = 0; i < transfers; ++i) {
            Line* block = nullptr;
            while (empty_.try_pop(block) != channel::PopResult::ok) relax();
            for (std::size_t at = 0; at < lines; ++at) {
                if (way_.asks_ahead) prefetch_for_write(&block[at], ahead_bytes);
                block[at].words.fill(next);
                ++next;
            }
            (void)full_.try_push(block);
        }
    }
    std::uint64_t consume() {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < transfers; ++i) {
            Line* block = nullptr;
            while (full_.try_pop(block) != channel::PopResult::ok) relax();
            for (std::size_t at = 0; at < lines; ++at) sum += block[at].words.back();
            if (way_.owns) reclaim_lines(reinterpret_cast<std::byte*>(block), block_bytes);
            (void)empty_.try_push(block);
        }
        return sum;
    }

    Way way_;
    std::vector<Line> memory_;
    channel::SpscRing<Line*> full_;
    channel::SpscRing<Line*> empty_;
};

struct Contestant {
    std::size_t blocks;
    Way way;
    std::vector<double> ns = {};
};

void compare(const Cores& cores) {
    std::vector<Contestant> contestants;
    for (const std::size_t blocks : {4, 16, 64}) {
        for (const bool owns : {false, true}) {
            for (const bool asks_ahead : {false, true}) {
                contestants.push_back({blocks, {.asks_ahead = asks_ahead, .owns = owns}});
            }
        }
    }
    for (int round = 0; round < rounds; ++round) {
        for (Contestant& one : contestants) {
            one.ns.push_back(Transfer(one.blocks, one.way).ns_per_line(cores));
        }
    }
    std::printf(
        "| blocks of 32 KiB | the reader leaves lines | the writer | ns per line (quartiles) |\n"
        "|---|---|---|---|\n");
    for (const Contestant& one : contestants) {
        std::printf("| %zu | %s | %s | %.1f (%.1f to %.1f) |\n", one.blocks,
                    one.way.owns ? "written" : "read",
                    one.way.asks_ahead ? "asks for them ahead" : "writes", quantile(one.ns, 0.5),
                    quantile(one.ns, 0.25), quantile(one.ns, 0.75));
    }
    std::printf("\nreaders own lines by default on this processor: %s\n",
                reading_delays_writers() ? "yes" : "no");
}

}  // namespace

int main(int argc, char** argv) {
    Cores cores;
    const bool asks = argc == 3 && std::string_view{argv[1]} == "--cores";
    const bool understood =
        argc == 1 || (asks && std::sscanf(argv[2], "%d,%d", &cores.producer, &cores.consumer) == 2);
    if (!understood) {
        std::fprintf(stderr, "usage: line_bench [--cores P,C]\n");
        return 2;
    }
    try {
        compare(cores);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "line_bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
