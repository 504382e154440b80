// SPDX-License-Identifier: Apache-2.0
//
// The output port's functions for batches in the sample of latency by origin
// (engine/kernel/split_clock.hpp). Called for these batches alone.
#include <strid/base/clock.hpp>
#include <strid/engine/kernel/output_port.hpp>

namespace strid::operators {

namespace {

/// In place of the time of the send, until the batch is sent: it derives from the present sampled
/// batch, or from an earlier one, and then its cost is recorded.
constexpr std::int64_t sampled_now = -1;
constexpr std::int64_t sampled_before = -2;

}  // namespace

void OutputPort::stamp(message::BatchSample& sample) noexcept {
    const std::int64_t now = now_ns();
    if (sample.sent_ns == 0) {
        sample.user_ns = sample.engine_ns = message::BatchSample::unknown;
    } else if (sample.sent_ns == sampled_now) {
        sample = clock_->so_far(now);
    }
    sample.sent_ns = now;
}

void OutputPort::settle_samples(const message::BatchSample& sample) noexcept {
    for (Slot& slot : slots_) {
        if (slot.batch == nullptr) continue;
        auto& of_batch = message::sample_of(*slot.batch);
        if (of_batch.sent_ns != sampled_now) continue;
        of_batch = sample;
        of_batch.sent_ns = sampled_before;
    }
}

// The time to send a full batch counts as the engine's, though operators have filled it.
void OutputPort::renew_in_sample(Slot& slot) {
    const bool in_operators = clock_->in_operators();
    if (in_operators) clock_->leave_operators();
    exchange(slot);
    message::sample_of(*slot.batch).sent_ns = sampled_now;
    if (in_operators) clock_->enter_operators();
}

}  // namespace strid::operators
