// SPDX-License-Identifier: Apache-2.0
#include "group_input.hpp"

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <strid/connector/run_of_input.hpp>
#include <strid/engine/connector/address_options.hpp>

namespace strid::kafka {

namespace {

constexpr std::chrono::milliseconds settle_usual{1'000};

/// Takes the options of the group, and refuses those that go with none.
Group::Options options_of(std::string name, TransportAddress& address, const RunScope* run) {
    if (run != nullptr && run->takes_snapshots()) {
        address.refuse(
            "group= is for runs without snapshots: a snapshot has the offsets of all partitions");
    }
    for (const char* const option : {"partition", "until"}) {
        if (address.take(option).empty()) continue;
        address.refuse("group= excludes " + std::string(option) +
                       "=: a group shares out its partitions, which have no end");
    }
    return {.name = std::move(name),
            .settle = detail::take_time(address, "settle", settle_usual),
            .start = Start(address)};
}

}  // namespace

GroupInput::GroupInput(std::string group, TransportAddress address)
    : run_(run_of_input()), message_text_(address) {
    Group::Options options = options_of(std::move(group), address, run_);
    group_ = std::make_shared<Group>(Topic(address), std::move(options), run_);
    if (run_ != nullptr) run_->add(group_);
    queue_.reset(::rd_kafka_queue_get_consumer(group_->client()));
}

GroupInput::~GroupInput() {
    queue_.reset();
    if (run_ != nullptr) return;  // it ends the group
    try {
        group_->finish();
    } catch (const std::exception&) {
        return;  // the messages come once more
    }
}

void GroupInput::take(const ::rd_kafka_message_t& message) {
    if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        return group_->skip_to(message.partition, message.offset);
    }
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) return group_->check(message.err);
    group_->reach().lost.clear();
    const Group::Place* const place = group_->take(message.partition, message.offset);
    if (place == nullptr || !message_text_.append(rows_.text(), message)) return;
    rows_.end_row(*place);
    group_->hand_out(*place);
}

void GroupInput::fetch(int wait_ms) {
    group_->serve();
    if (const Message first{::rd_kafka_consumer_poll(group_->client(), wait_ms)}) take(*first);
    take_waiting(queue_.get(), rows_.text(), [this](const auto& message) { take(message); });
}

ByteReader::Result GroupInput::read(std::span<char> out, int wait_ms) {
    return rows_.read(out, [this, wait_ms] {
        fetch(wait_ms);
        return true;
    });
}

void GroupInput::passed(std::uint64_t bytes) {
    rows_.pass(bytes, [this](const Group::Place& place) { group_->passed(place); });
}

}  // namespace strid::kafka
