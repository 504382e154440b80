// SPDX-License-Identifier: Apache-2.0
//
// Where each batch goes to one of several consumers: to which, and how many records it gets
// (design note 0003).
#include <algorithm>

#include <strid/engine/kernel/output_port.hpp>

namespace strid::operators {

namespace {

/// A batch is work for so long at most, or one record.
constexpr float dealt_work_ns = 2e6F;

}  // namespace

std::size_t OutputPort::least_loaded(Slot& slot) const noexcept {
    std::size_t best = slot.next_link;
    std::size_t best_load = SIZE_MAX;
    for (std::size_t i = 0; i < slot.link_count && best_load != 0; ++i) {
        const std::size_t candidate = (slot.next_link + i) % slot.link_count;
        const std::size_t link = slot.first_link + candidate;
        const std::size_t load = links_[link]->queued() + overflow_[link].size();
        if (load < best_load) {
            best = candidate;
            best_load = load;
        }
    }
    slot.next_link = (best + 1) % slot.link_count;
    return slot.first_link + best;
}

// Records that take a consumer long are dealt out in small batches, so that no consumer has many
// of them while others wait. As long as no consumer has shown its cost, a batch has one record. In
// debt, where no consumer can keep up, batches double with each round of the consumers.
std::size_t OutputPort::records_to_deal(Slot& slot) const noexcept {
    // A perturbed run must not depend on the clock.
    if (!slot.deals_out() || perturbation_.active()) return records_per_batch_;
    const float shown = links_[slot.first_link + slot.next_link]->record_ns();
    if (shown > 0) {
        slot.record_ns = slot.record_ns > 0 ? (3 * slot.record_ns + shown) / 4 : shown;
    }
    const float work = slot.record_ns > 0 ? dealt_work_ns / slot.record_ns : 1;
    if (work >= static_cast<float>(records_per_batch_)) return records_per_batch_;
    const std::size_t blocks = pool_.counters().out();
    const std::size_t debt = blocks - std::min(blocks, pool_.capacity_blocks());
    const std::size_t rounds = std::min<std::size_t>(debt / slot.link_count, 32);
    const auto records = std::max<std::size_t>(static_cast<std::size_t>(work), 1) << rounds;
    return std::min(records, records_per_batch_);
}

}  // namespace strid::operators
