// SPDX-License-Identifier: Apache-2.0
#include "group.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

namespace strid::kafka {

namespace {

/// From one call of serve() to the next, at most so much counts: the graph has held the source back
/// for the rest. With all that is taken at a time a second has more text than a graph may hold.
constexpr std::int64_t idle_ns_most = 100'000'000;
constexpr std::int64_t busy_ns_most = 10'000'000;
constexpr std::int64_t mark_ns_least = 50'000'000;
constexpr int marks_in_settling = 8;
constexpr int question_ms = 1'000;
constexpr std::int64_t last_commit_ns = 10'000'000'000;
constexpr int answer_ms = 10;

Settings settings_of_member(const std::string& group) {
    return {{"group.id", group},
            {"partition.assignment.strategy", "cooperative-sticky"},
            {"enable.partition.eof", "true"},
            {"enable.auto.commit", "false"},
            {"enable.auto.offset.store", "false"},
            {"auto.offset.reset", "error"},
            {"isolation.level", "read_committed"},
            {"allow.auto.create.topics", "false"}};
}

/// The member is none any more, or the group is between two assignments: partitions that it has
/// lost are told of, and others are committed later.
bool is_of_rebalance(::rd_kafka_resp_err_t error) noexcept {
    return error == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS ||
           error == RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION ||
           error == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID ||
           error == RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED ||
           error == RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST || error == RD_KAFKA_RESP_ERR__STATE ||
           error == RD_KAFKA_RESP_ERR__NO_OFFSET || error == RD_KAFKA_RESP_ERR__WAIT_COORD;
}

struct EndsError {
    void operator()(::rd_kafka_error_t* one) const noexcept { ::rd_kafka_error_destroy(one); }
};
using Refusal = std::unique_ptr<::rd_kafka_error_t, EndsError>;

}  // namespace

Group::Group(Topic topic, Options options, RunScope* run)
    : topic_(std::move(topic)), options_(std::move(options)), run_(run) {
    const auto failed = [](::rd_kafka_t*, int code, const char* text, void* self) {
        auto* const group = static_cast<Group*>(self);
        group->reach_.note_failure(group->topic_, code, text);
    };
    client_ = make_client(RD_KAFKA_CONSUMER, topic_, settings_of_member(options_.name),
                          {.failed = failed,
                           .rebalanced = &note_change,
                           .committed = &note_commit,
                           .self = this,
                           .joining = &joining_});
    ::rd_kafka_poll_set_consumer(client_.get());
    (void)partitions_of(client_.get(), topic_, broker_wait_ms);
    const Partitions wanted(::rd_kafka_topic_partition_list_new(1));
    ::rd_kafka_topic_partition_list_add(wanted.get(), topic_.name.c_str(), RD_KAFKA_PARTITION_UA);
    const auto error = ::rd_kafka_subscribe(client_.get(), wanted.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic_, error, "");
    served_at_ns_ = now_ns();
}

Group::~Group() {
    leave();
}

/// By a call of this thread, and of C: serve() does the rest, which may throw.
void Group::note_change(::rd_kafka_t* /*client*/, ::rd_kafka_resp_err_t code,
                        ::rd_kafka_topic_partition_list_t* list, void* self) {
    auto* const group = static_cast<Group*>(self);
    Change change{.comes = code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS,
                  .list = Partitions(::rd_kafka_topic_partition_list_copy(list))};
    if (group->is_leaving_) return group->answer(change);
    group->changes_.push_back(std::move(change));
}

void Group::note_commit(::rd_kafka_t* /*client*/, ::rd_kafka_resp_err_t code,
                        ::rd_kafka_topic_partition_list_t* list, void* self) {
    auto* const group = static_cast<Group*>(self);
    group->is_committing_ = false;
    group->answer_ = code;
    for (int i = 0; list != nullptr && i != list->cnt; ++i) {
        const auto found = group->partitions_.find(list->elems[i].partition);
        const bool is_there = code == RD_KAFKA_RESP_ERR_NO_ERROR &&
                              list->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR &&
                              found != group->partitions_.end();
        if (!is_there) continue;
        found->second.committed = std::max(found->second.committed, list->elems[i].offset);
    }
}

void Group::check(::rd_kafka_resp_err_t error) const {
    if (may_pass(error) || is_of_rebalance(error)) return;
    if (error == RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL) {
        throw InputOutputError(fmt::format(
            "{}: the group '{}' has members that share out partitions in another way: all of them "
            "need partition.assignment.strategy=cooperative-sticky",
            topic_.address, options_.name));
    }
    fail(topic_, error, fmt::format("group '{}': ", options_.name));
}

void Group::serve() {
    const std::int64_t now = now_ns();
    const std::int64_t most = std::exchange(has_taken_, false) ? busy_ns_most : idle_ns_most;
    active_ns_ += std::min(now - std::exchange(served_at_ns_, now), most);
    (void)reach_.look(client_.get(), topic_, false);
    if (answer_ != RD_KAFKA_RESP_ERR_NO_ERROR) check(answer_);
    settle();
    while (!changes_.empty()) {
        Change& change = changes_.front();
        try {
            if (change.comes) begin(*change.list);
        } catch (const ConnectionLost&) {
            return;  // they are begun later
        }
        if (!change.comes && !may_go(*change.list)) return;
        if (!change.comes) let_go(*change.list);
        answer(change);
        changes_.pop_front();
    }
}

/// Where the group has no offset of a partition, it begins as the address says.
void Group::begin(::rd_kafka_topic_partition_list_t& list) {
    const auto error = ::rd_kafka_committed(client_.get(), &list, question_ms);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic_, error, "");
    for (int i = 0; i != list.cnt; ++i) begin_one(list.elems[i]);
}

void Group::begin_one(::rd_kafka_topic_partition_t& one) {
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic_, one.err, "");
    const std::int64_t committed = std::max<std::int64_t>(one.offset, -1);
    const Edges edges = edges_of(client_.get(), topic_, one.partition, question_ms);
    one.offset = committed;
    if (committed < 0) {
        one.offset = options_.start.offset(client_.get(), topic_, one.partition, edges);
    } else if (committed < edges.first || committed > edges.behind) {
        one.offset = edges.first;
        if (run_ != nullptr) {
            run_->warn(fmt::format(
                "{}: the group '{}' goes on at offset {} of partition {}, which has {} to {} now: "
                "{}",
                topic_.address, options_.name, committed, one.partition, edges.first, edges.behind,
                committed < edges.first
                    ? "the messages between are gone"
                    : "it was made anew or has lost its end, and is read from its first message"));
        }
    }
    partitions_[one.partition] = {.assignment = ++assignments_,
                                  .next = one.offset,
                                  .passed = one.offset,
                                  .committed = one.offset == committed ? committed : -1};
}

/// A partition that is lost has another member already.
bool Group::may_go(const ::rd_kafka_topic_partition_list_t& list) {
    if (::rd_kafka_assignment_lost(client_.get()) != 0) return true;
    bool may = true;
    for (int i = 0; i != list.cnt; ++i) {
        const auto found = partitions_.find(list.elems[i].partition);
        if (found == partitions_.end()) continue;
        Partition& one = found->second;
        one.is_to_go = true;
        may = may && one.handed == 0 && one.committed >= one.next;
    }
    return may;
}

void Group::let_go(const ::rd_kafka_topic_partition_list_t& list) {
    for (int i = 0; i != list.cnt; ++i) {
        partitions_.erase(list.elems[i].partition);
        for (Mark& mark : marks_) mark.passed.erase(list.elems[i].partition);
    }
}

/// A refusal means that there was another change since, which comes next.
void Group::answer(const Change& change) noexcept {
    const Refusal refusal(change.comes
                              ? ::rd_kafka_incremental_assign(client_.get(), change.list.get())
                              : ::rd_kafka_incremental_unassign(client_.get(), change.list.get()));
}

const Group::Place* Group::take(std::int32_t partition, std::int64_t offset) {
    const auto found = partitions_.find(partition);
    if (found == partitions_.end()) return nullptr;
    Partition& one = found->second;
    if (one.is_to_go || offset < one.next) return nullptr;
    one.next = offset + 1;
    one.place = {partition, offset, one.assignment};
    return &one.place;
}

void Group::skip_to(std::int32_t partition, std::int64_t offset) {
    const auto found = partitions_.find(partition);
    if (found == partitions_.end() || found->second.is_to_go) return;
    found->second.next = std::max(found->second.next, offset);
}

void Group::passed(const Place& place) {
    const auto found = partitions_.find(place.partition);
    if (found == partitions_.end() || found->second.assignment != place.assignment) return;
    found->second.passed = place.offset + 1;
    --found->second.handed;
}

/// Rows are on their way for as long as the last ones took: they wait behind them, also where
/// nothing comes any more.
std::int64_t Group::way_ns(std::int64_t settle_ns) const noexcept {
    std::int64_t begin = served_at_ns_;
    for (auto mark = marks_.rbegin(); mark != marks_.rend(); ++mark) {
        begin = mark->at_ns;
        if (active_ns_ - mark->active_ns >= settle_ns) break;
    }
    return served_at_ns_ - begin;
}

void Group::settle() {
    using namespace std::chrono;
    const std::int64_t settle_ns = nanoseconds(options_.settle).count();
    const std::int64_t apart_ns = std::max(settle_ns / marks_in_settling, mark_ns_least);
    if (!marks_.empty() && active_ns_ - marks_.back().active_ns < apart_ns) return;
    Mark mark{.at_ns = served_at_ns_,
              .active_ns = active_ns_,
              .due_ns = served_at_ns_ + way_ns(settle_ns)};
    for (auto& [number, one] : partitions_) {
        if (one.handed == 0) one.passed = one.next;  // but for messages that are no rows
        mark.passed[number] = one.passed;
    }
    marks_.push_back(std::move(mark));
    const auto is_over = [&](const Mark& one) {
        return active_ns_ - one.active_ns >= settle_ns && served_at_ns_ >= one.due_ns;
    };
    while (!marks_.empty() && is_over(marks_.front())) {
        for (const auto& [number, passed] : marks_.front().passed) {
            partitions_.at(number).settled = passed;
        }
        marks_.pop_front();
    }
    (void)send_offsets();
}

/// False: the broker has all that are settled.
bool Group::send_offsets() {
    const Partitions list(
        ::rd_kafka_topic_partition_list_new(static_cast<int>(partitions_.size())));
    for (const auto& [number, one] : partitions_) {
        if (one.settled <= one.committed) continue;
        ::rd_kafka_topic_partition_list_add(list.get(), topic_.name.c_str(), number)->offset =
            one.settled;
    }
    if (list->cnt == 0) return false;
    // One that waits for a broker would keep the client from its end, for up to a minute.
    if (is_committing_ || joining_.goes_on() || !reach_.lost.empty()) return true;
    is_committing_ = ::rd_kafka_commit(client_.get(), list.get(), 1) == RD_KAFKA_RESP_ERR_NO_ERROR;
    return true;
}

/// All rows have come through, so that those that were emitted are settled.
void Group::finish() {
    for (auto& [number, one] : partitions_) {
        one.settled = one.handed == 0 ? one.next : one.passed;
    }
    const std::int64_t until = now_ns() + last_commit_ns;
    const auto may_come = [&] {
        const bool is_for_now = may_pass(answer_) || answer_ == RD_KAFKA_RESP_ERR_NO_ERROR ||
                                answer_ == RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS;
        return is_for_now && now_ns() < until;
    };
    answer_ = RD_KAFKA_RESP_ERR_NO_ERROR;
    bool is_left = true;
    while ((is_left = send_offsets()) && may_come()) {
        // The answer comes here, and the client joins the group once more where it must.
        const Message message(::rd_kafka_consumer_poll(client_.get(), answer_ms));
        (void)reach_.look(client_.get(), topic_, false);
    }
    leave();
    if (!is_left) return;
    throw InputOutputError(fmt::format(
        "{}: the last offsets of the group '{}' were not committed, and their messages come once "
        "more: {}",
        topic_.address, options_.name,
        answer_ == RD_KAFKA_RESP_ERR_NO_ERROR ? "no broker answers" : ::rd_kafka_err2str(answer_)));
}

void Group::leave() noexcept {
    if (std::exchange(is_leaving_, true)) return;
    for (; !changes_.empty(); changes_.pop_front()) answer(changes_.front());
    if (client_ != nullptr) ::rd_kafka_consumer_close(client_.get());
    client_.reset();
}

}  // namespace strid::kafka
