// SPDX-License-Identifier: Apache-2.0
//
// One edge between two replicas: batches go forward through a bounded ring, and their blocks come
// home through a return lane of the producer's pool.
//
// Threads: the producer's task sends and closes; the consumer's task receives and gives back. A
// task is stepped by one thread at a time, so each side of the ring and of the lane is used by one
// thread.
//
// Invariant: a batch is in exactly one place: the producer's slot or overflow, the ring, the
// consumer's hands, or (as a free block) the lane and the pool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/engine/kernel/record_cost.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/runtime/task.hpp>

namespace strid::operators {

class Link {
  public:
    /// `lane` is this link's return lane in `pool`, which must outlive the link.
    /// `owned_record_bytes` is as in message::release(). The pool has `blocks` for this link.
    Link(std::size_t ring_capacity, memory::BlockPool& pool, std::size_t lane,
         std::size_t owned_record_bytes, std::size_t blocks)
        : ring_(ring_capacity),
          pool_(&pool),
          lane_(lane),
          owned_record_bytes_(owned_record_bytes),
          share_(std::max<std::size_t>(blocks, 2) - 1) {}
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link();

    /// Sets the tasks at the two ends. Links inside one task notify no task.
    void connect(runtime::Task* producer, runtime::Task* consumer) noexcept;

    /// The index of this link among the inputs of its consumer.
    void set_input(std::size_t input) noexcept { input_ = input; }
    [[nodiscard]] std::size_t input() const noexcept { return input_; }

    // The producer's side.
    [[nodiscard]] channel::PushResult send(memory::Block& batch) noexcept {
        return ring_.try_push(&batch);
    }
    void close() noexcept { ring_.close(); }
    /// Notifies the consumer's task of sent batches or of the end.
    void announce() noexcept {
        if (crosses_tasks_) consumer_->notify();
    }
    /// True if the consumer has nothing left to do; approximate.
    [[nodiscard]] bool hungry() const noexcept { return ring_.empty(); }
    [[nodiscard]] std::size_t queued() const noexcept { return ring_.size(); }
    /// How many batches may wait while the consumer holds one; more if other links of the pool use
    /// fewer.
    [[nodiscard]] std::size_t share() const noexcept { return share_; }
    /// The consumer shall measure its records. Before the run.
    void measure() noexcept { measured_ = true; }
    /// The time of a record at the consumer, in nanoseconds; 0: not known yet.
    [[nodiscard]] float record_ns() const noexcept { return cost_.mean_ns(); }

    // The consumer's side.
    [[nodiscard]] channel::PopResult receive(memory::Block*& batch) noexcept {
        return ring_.try_pop(batch);
    }
    /// Closed, and all batches were received.
    [[nodiscard]] bool drained() noexcept { return ring_.drained(); }
    /// The batch that waits first, which stays in the ring; or null.
    [[nodiscard]] memory::Block* front() noexcept;
    /// Records of this link took so long.
    void worked(std::int64_t work_ns, std::uint64_t records) noexcept {
        if (measured_ && records != 0) [[unlikely]]
            cost_.add(work_ns, records);
    }
    /// Releases a received batch and wakes a producer that waits for blocks.
    void give_back(memory::Block& batch) noexcept;

  private:
    channel::SpscRing<memory::Block*> ring_;
    memory::BlockPool* pool_;
    std::size_t lane_;
    std::size_t owned_record_bytes_;
    std::size_t share_;
    std::size_t input_ = 0;
    runtime::Task* producer_ = nullptr;
    runtime::Task* consumer_ = nullptr;
    bool crosses_tasks_ = false;
    bool measured_ = false;
    RecordCost cost_;
};

}  // namespace strid::operators
