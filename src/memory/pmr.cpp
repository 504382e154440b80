// SPDX-License-Identifier: Apache-2.0
//
// The lane over which the running thread frees, for containers, which take no such argument.
#include <strid/memory/pmr.hpp>

namespace strid::memory {

namespace {

// The innermost scope of this thread. It refers to objects of a graph but belongs to no graph:
// several graphs in one process each find their own allocator in the chain.
thread_local FreeingThread* innermost = nullptr;

}  // namespace

FreeingThread::FreeingThread(SlabAllocator& allocator, std::size_t lane) noexcept
    : home_(&allocator), lane_(lane), outer_(innermost) {
    STRID_ASSERT(lane < allocator.lanes());
    innermost = this;
}

FreeingThread::FreeingThread(BlockPool& pool, std::size_t lane) noexcept
    : home_(&pool), pool_(&pool), lane_(lane), outer_(innermost) {
    STRID_ASSERT(lane < pool.lanes());
    innermost = this;
}

FreeingThread::~FreeingThread() {
    STRID_ASSERT(innermost == this);
    innermost = outer_;
    if (pool_ != nullptr) pool_->flush_lane(lane_);
}

const FreeingThread* FreeingThread::of(const void* home) noexcept {
    const FreeingThread* scope = innermost;
    while (scope != nullptr && scope->home_ != home) scope = scope->outer_;
    return scope;
}

void FreeingThread::free(SlabAllocator& allocator, void* memory) noexcept {
    if (const FreeingThread* const scope = of(&allocator)) {
        allocator.deallocate(memory, scope->lane_);
    } else {
        allocator.deallocate_local(memory);
    }
}

void FreeingThread::free(BlockPool& pool, Block* block) noexcept {
    if (const FreeingThread* const scope = of(&pool)) {
        pool.release(block, scope->lane_);
    } else {
        pool.give_back_local(block);
    }
}

}  // namespace strid::memory
