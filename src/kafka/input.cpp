// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

namespace strid::kafka {

namespace {

constexpr std::size_t batch_messages = 1'000;
/// Messages are taken ahead of what is read up to so many bytes.
constexpr std::size_t text_bytes = std::size_t{256} << 10;
constexpr std::int64_t look_every_ns = 30'000'000'000;
constexpr std::int64_t lost_look_every_ns = 1'000'000'000;
constexpr int look_wait_ms = 200;

template <class Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

constexpr char within_message = '>';

/// The last value of a header; none: the message has no such header.
std::optional<std::string_view> header_of(const ::rd_kafka_message_t& message,
                                          const std::string& name) {
    ::rd_kafka_headers_t* headers = nullptr;
    const void* value = nullptr;
    std::size_t bytes = 0;
    if (::rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
        ::rd_kafka_header_get_last(headers, name.c_str(), &value, &bytes) !=
            RD_KAFKA_RESP_ERR_NO_ERROR ||
        value == nullptr) {
        return std::nullopt;
    }
    return std::string_view{static_cast<const char*>(value), bytes};
}

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

TopicInput::Part::Part(TransportAddress& address)
    : start(address.take("start")), fields(address, {"key", "time", "partition", "offset"}, true) {
    for (const std::string& text : address.take_list("partition")) {
        std::int32_t number = 0;
        if (!read_number(text, number) || number < 0) {
            address.refuse(fmt::format("'{}' is no number of a partition", text));
        }
        partitions.push_back(number);
    }
    if (start.empty()) start = "earliest";
    std::int64_t ms = 0;
    const bool is_time =
        start.starts_with('@') && read_number(std::string_view(start).substr(1), ms);
    if (start != "earliest" && start != "latest" && !is_time) {
        address.refuse("start is earliest, latest, or @ and milliseconds since 1970");
    }
    const std::string until = address.take("until");
    if (!until.empty() && until != "end") address.refuse("until is end");
    until_end = !until.empty();
}

TopicInput::TopicInput(TransportAddress address) : part_(address), topic_(address) {
    const auto failed = [](::rd_kafka_t*, int code, const char* text, void* self) {
        static_cast<TopicInput*>(self)->note_failure(code, text);
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
    look_at_ns_ = now_ns() + look_every_ns;
}

TopicInput::~TopicInput() {
    queue_.reset();
    if (client_ != nullptr) ::rd_kafka_consumer_close(client_.get());
}

/// The offset of the first message of a partition, and the one behind the last.
std::pair<std::int64_t, std::int64_t> TopicInput::edges_of(std::int32_t partition) {
    std::pair<std::int64_t, std::int64_t> edges;
    const auto error = ::rd_kafka_query_watermark_offsets(
        client_.get(), topic_.name.c_str(), partition, &edges.first, &edges.second, broker_wait_ms);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic_, error, "offsets cannot be asked for: ");
    return edges;
}

/// Of a partition that is read from its start; with until=end also notes where it ends.
std::int64_t TopicInput::first_offset(std::int32_t partition) {
    const auto [first, behind] = edges_of(partition);
    if (part_.until_end) ends_[partition] = behind;
    if (part_.start == "earliest") return first;
    if (part_.start == "latest") return behind;
    std::int64_t ms = 0;
    (void)read_number(std::string_view(part_.start).substr(1), ms);
    const Partitions asked(::rd_kafka_topic_partition_list_new(1));
    auto* const one =
        ::rd_kafka_topic_partition_list_add(asked.get(), topic_.name.c_str(), partition);
    one->offset = ms;
    const auto failed = ::rd_kafka_offsets_for_times(client_.get(), asked.get(), broker_wait_ms);
    if (failed != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic_, failed, "");
    if (one->err != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic_, one->err, "");
    return one->offset < 0 ? behind : one->offset;
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
        if (!offsets.contains(partition)) next = edges_of(partition).first;
    }
    for (const auto& [partition, offset] : offsets) {
        const auto found = next_.find(partition);
        if (found == next_.end()) {
            throw InputOutputError(
                fmt::format("{}: partition {}, which was read before the snapshot, is not read now",
                            topic_.address, partition));
        }
        const auto [low, high] = edges_of(partition);
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

/// No broker can be reached. librdkafka connects again by itself, and says nothing of it where
/// nothing is to be read: the next look at the partitions shows it.
void TopicInput::note_failure(int code, const char* text) {
    if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && code != RD_KAFKA_RESP_ERR__AUTHENTICATION &&
        code != RD_KAFKA_RESP_ERR__SSL) {
        return;  // of one broker
    }
    lost_ = fmt::format("{}: {}", topic_.address, text);
    look_at_ns_ = now_ns() + lost_look_every_ns;
}

/// Partitions that were added since are read from their beginning.
void TopicInput::look_for_partitions() {
    const bool may_be_new = part_.partitions.empty() && !part_.until_end;
    if ((!may_be_new && lost_.empty()) || now_ns() < look_at_ns_) return;
    bool is_new = false;
    try {
        const auto found = partitions_of(client_.get(), topic_, look_wait_ms);
        lost_.clear();
        look_at_ns_ = now_ns() + look_every_ns;
        if (!may_be_new) return;
        for (const std::int32_t partition : found) {
            if (next_.emplace(partition, 0).second) {
                passed_[partition] = 0;
                is_new = true;
            }
        }
    } catch (const ConnectionLost&) {
        look_at_ns_ = now_ns() + lost_look_every_ns;
        return;  // librdkafka connects again by itself
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
    lost_.clear();
    const auto end = ends_.find(message.partition);
    if (end != ends_.end() && message.offset >= end->second) {
        next_[message.partition] = std::max(next_[message.partition], end->second);
        return;
    }
    // A message of an assignment before this one comes once more.
    if (message.offset < next_[message.partition]) return;
    next_[message.partition] = message.offset + 1;
    if (message.payload == nullptr) return;
    const std::uint64_t begin = bytes_;
    const std::size_t before = text_.size();
    append_row(message);
    text_ += '\n';
    bytes_ += text_.size() - before;
    handed_.push_back({begin, bytes_ - 1, message.partition, message.offset});
}

/// With the fields about it that are asked for.
void TopicInput::append_row(const ::rd_kafka_message_t& message) {
    const std::string_view row{static_cast<const char*>(message.payload), message.len};
    const auto& names = part_.fields.names();
    std::vector<detail::MessageFields::Value> values(names.size());
    std::array<std::string, 3> numbers;
    std::size_t used = 0;
    const auto number = [&](std::int64_t of) {
        return detail::MessageFields::Value{numbers[used++] = std::to_string(of), true};
    };
    for (std::size_t i = 0; i != names.size(); ++i) {
        if (names[i] == "partition") {
            values[i] = number(message.partition);
        } else if (names[i] == "offset") {
            values[i] = number(message.offset);
        } else if (names[i] == "time") {
            ::rd_kafka_timestamp_type_t type{};
            const std::int64_t ms = ::rd_kafka_message_timestamp(&message, &type);
            if (type != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE) values[i] = number(ms);
        } else if (names[i] == "key") {
            if (message.key == nullptr) continue;
            values[i].text = {static_cast<const char*>(message.key), message.key_len};
        } else {
            values[i].text = header_of(message, names[i].substr(names[i].find('.') + 1));
        }
    }
    part_.fields.append(text_, row, values);
}

/// Nothing but marks of transactions, and messages without a value, lies before the offset.
void TopicInput::pass_gap(std::int32_t partition, std::int64_t offset) {
    const bool is_handed = std::any_of(handed_.begin(), handed_.end(), [&](const Handed& one) {
        return one.partition == partition;
    });
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
    std::array<::rd_kafka_message_t*, batch_messages> batch{};
    while (text_.size() < text_bytes) {
        const auto count =
            ::rd_kafka_consume_batch_queue(queue_.get(), 0, batch.data(), batch.size());
        std::vector<Message> messages;
        for (ssize_t i = 0; i < count; ++i) messages.emplace_back(batch[static_cast<size_t>(i)]);
        if (messages.empty()) return;
        for (const Message& message : messages) take(*message);
    }
}

ByteReader::Result TopicInput::read(std::span<char> out, int wait_ms) {
    if (given_ == text_.size()) {
        text_.clear();
        given_ = 0;
        if (has_begun_ && is_at_end()) return {ByteReader::Status::end, 0};
        fetch(wait_ms);
        if (text_.empty()) {
            return {is_at_end() ? ByteReader::Status::end : ByteReader::Status::waiting, 0};
        }
    }
    const std::size_t bytes = std::min(out.size(), text_.size() - given_);
    std::memcpy(out.data(), text_.data() + given_, bytes);
    given_ += bytes;
    return {ByteReader::Status::read, bytes};
}

void TopicInput::passed(std::uint64_t bytes) {
    while (!handed_.empty() && handed_.front().end <= bytes) {
        passed_[handed_.front().partition] = handed_.front().offset + 1;
        handed_.pop_front();
    }
}

TransportInput::Position TopicInput::position(std::uint64_t bytes) {
    // The message that the place is in has not come again.
    if (alone_ >= 0 && handed_.empty()) return {.text = position_, .bytes = 0};
    if (!has_begun_) passed_ = next_;
    passed(bytes);
    Position position{.bytes = bytes};
    const auto add = [&position](std::int32_t partition, std::int64_t offset) {
        position.text +=
            fmt::format("{}{}:{}", position.text.empty() ? "" : " ", partition, offset);
    };
    std::int32_t first = -1;
    if (!handed_.empty() && handed_.front().begin < bytes) {
        first = handed_.front().partition;
        position.bytes = handed_.front().begin;
        add(first, handed_.front().offset);
        position.text.insert(position.text.begin(), within_message);
    }
    for (const auto& [partition, offset] : passed_) {
        if (partition != first) add(partition, offset);
    }
    return position;
}

}  // namespace strid::kafka
