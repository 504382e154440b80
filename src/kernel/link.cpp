// SPDX-License-Identifier: Apache-2.0
#include <strid/engine/kernel/link.hpp>

namespace strid::operators {

Link::~Link() {
    // A cancelled run leaves batches in flight; their records are destroyed here.
    memory::Block* batch = nullptr;
    while (ring_.try_pop(batch) == channel::PopResult::ok) (void)message::release(*batch, lane_);
}

void Link::connect(runtime::Task* producer, runtime::Task* consumer) noexcept {
    producer_ = producer;
    consumer_ = consumer;
    crosses_tasks_ = producer != consumer;
}

memory::Block* Link::front() noexcept {
    const auto waiting = ring_.peek(1);
    return waiting.empty() ? nullptr : waiting.front();
}

void Link::give_back(memory::Block& batch) noexcept {
    if (!message::release(batch, lane_, owned_record_bytes_)) return;
    pool_->flush_lane(lane_);
    if (pool_->take_starved()) producer_->notify();
}

}  // namespace strid::operators
