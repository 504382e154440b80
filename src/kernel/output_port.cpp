// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <strid/engine/kernel/output_port.hpp>

namespace strid::operators {

namespace {

/// A hungry consumer gets a batch that is a quarter full; a smaller one after this time.
constexpr std::size_t worth_sending_part = 4;
constexpr std::int64_t partial_wait_ns = 50'000;

/// For ports without a node: never on, so that it is only read.
SplitClock no_clock;

std::size_t count_links(const std::vector<OutputPort::SlotShape>& slots) {
    return std::accumulate(slots.begin(), slots.end(), std::size_t{0},
                           [](std::size_t sum, const auto& slot) { return sum + slot.links; });
}

/// Room for the records: the configured size, or that of eight records.
std::size_t payload_bytes(std::size_t record_bytes, const PortSizes& sizes) {
    const std::size_t wanted = sizes.block_bytes - sizeof(memory::Block);
    return std::max(wanted, message::header_bytes + 8 * record_bytes);
}

std::size_t capacity_blocks(const std::vector<OutputPort::SlotShape>& slots,
                            const PortSizes& sizes) {
    return slots.size()                                  // one being filled per slot
           + count_links(slots) * sizes.blocks_per_link  // in flight or in a consumer's hands
           + 1;                                          // the spare that `spare()` guarantees
}

}  // namespace

FanOutError::FanOutError(std::size_t bytes_max)
    : Error("emitted more unread output for one record than RunOptions::fan_out_bytes_max, " +
            std::to_string(bytes_max) + " bytes") {}

OutputPort::OutputPort(RecordType type, const std::vector<SlotShape>& slots, const PortSizes& sizes)
    : type_(type),
      records_per_batch_((payload_bytes(type.bytes, sizes) - message::header_bytes) / type.bytes),
      pool_({.payload_bytes = payload_bytes(type.bytes, sizes),
             .capacity_blocks = capacity_blocks(slots, sizes),
             .lanes = count_links(slots)}),
      heap_bytes_max_(std::max<std::size_t>(sizes.heap_bytes_max, 1)),
      debt_bytes_max_(sizes.debt_bytes_max),
      overflow_(count_links(slots)),
      announce_(count_links(slots), false),
      sent_progress_(count_links(slots)),
      sent_run_ns_(count_links(slots), 0),
      clock_(&no_clock),
      perturbation_(sizes.perturbation_seed) {
    const std::size_t ring_capacity =
        sizes.ring_capacity != 0 ? sizes.ring_capacity : capacity_blocks(slots, sizes);
    for (const SlotShape& shape : slots) {
        slots_.push_back(
            {.first_link = links_.size(), .link_count = shape.links, .policy = shape.policy});
        for (std::size_t i = 0; i < shape.links; ++i) {
            links_.push_back(std::make_unique<Link>(ring_capacity, pool_, links_.size(),
                                                    sizes.readers_keep_lines ? type_.bytes : 0,
                                                    sizes.blocks_per_link));
            if (slots_.back().deals_out()) links_.back()->measure();
        }
    }
}

OutputPort::~OutputPort() {
    for (Slot& slot : slots_) {
        if (slot.batch == nullptr) continue;
        auto& header = message::header_of(*slot.batch);
        header.count = static_cast<std::uint32_t>(
            static_cast<std::size_t>(slot.cursor - header.records()) / type_.bytes);
        message::close_batch(*slot.batch);
        pool_.give_back_local(slot.batch);
    }
    for (std::size_t link = 0; link < overflow_.size(); ++link) {
        for (memory::Block* batch : overflow_[link]) (void)message::release(*batch, link);
    }
    links_.clear();  // before the pool that their batches go home to
}

bool OutputPort::refresh() {
    spare_ =
        (overflowing_ == 0 || drain_overflow()) && pool_.can_lease() && !perturbation_.refuses();
    if (spare_) heap_in_debt_ = 0;
    return spare_;
}

bool OutputPort::await_spare() {
    // A simulated refusal: no consumer would wake the producer.
    if (perturbation_.active() && overflowing_ == 0 && pool_.can_lease()) return false;
    if (!pool_.set_starved()) return false;
    if (overflowing_ == 0) return true;
    // In debt the pool may stay empty although every ring has been emptied meanwhile. Checked after
    // the flag is set: if a ring is full now, its consumer will give a block back and see the flag.
    const std::size_t waiting = overflowing_;
    drain_overflow();
    return overflowing_ == waiting;
}

void OutputPort::open(Slot& slot, memory::Block& block) noexcept {
    auto& header = message::open_batch(block);
    header.ingress_ns = ingress_ns_;
    header.destroy = type_.destroy;
    for (const auto& text : texts_) {
        (void)message::keep_alive(header, text, message::BatchHeader::texts_room);
    }
    slot.batch = &block;
    slot.heap_bytes = 0;
    slot.opened_ns = run_began_ns_;
    slot.cursor = header.records();
    slot.end = slot.cursor + perturbation_.batch_records(records_to_deal(slot)) * type_.bytes;
}

void OutputPort::renew(Slot& slot) {
    if (clock_->on()) [[unlikely]] {
        renew_in_sample(slot);
    } else {
        exchange(slot);
    }
}

void OutputPort::exchange(Slot& slot) {
    if (slot.batch != nullptr) {
        if (!spare_) heap_in_debt_ += slot.heap_bytes;
        send(slot);
    }
    memory::Block* block = pool_.try_lease();
    open(slot, block != nullptr ? *block : lease_in_debt());
    refresh();
}

memory::Block& OutputPort::lease_in_debt() {
    const std::size_t within = debt_bytes_max_ / (pool_.payload_bytes() + sizeof(memory::Block));
    if (pool_.counters().out() >= pool_.capacity_blocks() + within ||
        heap_in_debt_ >= debt_bytes_max_) {
        throw FanOutError(debt_bytes_max_);
    }
    return *pool_.lease_in_debt();
}

void OutputPort::keep_alive(const message::BatchHeader& input) {
    if (input.text_count == 0 && texts_.empty()) return;
    texts_.assign(input.texts.begin(), input.texts.begin() + input.text_count);
    for (const auto& text : texts_) hold(text, message::BatchHeader::texts_max);
}

void OutputPort::keep_alive(const memory::TextReference& text) {
    texts_.assign(1, text);
    hold(text, message::BatchHeader::texts_max);
}

bool OutputPort::keep_alive_too(const memory::TextReference& text) {
    constexpr std::size_t room = message::BatchHeader::texts_room;
    if (texts_.size() == room) return false;
    texts_.push_back(text);
    hold(text, room);
    return true;
}

// Makes the open batches keep the text; one that has no room for another text is sent as it is.
void OutputPort::hold(const memory::TextReference& text, std::size_t most) {
    for (Slot& slot : slots_) {
        if (slot.batch == nullptr) continue;
        if (!message::keep_alive(message::header_of(*slot.batch), text, most)) send(slot);
    }
}

void OutputPort::send(Slot& slot, bool ends_sequence) {
    auto& header = message::header_of(*slot.batch);
    header.count = static_cast<std::uint32_t>(
        static_cast<std::size_t>(slot.cursor - header.records()) / type_.bytes);
    header.progress = progress_;
    header.below_watermark = std::exchange(slot.below_watermark, false);
    header.sequence = sequence_;
    header.ends_sequence = ends_sequence || stamps_;
    if (stamps_) ++sequence_;
    memory::Block& batch = *slot.batch;
    auto& sample = message::sample_of(batch);
    if (sample.sent_ns != 0 || choice_.due(run_began_ns_)) [[unlikely]]
        stamp(sample);
    slot.batch = nullptr;
    slot.cursor = slot.end = nullptr;
    switch (slot.policy) {
        case SendPolicy::one:
            push(slot.first_link, batch);
            break;
        case SendPolicy::least_loaded:
            push(least_loaded(slot), batch);
            break;
        case SendPolicy::all:
            push_to_all(slot, batch);
            break;
    }
}

void OutputPort::push_to_all(const Slot& slot, memory::Block& batch) {
    // Ordered before the readers' decrements by the ring's release and acquire.
    batch.references.store(static_cast<std::uint32_t>(slot.link_count), std::memory_order_relaxed);
    for (std::size_t i = 0; i < slot.link_count; ++i) push(slot.first_link + i, batch);
}

void OutputPort::push(std::size_t link, memory::Block& batch) {
    announce_[link] = true;
    sent_run_ns_[link] = run_began_ns_;
    if (stamps_) {
        sent_progress_.assign(sent_progress_.size(),
                              progress_);  // later batches of the section follow in order
    } else {
        sent_progress_[link] = progress_;
    }
    last_sent_ns_.store(progress_.watermark.ns(), std::memory_order_relaxed);
    last_sent_idle_.store(progress_.idle, std::memory_order_relaxed);
    hand_over(link, batch);
}

void OutputPort::hand_over(std::size_t link, memory::Block& batch) {
    if (overflow_[link].empty() && links_[link]->send(batch) == channel::PushResult::ok) return;
    overflow_[link].push_back(&batch);
    ++overflowing_;
    spare_ = false;
}

bool OutputPort::drain_overflow() {
    for (std::size_t link = 0; link < overflow_.size(); ++link) {
        auto& waiting = overflow_[link];
        bool sent = false;
        while (!waiting.empty() &&
               links_[link]->send(*waiting.front()) == channel::PushResult::ok) {
            waiting.pop_front();
            --overflowing_;
            sent = true;
        }
        // At once: a node that stays refused after this does not come to publish().
        if (sent) links_[link]->announce();
    }
    return overflowing_ == 0;
}

void OutputPort::end_sequence() {
    Slot& slot = slots_.front();
    if (slot.batch == nullptr) renew(slot);
    send(slot, true);
}

bool OutputPort::hungry(const Slot& slot) const noexcept {
    for (std::size_t i = 0; i < slot.link_count; ++i) {
        if (links_[slot.first_link + i]->hungry()) return true;
    }
    return false;
}

// A full one; else by fill or by age, so that a producer that never pauses does not spend its
// blocks on a few records each. Under perturbation at once, because a perturbed run must not depend
// on the clock.
bool OutputPort::worth_sending(const Slot& slot) const noexcept {
    const auto filled =
        static_cast<std::size_t>(slot.cursor - message::header_of(*slot.batch).records());
    return slot.cursor == slot.end ||
           filled * worth_sending_part >= records_per_batch_ * type_.bytes ||
           slot.heap_bytes * worth_sending_part >= heap_bytes_max_ ||
           run_began_ns_ - slot.opened_ns >= partial_wait_ns || perturbation_.active();
}

void OutputPort::send_filled(bool idle) {
    for (Slot& slot : slots_) {
        if (slot.batch == nullptr) continue;
        if (slot.cursor == message::header_of(*slot.batch).records()) continue;
        if (idle || (worth_sending(slot) && hungry(slot))) send(slot);
    }
}

void OutputPort::send_empty(std::size_t link, memory::Block& block) {
    auto& header = message::open_batch(block);
    header.progress = progress_;
    header.sequence = sequence_;
    header.ends_sequence = stamps_;
    if (stamps_) ++sequence_;
    push(link, block);
}

// A busy producer sends watermarks only to hungry consumers, and no more often than partial
// batches. An ordered section has one stream of numbered batches: its first port sends the section
// a watermark once, and the ports inside it send watermarks only with the batches that they must
// send anyway.
bool OutputPort::send_progress(Slot& slot, bool idle) {
    if (numbered_ || slot.batch != nullptr) return true;  // the open records come first
    if (slot.policy == SendPolicy::all) return send_progress_together(slot, idle);
    for (std::size_t i = 0; i < slot.link_count; ++i) {
        if (sent_progress_[slot.first_link + i] == progress_) continue;
        const std::size_t link = stamps_ ? least_loaded(slot) : slot.first_link + i;
        const bool due =
            run_began_ns_ - sent_run_ns_[link] >= partial_wait_ns || perturbation_.active();
        if (!idle && !(due && links_[link]->hungry())) continue;
        memory::Block* block = pool_.try_lease();
        if (block != nullptr) send_empty(link, *block);
        refresh();
        if (block == nullptr) return false;
    }
    return true;
}

// Consumers of the same records get the watermark at the same place among them. Otherwise replicas
// that share windows would not agree for which of these a record is late.
bool OutputPort::send_progress_together(Slot& slot, bool idle) {
    const std::size_t any = slot.first_link;
    if (sent_progress_[any] == progress_) return true;
    const bool due = run_began_ns_ - sent_run_ns_[any] >= partial_wait_ns || perturbation_.active();
    if (!idle && !(due && hungry(slot))) return true;
    memory::Block* block = pool_.try_lease();
    if (block != nullptr) {
        message::open_batch(*block).progress = progress_;
        push_to_all(slot, *block);
    }
    refresh();
    return block != nullptr;
}

bool OutputPort::send_progress_to_all(bool idle) {
    if (progress_ == Progress{}) return true;  // a stream without watermarks
    bool sent = true;
    for (Slot& slot : slots_) sent = send_progress(slot, idle) && sent;
    return sent;
}

void OutputPort::assert_progress(const Progress& progress) {
    progress_ = progress;
    for (Slot& slot : slots_) {
        for (std::size_t i = 0; i < slot.link_count; ++i) {
            const std::size_t link = slot.first_link + i;
            if (sent_progress_[link] == progress_) continue;
            if (slot.batch != nullptr) {
                send(slot);
            } else if (!numbered_) {
                memory::Block* block = pool_.try_lease();
                send_empty(stamps_ ? least_loaded(slot) : link,
                           block != nullptr ? *block : lease_in_debt());
            }
        }
        slot.below_watermark = true;
    }
    refresh();
}

void OutputPort::announce() {
    for (std::size_t link = 0; link < links_.size(); ++link) {
        if (!announce_[link]) continue;
        announce_[link] = false;
        links_[link]->announce();
    }
}

bool OutputPort::publish(bool idle) {
    send_filled(idle);
    const bool sent = send_progress_to_all(idle);
    announce();
    return sent && overflowing_ == 0;
}

bool OutputPort::close() {
    send_filled(true);
    // The consumers may drop open windows by the last watermark.
    const bool sent = send_progress_to_all(true);
    announce();
    if (!sent) return false;
    if (overflowing_ != 0 && !drain_overflow()) return false;
    for (auto& link : links_) {
        link->close();
        link->announce();
    }
    last_sent_idle_.store(true, std::memory_order_relaxed);
    return true;
}

}  // namespace strid::operators
