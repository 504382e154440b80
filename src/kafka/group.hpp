// SPDX-License-Identifier: Apache-2.0
//
// A member of a consumer group: the partitions that it has, and the offsets that it commits. Shared
// by an input and its run, which commits the last offsets when all results are there. Threads: one
// at a time.
//
// A message is settled some time after its row was emitted: the graph has no other sign that it has
// come through, without snapshots. The time hardly counts while the graph holds the source back, so
// that one that stands still settles nothing, and a slow one only when more was emitted behind a
// row than it can hold.
//
// Invariant: no offset is committed behind a message that is not settled, but for the last ones of
// a run that has ended well. Partitions that are to go are kept, and not read, until all of their
// messages are settled and committed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <strid/operator/run_scope.hpp>

#include "start.hpp"
#include "topic.hpp"

namespace strid::kafka {

class Group final : public RunScope::Result {
  public:
    struct Options {
        std::string name;
        std::chrono::milliseconds settle{};
        Start start;
    };
    /// Of a message.
    struct Place {
        std::int32_t partition = 0;
        std::int64_t offset = 0;
        std::uint64_t assignment = 0;  // in which the partition came
    };

    /// Joins it. Throws GraphError, ConnectionLost and InputOutputError. The run is null, or
    /// outlives it.
    Group(Topic topic, Options options, RunScope* run);
    ~Group() override;

    [[nodiscard]] ::rd_kafka_t* client() const noexcept { return client_.get(); }
    [[nodiscard]] const Topic& topic() const noexcept { return topic_; }
    [[nodiscard]] Reach& reach() noexcept { return reach_; }

    /// Does what is to be done between two messages. Throws InputOutputError.
    void serve();
    /// Notes a message that is taken, as a row or not; null: it is not read.
    [[nodiscard]] const Place* take(std::int32_t partition, std::int64_t offset);
    /// The message is a row.
    void hand_out(const Place& place) {
        ++partitions_.at(place.partition).handed;
        has_taken_ = true;
    }
    /// There is no message before the offset that was not taken.
    void skip_to(std::int32_t partition, std::int64_t offset);
    /// The row of a message was emitted.
    void passed(const Place& place);
    /// Throws InputOutputError for what the broker says in the place of a message.
    void check(::rd_kafka_resp_err_t error) const;

    void commit() override {}
    void finish() override;
    void discard() noexcept override { leave(); }

  private:
    struct Partition {
        std::uint64_t assignment = 0;
        std::int64_t next = 0;        // offset of the next message to take
        std::int64_t passed = 0;      // all before it were emitted
        std::int64_t settled = -1;    // all before it are settled; -1: it is not known
        std::int64_t committed = -1;  // the broker has it; -1: none
        std::uint64_t handed = 0;     // rows that were not emitted
        bool is_to_go = false;
        Place place = {};  // of the message that was taken last
    };
    /// The partitions of a change, and whether they come.
    struct Change {
        bool comes = false;
        Partitions list;
    };
    /// How far each partition was emitted at a time.
    struct Mark {
        std::int64_t at_ns = 0;
        std::int64_t active_ns = 0;
        std::int64_t due_ns = 0;  // not before it, either
        std::map<std::int32_t, std::int64_t> passed = {};
    };

    static void note_change(::rd_kafka_t* client, ::rd_kafka_resp_err_t code,
                            ::rd_kafka_topic_partition_list_t* list, void* self);
    static void note_commit(::rd_kafka_t* client, ::rd_kafka_resp_err_t code,
                            ::rd_kafka_topic_partition_list_t* list, void* self);
    void begin(::rd_kafka_topic_partition_list_t& list);
    void begin_one(::rd_kafka_topic_partition_t& one);
    [[nodiscard]] bool may_go(const ::rd_kafka_topic_partition_list_t& list);
    void let_go(const ::rd_kafka_topic_partition_list_t& list);
    void answer(const Change& change) noexcept;
    [[nodiscard]] std::int64_t way_ns(std::int64_t settle_ns) const noexcept;
    void settle();
    bool send_offsets();
    void leave() noexcept;

    const Topic topic_;
    const Options options_;
    RunScope* const run_;
    Reach reach_;
    std::map<std::int32_t, Partition> partitions_;
    std::uint64_t assignments_ = 0;
    std::deque<Change> changes_;  // that were not answered
    bool is_leaving_ = false;     // changes are answered at once
    std::deque<Mark> marks_;
    std::int64_t active_ns_ = 0;  // for so long the source has asked for rows
    std::int64_t served_at_ns_ = 0;
    bool has_taken_ = false;  // since then
    bool is_committing_ = false;
    ::rd_kafka_resp_err_t answer_ = RD_KAFKA_RESP_ERR_NO_ERROR;  // to the last commit
    Joining joining_;  // meanwhile no offsets are committed
    Client client_;    // whose callbacks use the others, also at its end
};

}  // namespace strid::kafka
