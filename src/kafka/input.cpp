// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

namespace strid::kafka {

namespace {

constexpr char within_message = '>';

Settings settings_of_reader() {
    return {{"group.id", "strid"},  // which is not joined
            {"enable.partition.eof", "true"},
            {"max.poll.interval.ms", "86400000"},  // the graph may be held back for hours
            {"enable.auto.commit", "false"},
            {"enable.auto.offset.store", "false"},
            {"auto.offset.reset", "error"},
            {"isolation.level", "read_committed"},
            {"allow.auto.create.topics", "false"}};
}

}  // namespace

TopicInput::Part::Part(TransportAddress& address) : start(address), text(address) {
    for (const std::string& one : address.take_list("partition")) {
        std::int32_t number = 0;
        if (!read_number(one, number) || number < 0) {
            address.refuse(fmt::format("'{}' is no number of a partition", one));
        }
        partitions.push_back(number);
    }
    until_end = detail::take_until_end(address);
}

TopicInput::TopicInput(TransportAddress address) : part_(address), topic_(address) {
    const auto failed = [](::rd_kafka_t*, int code, const char* text, void* self) {
        auto* const input = static_cast<TopicInput*>(self);
        input->reach_.note_failure(input->topic_, code, text);
    };
    client_ = make_client(RD_KAFKA_CONSUMER, topic_, settings_of_reader(),
                          {.failed = failed, .self = this});
    ::rd_kafka_poll_set_consumer(client_.get());
    queue_.reset(::rd_kafka_queue_get_consumer(client_.get()));
    const auto all = partitions_of(client_.get(), topic_, broker_wait_ms);
    for (const std::int32_t partition : part_.partitions.empty() ? all : part_.partitions) {
        if (std::find(all.begin(), all.end(), partition) == all.end()) {
            throw InputOutputError(
                fmt::format("{}: there is no partition {}", topic_.address, partition));
        }
        next_[partition] = first_offset(partition);
    }
}

TopicInput::~TopicInput() {
    queue_.reset();
    if (client_ != nullptr) ::rd_kafka_consumer_close(client_.get());
}

/// Of a partition that is read from its start; with until=end also notes where it ends.
std::int64_t TopicInput::first_offset(std::int32_t partition) {
    const Edges edges = edges_of(client_.get(), topic_, partition);
    if (part_.until_end) ends_[partition] = edges.behind;
    return part_.start.offset(client_.get(), topic_, partition, edges);
}

void TopicInput::go_on_at(std::string_view position) {
    std::map<std::int32_t, std::int64_t> offsets;
    const bool is_within = position.starts_with(within_message);
    std::string_view rest = position.substr(is_within ? 1 : 0);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        const std::string_view one = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const std::size_t colon = std::min(one.find(':'), one.size());
        std::int32_t partition = 0;
        std::int64_t offset = 0;
        if (colon == one.size() || !read_number(one.substr(0, colon), partition) ||
            !read_number(one.substr(colon + 1), offset)) {
            throw InputOutputError(topic_.address + ": the snapshot has no position of a topic");
        }
        if (is_within && offsets.empty()) alone_ = partition;
        offsets[partition] = offset;
    }
    position_ = position;
    for (auto& [partition, next] : next_) {
        // It was added behind the snapshot: all of it is new.
        if (!offsets.contains(partition)) next = edges_of(client_.get(), topic_, partition).first;
    }
    for (const auto& [partition, offset] : offsets) {
        const auto found = next_.find(partition);
        if (found == next_.end()) {
            throw InputOutputError(
                fmt::format("{}: partition {}, which was read before the snapshot, is not read now",
                            topic_.address, partition));
        }
        const auto [low, high] = edges_of(client_.get(), topic_, partition);
        if (offset < low || offset > high) {
            throw InputOutputError(fmt::format(
                "{}: the run goes on at offset {} of partition {}, which has {} to {} now: the "
                "messages between are gone; --restart begins anew",
                topic_.address, offset, partition, low, high));
        }
        found->second = offset;
    }
}

void TopicInput::begin() {
    if (std::exchange(has_begun_, true)) return;
    passed_ = next_;
    if (alone_ < 0) return assign(next_);
    const auto one = *next_.find(alone_);
    assign({one});
}

void TopicInput::assign(const std::map<std::int32_t, std::int64_t>& offsets) {
    const Partitions list(::rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
    for (const auto& [partition, offset] : offsets) {
        const auto end = ends_.find(partition);
        if (end != ends_.end() && offset >= end->second) continue;
        ::rd_kafka_topic_partition_list_add(list.get(), topic_.name.c_str(), partition)->offset =
            offset;
    }
    const auto error = ::rd_kafka_assign(client_.get(), list.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic_, error, "");
}

/// Partitions that were added since are read from their beginning.
void TopicInput::look_for_partitions() {
    const bool may_be_new = part_.partitions.empty() && !part_.until_end;
    const auto found = reach_.look(client_.get(), topic_, may_be_new);
    if (!found || !may_be_new) return;
    bool is_new = false;
    for (const std::int32_t partition : *found) {
        if (next_.emplace(partition, 0).second) {
            passed_[partition] = 0;
            is_new = true;
        }
    }
    if (is_new) assign(next_);
}

bool TopicInput::is_at_end() const noexcept {
    if (!part_.until_end) return false;
    return std::all_of(ends_.begin(), ends_.end(),
                       [this](const auto& end) { return next_.at(end.first) >= end.second; });
}

void TopicInput::take(const ::rd_kafka_message_t& message) {
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        const auto error = message.err;
        if (error == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
            next_[message.partition] = std::max(next_[message.partition], message.offset);
            pass_gap(message.partition, message.offset);
            if (const auto end = ends_.find(message.partition); end != ends_.end()) {
                end->second = message.offset;  // what lies behind it is not committed
            }
            return;
        }
        if (error == RD_KAFKA_RESP_ERR__TRANSPORT || error == RD_KAFKA_RESP_ERR__TIMED_OUT ||
            error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
            return;  // librdkafka connects again by itself
        }
        fail(topic_, error, fmt::format("partition {}: ", message.partition));
    }
    reach_.lost.clear();
    const auto end = ends_.find(message.partition);
    if (end != ends_.end() && message.offset >= end->second) {
        next_[message.partition] = std::max(next_[message.partition], end->second);
        return;
    }
    // A message of an assignment before this one comes once more.
    if (message.offset < next_[message.partition]) return;
    next_[message.partition] = message.offset + 1;
    if (!part_.text.append(rows_.text(), message)) return;
    rows_.end_row({message.partition, message.offset});
}

/// Nothing but marks of transactions, and messages without a value, lies before the offset.
void TopicInput::pass_gap(std::int32_t partition, std::int64_t offset) {
    const bool is_handed =
        std::any_of(rows_.rows().begin(), rows_.rows().end(),
                    [&](const auto& one) { return one.place.partition == partition; });
    if (!is_handed && partition != alone_) {
        passed_[partition] = std::max(passed_[partition], offset);
    }
}

void TopicInput::fetch(int wait_ms) {
    begin();
    look_for_partitions();
    if (Message first{::rd_kafka_consumer_poll(client_.get(), wait_ms)}) take(*first);
    if (alone_ >= 0) {
        const bool has_come = next_[alone_] > passed_[alone_] || is_at_end();
        if (!has_come) return;
        alone_ = -1;
        assign(next_);
    }
    take_waiting(queue_.get(), rows_.text(), [this](const auto& message) { take(message); });
}

ByteReader::Result TopicInput::read(std::span<char> out, int wait_ms) {
    return rows_.read(out, [this, wait_ms] {
        if (!has_begun_ || !is_at_end()) fetch(wait_ms);
        return !is_at_end();
    });
}

void TopicInput::passed(std::uint64_t bytes) {
    rows_.pass(bytes, [this](const Place& place) { passed_[place.partition] = place.offset + 1; });
}

TransportInput::Position TopicInput::position(std::uint64_t bytes) {
    // The message that the place is in has not come again.
    if (alone_ >= 0 && rows_.rows().empty()) return {.text = position_, .bytes = 0};
    if (!has_begun_) passed_ = next_;
    passed(bytes);
    Position position{.bytes = bytes};
    const auto add = [&position](std::int32_t partition, std::int64_t offset) {
        position.text +=
            fmt::format("{}{}:{}", position.text.empty() ? "" : " ", partition, offset);
    };
    std::int32_t first = -1;
    if (const auto* const row = rows_.begun_within(bytes)) {
        first = row->place.partition;
        position.bytes = row->begin;
        add(first, row->place.offset);
        position.text.insert(position.text.begin(), within_message);
    }
    for (const auto& [partition, offset] : passed_) {
        if (partition != first) add(partition, offset);
    }
    return position;
}

}  // namespace strid::kafka
