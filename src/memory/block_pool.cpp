// SPDX-License-Identifier: Apache-2.0
//
// The owner's and the consumers' halves of the block pool; the header has the invariant.
#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <unordered_set>

#include <strid/engine/memory/block_pool.hpp>

namespace strid::memory {

namespace {

constexpr std::align_val_t block_alignment{alignof(Block)};

/// Consumers together may hold at most about a quarter of the pool back as pending, and no bunch is
/// longer than 8: by then the cost of its one atomic operation has all but vanished.
std::size_t default_bunch(std::size_t capacity_blocks, std::size_t lanes) {
    return std::clamp<std::size_t>(capacity_blocks / (4 * lanes), 1, 8);
}

}  // namespace

BlockPool::BlockPool(Options options) : options_(options) {
    STRID_ASSERT(options_.capacity_blocks >= 1 && options_.lanes >= 1);
    if (options_.payload_bytes > std::numeric_limits<std::uint32_t>::max()) {
        throw std::length_error("a block of 4 GiB or more");
    }
    if (options_.bunch_blocks == 0) {
        options_.bunch_blocks = default_bunch(options_.capacity_blocks, options_.lanes);
    }
    for (std::size_t lane = 0; lane < options_.lanes; ++lane) {
        lanes_.emplace_back(options_.bunch_blocks);
    }
    take_home(acquire());
}

BlockPool::~BlockPool() {
    STRID_PARANOID(is_valid());
    for (Block* block : acquired_) ::operator delete(block, block_alignment);
}

Block* BlockPool::acquire() {
    // Room in the list first, so that nothing is lost when either allocation throws.
    if (acquired_.size() == acquired_.capacity()) acquired_.reserve(acquired_.size() * 2 + 4);
    void* const memory = ::operator new(sizeof(Block) + options_.payload_bytes, block_alignment);
    Block* const block = new (memory) Block{};
    block->home = this;
    block->payload_bytes = static_cast<std::uint32_t>(options_.payload_bytes);
    block->registry_index = static_cast<std::uint32_t>(acquired_.size());
    acquired_.push_back(block);
    return block;
}

void BlockPool::dismiss(Block* block) noexcept {
    const std::uint32_t index = block->registry_index;
    STRID_ASSERT(index < acquired_.size() && acquired_[index] == block);
    acquired_[index] = acquired_.back();
    acquired_[index]->registry_index = index;
    acquired_.pop_back();
    ::operator delete(block, block_alignment);
}

void BlockPool::take_home(Block* block) noexcept {
    STRID_ASSERT(block->home == this);
    if (acquired_.size() > 2 * options_.capacity_blocks) {
        dismiss(block);
        return;
    }
    block->next = free_;
    free_ = block;
    ++free_count_;
}

void BlockPool::collect() noexcept {
    std::uint64_t taken = 0;
    for (ReturnLane<Block>& lane : lanes_) {
        for (Block* block = lane.take_all(); block != nullptr; ++taken) {
            Block* const next = block->next;
            take_home(block);
            block = next;
        }
    }
    if (taken != 0) tallies_.count_returned(taken);
}

Block* BlockPool::lease_free() noexcept {
    Block* const block = free_;
    free_ = block->next;
    --free_count_;
    return leased(block);
}

Block* BlockPool::leased(Block* block) noexcept {
    // Relaxed: the block reaches its readers through a channel, which orders it.
    block->references.store(1, std::memory_order_relaxed);
    tallies_.leased.add();
    return block;
}

Block* BlockPool::try_lease() noexcept {
    if (free_ == nullptr || !within_capacity()) collect();
    if (!within_capacity()) {
        tallies_.misses.add();
        return nullptr;
    }
    if (free_ != nullptr) return lease_free();
    try {
        return leased(acquire());
    } catch (const std::bad_alloc&) {  // a block that is out will come back
        tallies_.misses.add();
        return nullptr;
    }
}

Block* BlockPool::lease_in_debt() {
    if (Block* const block = try_lease()) return block;
    Block* const block = free_ != nullptr ? lease_free() : leased(acquire());
    tallies_.debt.add();
    return block;
}

bool BlockPool::can_lease() noexcept {
    if (!within_capacity()) collect();
    return within_capacity();
}

bool BlockPool::release(Block* block, std::size_t lane) noexcept {
    STRID_ASSERT(block->home == this && lane < lanes_.size());
    STRID_ASSERT(block->references.load(std::memory_order_relaxed) != 0);
    // The last reader needs no atomic subtraction: no other thread can change a count of 1. Acquire
    // pairs with the release half of the other readers' fetch_sub.
    if (block->references.load(std::memory_order_acquire) != 1) {
        // Pairs with itself and with the load above: every reader's use of the block comes before
        // the last reader sends it home.
        if (block->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    }
    block->references.store(0, std::memory_order_relaxed);
    // A starving owner gets this block now and not with the bunch. If the flag is set just after,
    // the consumer's flush_lane() before it waits publishes the block.
    if (!lanes_[lane].give(block) && starved_.is_set()) lanes_[lane].flush();
    return true;
}

void BlockPool::give_back_local(Block* block) noexcept {
    STRID_ASSERT(block->references.load(std::memory_order_relaxed) == 1);
    block->references.store(0, std::memory_order_relaxed);
    tallies_.count_returned();
    take_home(block);
}

void BlockPool::flush_lane(std::size_t lane) noexcept {
    lanes_[lane].flush();
}

bool BlockPool::set_starved() noexcept {
    return starved_.set([this] { return can_lease(); });
}

bool BlockPool::is_valid() const {
    std::unordered_set<const Block*> seen;
    std::size_t at_home = 0;
    bool sound = true;
    const auto place = [&](const Block* block) {
        sound = sound && block->home == this && block->registry_index < acquired_.size() &&
                acquired_[block->registry_index] == block && seen.insert(block).second &&
                block->references.load(std::memory_order_relaxed) == 0;
    };
    for (const Block* block = free_; block != nullptr && sound; block = block->next) {
        place(block);
        ++at_home;
    }
    for (const ReturnLane<Block>& lane : lanes_) {
        sound = sound && lane.is_valid();
        if (sound) lane.for_each_quiescent(place);
    }
    const std::uint64_t out = tallies_.out();
    const std::size_t in_lanes = seen.size() - at_home;
    return sound && at_home == free_count_ && acquired_.size() == free_count_ + out &&
           in_lanes <= out &&
           (free_count_ == 0 || acquired_.size() <= 2 * options_.capacity_blocks);
}

}  // namespace strid::memory
