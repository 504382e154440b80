// SPDX-License-Identifier: Apache-2.0
//
// The output of a replica. A port has slots, one for each destination of its router. Each slot
// fills one batch and sends it over its links by its policy. Routing writes a record straight into
// the batch of its destination: the port sees no record, only the bytes it takes.
//
// One pool feeds all slots. Its capacity is the port's bound, and its exhaustion the back-pressure.
// A batch is full when its block is, when its records own `heap_bytes_max` on the heap, or, where
// one of several consumers gets it, when its records are work enough for one. A port therefore
// holds at most capacity * (block_bytes + heap_bytes_max), and one record more in each
// block if records are larger than that. A node checks `spare()` before a record that may need a
// block, and stops there without one. A single record whose fan-out needs more than the spare block
// is finished on blocks in debt.
//
// Threads: only the task of the node; last_sent() and pool_counters(): any. Invariant: records
// leave a slot in the order they came.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/base/watermark.hpp>
#include <strid/engine/kernel/link.hpp>
#include <strid/engine/kernel/perturbation.hpp>
#include <strid/engine/kernel/sample_choice.hpp>
#include <strid/engine/kernel/split_clock.hpp>
#include <strid/engine/memory/block_pool.hpp>
#include <strid/state/bytes.hpp>

namespace strid::operators {

/// How a slot chooses a link for each batch.
enum class SendPolicy : std::uint8_t {
    one,           ///< The slot has one link.
    least_loaded,  ///< The link with the fewest batches waiting, round robin among equals.
    /// Every link: one shared batch, one reference per link (multicast). All links carry the same
    /// records and the same progress in the same order.
    all
};

/// The output of one record has no end: it has reached `PortSizes::debt_bytes_max`. Not an
/// OperatorError yet, because the port does not know the operator.
class FanOutError : public Error {
  public:
    explicit FanOutError(std::size_t bytes_max);
};

/// The default bound of the unread output that one record may produce.
inline constexpr std::size_t fan_out_bytes_max = std::size_t{1} << 30;

/// The default bound of what the records of one batch may own outside its block.
inline constexpr std::size_t batch_heap_bytes = std::size_t{256} << 10;

/// Sizes of a port, chosen by the planner.
struct PortSizes {
    std::size_t block_bytes = std::size_t{32} << 10;  ///< One block, headers included.
    std::size_t heap_bytes_max = batch_heap_bytes;    ///< Beyond it, a batch is full.
    std::size_t blocks_per_link = 4;                  ///< In flight to one consumer.
    std::size_t ring_capacity = 0;                    ///< 0: room for the whole pool.
    std::uint64_t perturbation_seed = 0;              ///< 0: none.
    bool readers_keep_lines = false;                  ///< See message::release().
    std::size_t debt_bytes_max = fan_out_bytes_max;   ///< Blocks beyond the capacity.
};

class OutputPort {
  public:
    struct Slot {
        std::byte* cursor = nullptr;  ///< The address of the next record.
        std::byte* end = nullptr;     ///< cursor == end: renew before writing.
        memory::Block* batch = nullptr;
        std::size_t first_link = 0;
        std::size_t link_count = 0;
        std::int64_t opened_ns = 0;  ///< When the run that opened the batch began.
        std::size_t next_link = 0;   ///< Where least_loaded begins its search.
        SendPolicy policy = SendPolicy::one;
        bool below_watermark = false;  ///< For the present batch, or else for the next.
        float record_ns = 0;           ///< least_loaded: the time of a record; 0: unknown.
        std::size_t heap_bytes = 0;    ///< Of the batch's records, outside the block.

        /// Each batch goes to one of several consumers.
        [[nodiscard]] bool deals_out() const noexcept {
            return policy == SendPolicy::least_loaded && link_count > 1;
        }
    };
    /// The size of the port's records, and how a batch of them is destroyed.
    struct RecordType {
        std::size_t bytes;
        void (*destroy)(message::BatchHeader&) noexcept;
    };
    struct SlotShape {
        std::size_t links;
        SendPolicy policy;
    };

    OutputPort(RecordType type, const std::vector<SlotShape>& slots, const PortSizes& sizes);
    OutputPort(const OutputPort&) = delete;
    OutputPort& operator=(const OutputPort&) = delete;
    ~OutputPort();

    [[nodiscard]] std::size_t slot_count() const noexcept { return slots_.size(); }
    /// How many records fill a batch for each slot.
    [[nodiscard]] std::size_t room() const noexcept { return slots_.size() * records_per_batch_; }
    [[nodiscard]] std::size_t link_count() const noexcept { return links_.size(); }
    /// The links of slot s are [first_link, first_link + link_count) in the order of the shapes.
    [[nodiscard]] Link& link(std::size_t index) noexcept { return *links_[index]; }
    [[nodiscard]] Slot& slot(std::size_t index) noexcept { return slots_[index]; }

    /// True while one more record may be started.
    [[nodiscard]] bool spare() const noexcept { return spare_; }
    /// Checks again for a spare block, and sends batches that waited for room in a ring.
    bool refresh();
    /// Before waiting for `spare()`: requests a wake-up. False if there is a spare block after all.
    [[nodiscard]] bool await_spare();

    /// The node's clock of sampled batches. Batches opened while it is on belong to the sample.
    void sample_with(SplitClock& clock) noexcept { clock_ = &clock; }
    /// The sampled batch is finished: `sample` is its time until now, for the batches not yet sent.
    void settle_samples(const message::BatchSample& sample) noexcept;

    /// Sends a full slot's batch and gives the slot an empty one, in debt if need be. Throws
    /// FanOutError if the debt is too large.
    void renew(Slot& slot);
    /// The record just written owns `bytes` outside the block: at `heap_bytes_max` the batch is
    /// full, whatever room the block has left.
    void count_heap(Slot& slot, std::size_t bytes) noexcept {
        slot.heap_bytes += bytes;
        if (slot.heap_bytes >= heap_bytes_max_) slot.end = slot.cursor;
    }

    /// The node starts a run, at now_ns() = `start_ns`.
    void begin_run(std::int64_t start_ns) noexcept { run_began_ns_ = start_ns; }
    /// The ingress time of the input from which the next records derive.
    void begin_input(std::int64_t ingress_ns) noexcept { ingress_ns_ = ingress_ns; }
    void keep_alive(const memory::TextReference& text);
    void keep_alive(const message::BatchHeader& input);
    /// Keeps one more text alive to which the records refer. False, and not kept, if the batch
    /// would keep too many.
    [[nodiscard]] bool keep_alive_too(const memory::TextReference& text);
    /// The records refer to no text of the input.
    void forget_texts() noexcept { texts_.clear(); }
    /// Every batch sent from now on belongs to this place in the order (for `ordered`).
    void begin_sequence(std::uint64_t sequence) noexcept {
        sequence_ = sequence;
        numbered_ = true;
    }
    /// Sends the last batch of the sequence, an empty one if need be. Single-slot ports only.
    void end_sequence();
    /// Numbers the batches as they are sent: the start of an ordered section.
    void stamp_sequences() noexcept { stamps_ = true; }

    /// The watermark of the stream: every batch sent from now on carries it.
    void set_progress(const Progress& progress) noexcept { progress_ = progress; }
    /// The same at once and over all links, because one of the next records is below it and must be
    /// late at every consumer.
    void assert_progress(const Progress& progress);
    /// The same with the present watermark, for a batch that derives from one with a late record.
    void assert_progress_again() { assert_progress(progress_); }

    /// The end of a run of the node: sends filled batches if the producer is `idle`, or if the
    /// consumer is hungry and the batch is large enough or has waited long enough (design note
    /// 0003). A consumer that gets no batch gets the watermark in an empty one. Notifies the
    /// consumers of all that was sent. False if an idle producer is not done: an empty batch lacked
    /// a block, or a batch waits for room in a ring.
    bool publish(bool idle);
    /// Sends all records: the place in the order is then that of the next ones.
    void send_records() { send_filled(true); }
    /// Sends a barrier over each link. False while a block is missing: call again.
    [[nodiscard]] bool send_barriers();
    /// All batches are sent and the links closed. False while a ring has no room: try again.
    [[nodiscard]] bool close();

    [[nodiscard]] memory::PoolCounters pool_counters() const noexcept { return pool_.counters(); }
    /// The watermark that was sent last; idle also when the port is closed. Any thread.
    [[nodiscard]] Progress last_sent() const noexcept {
        return {EventTime::of_ns(last_sent_ns_.load(std::memory_order_relaxed)),
                last_sent_idle_.load(std::memory_order_relaxed)};
    }

  private:
    [[nodiscard]] memory::Block& lease_in_debt();
    void hold(const memory::TextReference& text, std::size_t most);
    void send(Slot& slot, bool ends_sequence = false);
    void push(std::size_t link, memory::Block& batch);
    void hand_over(std::size_t link, memory::Block& batch);
    void push_to_all(const Slot& slot, memory::Block& batch);
    void send_filled(bool idle);
    [[nodiscard]] bool send_progress(Slot& slot, bool idle);
    [[nodiscard]] bool send_progress_together(Slot& slot, bool idle);
    [[nodiscard]] bool send_progress_to_all(bool idle);
    void announce();
    void send_empty(std::size_t link, memory::Block& block);
    bool drain_overflow();
    [[nodiscard]] bool hungry(const Slot& slot) const noexcept;
    [[nodiscard]] bool worth_sending(const Slot& slot) const noexcept;
    std::size_t least_loaded(Slot& slot) const noexcept;
    void open(Slot& slot, memory::Block& block) noexcept;
    [[nodiscard]] std::size_t records_to_deal(Slot& slot) const noexcept;
    void exchange(Slot& slot);
    void renew_in_sample(Slot& slot);
    void stamp(message::BatchSample& sample) noexcept;

    RecordType type_;
    std::size_t records_per_batch_;
    memory::BlockPool pool_;
    std::size_t heap_bytes_max_;
    std::size_t debt_bytes_max_;
    std::size_t heap_in_debt_ = 0;  // of batches sent since there was no spare block
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<Slot> slots_;
    /// Batches that found a ring full, per link; a port with any of them has no spare block.
    std::vector<std::deque<memory::Block*>> overflow_;
    std::vector<bool> announce_;
    std::size_t overflowing_ = 0;
    Progress progress_;
    std::vector<Progress> sent_progress_;    // per link: the last watermark sent
    std::vector<std::int64_t> sent_run_ns_;  // and in which run
    // Over any link. Relaxed: only reports read them.
    std::atomic<std::int64_t> last_sent_ns_{EventTime::earliest().ns()};
    std::atomic<bool> last_sent_idle_{false};
    bool spare_ = true;
    bool stamps_ = false;
    bool numbered_ = false;  // batches belong to sequences: no other may come between
    std::uint64_t sequence_ = 0;
    std::size_t barriers_sent_ = 0;  // of the present snapshot
    std::int64_t run_began_ns_ = 0;
    std::int64_t ingress_ns_ = message::no_ingress;
    std::vector<memory::TextReference> texts_;
    SplitClock* clock_;
    SampleChoice choice_;  // of batches that derive from no sampled batch
    Perturbation perturbation_;
};

}  // namespace strid::operators
