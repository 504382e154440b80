// SPDX-License-Identifier: Apache-2.0
//
// Joins branches that have one record for each call: the n-th records of a shard from all branches
// belong to the n-th call of the shard, as each branch has the calls of a shard in their order. So
// a join is a queue, and no table of calls is needed.
//
// Invariant: entry i of a queue is complete before entry i + 1. The length of a queue is how far
// one branch is ahead of another: no more than the edges between them hold. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/operator/contract.hpp>

#include "call.hpp"
#include "shard_table.hpp"

namespace strid::apps::voip_stream {

/// The result of a branch for a call.
struct Part {
    Key calling;
    Key called;
    double value;
    std::uint32_t start;
    std::uint32_t branch;  ///< of the join that it goes to
};

/// The calls of one shard of which not all parts have come.
template <std::size_t branches>
class PartQueue {
  public:
    using Values = std::array<double, branches>;

    /// Calls `complete(values)` where this is the last part of a call.
    template <class Complete>
    void add(const Part& part, Complete&& complete) {
        std::uint64_t& next = next_[part.branch];
        if (next == end_) {
            if (end_ - begin_ == entries_.size()) grow();
            entry(end_++).missing = branches;
        }
        Entry& one = entry(next++);
        one.values[part.branch] = part.value;
        if (--one.missing > 0) return;
        const Values values = one.values;
        ++begin_;
        complete(values);
    }

    void save(StateWriter& writer) const {
        state::save(writer, std::tie(entries_, begin_, end_, next_));
    }
    void load(StateReader& reader) {
        auto parts = std::tie(entries_, begin_, end_, next_);
        state::load(reader, parts);
        if (entries_.empty() || end_ - begin_ > entries_.size()) reader.refuse("is no queue");
    }

  private:
    struct Entry {
        Values values;
        std::size_t missing;
    };

    [[nodiscard]] Entry& entry(std::uint64_t number) noexcept {
        return entries_[number % entries_.size()];
    }
    void grow() {
        std::vector<Entry> larger(2 * entries_.size());
        for (std::uint64_t i = begin_; i != end_; ++i) larger[i % larger.size()] = entry(i);
        entries_ = std::move(larger);
    }

    std::vector<Entry> entries_ = std::vector<Entry>(64);  // a power of two
    std::uint64_t begin_ = 0;                              // of the calls that wait
    std::uint64_t end_ = 0;
    std::array<std::uint64_t, branches> next_{};  // the call that a branch is at
};

/// Behind a key_by(ShardOfCaller{}): `make(part, values)` gives what is emitted of a call.
template <std::size_t branches, class Out, class Make>
class BranchJoin : public OperatorTypes<message::Hashed<Part>, Out> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "branch-join", .emits = Emits::at_most_one, .hears = events<>, .only_reads = true};

    explicit BranchJoin(Make make) : make_(std::move(make)) {}

    void process(const message::Hashed<Part>& arrived, auto& emit) {
        const Part& part = arrived.record;
        auto& queue = queues_.find_or_make(ShardOfCaller{}(part));
        queue.add(part, [&](const auto& values) { emit(make_(part, values)); });
    }
    auto state() { return saved_shards(queues_); }

  private:
    Make make_;
    ShardTable<PartQueue<branches>> queues_;
};

template <std::size_t branches, class Out, class Make>
[[nodiscard]] auto branch_join(Make make) {
    return BranchJoin<branches, Out, Make>(std::move(make));
}

}  // namespace strid::apps::voip_stream
