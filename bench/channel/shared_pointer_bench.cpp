// SPDX-License-Identifier: Apache-2.0
//
// Shared pointers from one core to another: the ring with flagged slots of paper 1 (4.1.1) beside
// rings that publish an index. Each item is a share of an object that the producer holds, so its
// counter goes up on one core and down on the other, whatever the ring does.
//
//   shared_pointer_bench [ROUNDS [ITEMS]]       default 15 rounds of 500,000 items
//
// Every run checks that each object arrived in its turn.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <boost/lockfree/spsc_queue.hpp>

#include "contest.hpp"
#include "queues.hpp"

namespace {

using namespace strid::bench;
using Item = std::shared_ptr<std::uint64_t>;

struct FlaggedSlots {
    static constexpr const char* name = "strid SharedPointerRing";
    strid::channel::SharedPointerRing<std::uint64_t> ring{queue_capacity};
    bool push(const Item& item) { return is_ok(ring.try_push(item)); }
    bool pop(Item& item) { return is_ok(ring.try_pop(item)); }
};
struct IndexedSlots {
    static constexpr const char* name = "strid spsc_ring";
    strid::channel::SpscRing<Item> ring{queue_capacity};
    bool push(const Item& item) { return is_ok(ring.try_push(item)); }
    bool pop(Item& item) { return is_ok(ring.try_pop(item)); }
};
struct Boost {
    static constexpr const char* name = "boost::lockfree spsc_queue";
    boost::lockfree::spsc_queue<Item, boost::lockfree::capacity<queue_capacity>> ring;
    bool push(const Item& item) { return ring.push(item); }
    bool pop(Item& item) { return ring.pop(item); }
};
#if defined(STRID_BENCH_READERWRITERQUEUE)
struct Moodycamel {
    static constexpr const char* name = "moodycamel try_enqueue";
    moodycamel::ReaderWriterQueue<Item> ring{queue_capacity};
    bool push(const Item& item) { return ring.try_enqueue(item); }
    bool pop(Item& item) { return ring.try_dequeue(item); }
};
#endif

/// The adapter that transfer.hpp asks for: number n stands for the n-th object, in a circle longer
/// than the ring.
template <class Ring>
class Shares {
  public:
    Shares() : objects_(2 * queue_capacity) {
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            objects_[i] = std::make_shared<std::uint64_t>(i);
        }
    }
    bool push(void* number) { return ring_.push(objects_[as_number(number) % objects_.size()]); }
    bool pop(void*& number) {
        Item item;
        if (!ring_.pop(item)) return false;
        ++popped_;
        number = as_pointer(*item == popped_ % objects_.size() ? popped_ : 0);
        return true;
    }

  private:
    std::vector<Item> objects_;  // the producer's once they are made
    Ring ring_;
    alignas(strid::cache_line_bytes) std::uint64_t popped_ = 0;  // the consumer's
};

template <class Ring>
Contestant contestant(std::uint64_t items) {
    return {Ring::name, 1, false,
            [items] {
                const auto queue = std::make_unique<Shares<Ring>>();
                return transfer_ns({}, *queue, items);
            },
            [items] { return round_trips<OneAtATime<Shares<Ring>>>({}, items / 100 + 1, 1); }};
}

}  // namespace

int main(int argc, char** argv) try {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
    const std::uint64_t items = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 500'000;
    if (rounds <= 0 || items == 0) {
        std::fprintf(stderr, "usage: shared_pointer_bench [ROUNDS [ITEMS]]\n");
        return 2;
    }
    std::vector<Contestant> all;
    all.push_back(contestant<FlaggedSlots>(items));
    all.push_back(contestant<IndexedSlots>(items));
    all.push_back(contestant<Boost>(items));
#if defined(STRID_BENCH_READERWRITERQUEUE)
    all.push_back(contestant<Moodycamel>(items));
#endif
    for (int round = 0; round < rounds; ++round) {
        for (Contestant& one : all) one.measure();
    }
    std::printf("Shared pointers, one at a time:\n\n");
    print_table(all, "round trip");
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "shared_pointer_bench: %s\n", error.what());
    return 1;
}
