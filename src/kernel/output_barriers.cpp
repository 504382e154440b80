// SPDX-License-Identifier: Apache-2.0
//
// The part of an output port in a snapshot (engine/kernel/snapshot_cut.hpp).
#include <strid/engine/kernel/output_port.hpp>

namespace strid::operators {

// In an ordered section a barrier carries no watermark: it has no place in the order.
bool OutputPort::send_barriers() {
    for (; barriers_sent_ != links_.size(); ++barriers_sent_) {
        memory::Block* const block = pool_.try_lease();
        if (block == nullptr) break;
        auto& header = message::open_batch(*block);
        header.is_barrier = true;
        if (!stamps_ && !numbered_) header.progress = sent_progress_[barriers_sent_] = progress_;
        announce_[barriers_sent_] = true;
        hand_over(barriers_sent_, *block);
    }
    refresh();
    announce();
    if (barriers_sent_ != links_.size()) return false;
    barriers_sent_ = 0;
    return true;
}

}  // namespace strid::operators
