// SPDX-License-Identifier: Apache-2.0
//
// Table 1.1 of paper 4: what a push or a pop costs by where the two threads are. One thread pushes
// pointers, the other pops them and adds them up, which is compared; the nanoseconds of all,
// divided by their number. Each measurement is a line of JSON, and so is each placement that this
// machine lacks.
//
//   placement_bench [--rounds 20] [--count 1000000] [--slots 64,1024,16384]
//
// Slots: of the bounded ring and of the queue with a lock, where a full one makes the producer
// wait; of a segment of the unbounded queue.
#include <cstdio>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/channel/strid_queues.hpp"
#include "bench/command_line.hpp"
#include "placements.hpp"

namespace {

using namespace strid;
using namespace strid::bench;

/// A ring behind a lock.
class MutexQueue {
  public:
    static constexpr const char* name = "mutex queue";

    explicit MutexQueue(std::size_t slots) : slots_(slots) {}

    bool push(void* pointer) {
        const std::lock_guard lock(mutex_);
        if (count_ == slots_.size()) return false;
        slots_[(first_ + count_++) % slots_.size()] = pointer;
        return true;
    }
    bool pop(void*& pointer) {
        const std::lock_guard lock(mutex_);
        if (count_ == 0) return false;
        pointer = slots_[first_];
        first_ = (first_ + 1) % slots_.size();
        --count_;
        return true;
    }

  private:
    std::mutex mutex_;
    std::vector<void*> slots_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

struct Settings {
    std::size_t rounds = 20;
    std::uint64_t count = 1'000'000;
    std::vector<std::size_t> slots{64, 1'024, 16'384};
};

template <class Queue>
void measure(const Settings& settings, const Placement& placement, std::size_t slots,
             std::size_t round) {
    const auto [producer, consumer] = *placement.processors;
    const auto queue = std::make_unique<Queue>(slots);
    const double ns = transfer_ns({producer, consumer}, *queue, settings.count);
    fmt::print(
        "{{\"placement\": \"{}\", \"producer\": {}, \"consumer\": {}, \"queue\": \"{}\", "
        "\"slots\": {}, \"round\": {}, \"ns\": {:.3f}}}\n",
        placement.name, producer, consumer, Queue::name, slots, round, ns);
}

}  // namespace

int main(int argc, char** argv) try {
    Settings settings;
    CommandLine({{"--rounds", number_into(settings.rounds)},
                 {"--count", number_into(settings.count)},
                 {"--slots", numbers_into(settings.slots)}})
        .read(argc, argv);
    for (const std::size_t slots : settings.slots) {
        if (slots == 0) throw std::invalid_argument("a queue has one slot at least");
    }
    if (settings.count == 0) throw std::invalid_argument("there is one pointer at least");
    const auto placements = placements_of(Topology::detect());
    for (const Placement& placement : placements) {
        if (placement.processors) continue;
        fmt::print("{{\"placement\": \"{}\", \"missing\": \"{}\"}}\n", placement.name,
                   placement.why_missing);
    }
    for (std::size_t round = 0; round < settings.rounds; ++round) {
        for (const Placement& placement : placements) {
            if (!placement.processors) continue;
            for (const std::size_t slots : settings.slots) {
                measure<StridRing>(settings, placement, slots, round);
                measure<StridUnbounded>(settings, placement, slots, round);
                measure<MutexQueue>(settings, placement, slots, round);
            }
        }
        std::fflush(stdout);
    }
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
}
