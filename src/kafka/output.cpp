// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

namespace strid::kafka {

namespace {

constexpr int poll_ms = 100;  // how soon an interruption is seen
/// A transaction, which is an epoch that is being sent, may be held up by a broker for so long; one
/// that is not ended by then is aborted, as if another process had begun.
constexpr const char* transaction_ms = "600000";

/// Messages are gathered for so long, so that a request has many.
constexpr const char* linger_ms = "5";

/// Behind the options of rows.
TransportAddress& without_sink(TransportAddress& address) {
    (void)address.take("sink");
    return address;
}

bool is_fenced(::rd_kafka_resp_err_t error) noexcept {
    return error == RD_KAFKA_RESP_ERR__FENCED ||
           error == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH ||
           error == RD_KAFKA_RESP_ERR_PRODUCER_FENCED;
}

/// It will not pass: the broker allows it to no client of this name.
bool is_refused(::rd_kafka_resp_err_t error) noexcept {
    return error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
           error == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED ||
           error == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED ||
           error == RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED ||
           error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
}

struct EndsHeaders {
    void operator()(::rd_kafka_headers_t* one) const noexcept { ::rd_kafka_headers_destroy(one); }
};
using Headers = std::unique_ptr<::rd_kafka_headers_t, EndsHeaders>;

/// Null: it has none.
Headers headers_of(const detail::MessageRows::Message& message) {
    if (message.headers.empty()) return nullptr;
    Headers made(::rd_kafka_headers_new(message.headers.size()));
    for (const auto& [name, value] : message.headers) {
        (void)::rd_kafka_header_add(made.get(), name.data(), static_cast<ssize_t>(name.size()),
                                    value.data(), static_cast<ssize_t>(value.size()));
    }
    return made;
}

std::string group_of(std::string_view stream) {
    return fmt::format("strid-{}", stream);
}

}  // namespace

TopicOutput::TopicOutput(TransportAddress address)
    : rows_(address, true), topic_(without_sink(address)) {
    // The settings are checked now; no broker is asked.
    (void)make_client(RD_KAFKA_PRODUCER, topic_, {});
}

void TopicOutput::open(const std::vector<std::string>& columns) {
    close();
    rows_.set_columns(columns);
    if (!stream_.empty()) return begin_stream(std::exchange(stream_, {}));
    client_ = make_client(RD_KAFKA_PRODUCER, topic_,
                          {{"enable.idempotence", "true"}, {"linger.ms", linger_ms}},
                          {.delivered = &note_delivery});
    (void)partitions_of(client_.get(), topic_, broker_wait_ms);
}

// A transaction of an earlier process of the stream is aborted, and that process sends no more.
void TopicOutput::begin_stream(std::string_view stream) {
    close();
    const std::string group = group_of(stream);
    client_ = make_client(RD_KAFKA_PRODUCER, topic_,
                          {{"transactional.id", group},
                           {"transaction.timeout.ms", transaction_ms},
                           {"linger.ms", linger_ms}},
                          {.delivered = &note_delivery});
    (void)partitions_of(client_.get(), topic_, broker_wait_ms);
    check(::rd_kafka_init_transactions(client_.get(), broker_wait_ms));
    stream_ = stream;
}

void TopicOutput::close() noexcept {
    has_begun_ = false;
    if (client_ == nullptr) return;
    ::rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    ::rd_kafka_poll(client_.get(), 0);
    client_.reset();
    failed_ = RD_KAFKA_RESP_ERR_NO_ERROR;
}

void TopicOutput::check(::rd_kafka_error_t* error) {
    struct EndsError {
        void operator()(::rd_kafka_error_t* one) const noexcept { ::rd_kafka_error_destroy(one); }
    };
    const std::unique_ptr<::rd_kafka_error_t, EndsError> owned(error);
    if (error == nullptr) return;
    const std::string reason =
        fmt::format("{}: {}", topic_.address, ::rd_kafka_error_string(error));
    const auto code = ::rd_kafka_error_code(error);
    if (is_fenced(code)) fail_of_fence(::rd_kafka_error_string(error));
    if (is_refused(code)) fail(topic_, code, "");
    // A transaction that must be aborted is sent once more by another client.
    if (::rd_kafka_error_is_retriable(error) != 0 ||
        ::rd_kafka_error_txn_requires_abort(error) != 0) {
        throw ConnectionLost(reason);
    }
    fail(topic_, code, "");
}

void TopicOutput::note_delivery(::rd_kafka_t* /*client*/, const ::rd_kafka_message_t* message,
                                void* /*opaque*/) {
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) return;
    static_cast<TopicOutput*>(message->_private)->failed_ = message->err;
}

void TopicOutput::wait_a_little() {
    ::rd_kafka_poll(client_.get(), poll_ms);
    if (is_interrupted_.load(std::memory_order_relaxed)) {
        throw ConnectionLost(topic_.address + ": interrupted");
    }
}

void TopicOutput::send(const detail::MessageRows::Message& message) {
    const void* const key = message.key ? message.key->data() : nullptr;
    const std::size_t key_bytes = message.key ? message.key->size() : 0;
    const bool has_value = !message.is_tombstone;
    void* const value = has_value ? const_cast<char*>(message.payload.data()) : nullptr;
    for (;;) {
        Headers headers = headers_of(message);
        const auto error = ::rd_kafka_producev(
            client_.get(), RD_KAFKA_V_TOPIC(topic_.name.c_str()), RD_KAFKA_V_KEY(key, key_bytes),
            RD_KAFKA_V_VALUE(value, has_value ? message.payload.size() : 0),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(this),
            RD_KAFKA_V_HEADERS(headers.get()), RD_KAFKA_V_END);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
            (void)headers.release();  // the client's now
            return;
        }
        if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) fail(topic_, error, "");
        wait_a_little();
    }
}

void TopicOutput::write(std::string_view rows) {
    if (!stream_.empty() && !std::exchange(has_begun_, true)) {
        check(::rd_kafka_begin_transaction(client_.get()));
    }
    rows_.for_each(rows, [this](const auto& message) { send(message); });
    ::rd_kafka_poll(client_.get(), 0);
    if (failed_ != RD_KAFKA_RESP_ERR_NO_ERROR) give_up();
}

void TopicOutput::give_up() {
    std::array<char, 512> reason{};
    const auto fatal = ::rd_kafka_fatal_error(client_.get(), reason.data(), reason.size());
    if (is_fenced(fatal) || is_fenced(failed_)) fail_of_fence(::rd_kafka_err2str(failed_));
    if (is_refused(failed_)) fail(topic_, failed_, "a message was not delivered: ");
    if (!stream_.empty() && fatal == RD_KAFKA_RESP_ERR_NO_ERROR) {
        // The transaction is sent once more by another client.
        throw ConnectionLost(fmt::format("{}: a message was not delivered: {}", topic_.address,
                                         ::rd_kafka_err2str(failed_)));
    }
    fail(topic_, failed_, "a message was not delivered: ");
}

void TopicOutput::fail_of_fence(std::string_view reason) const {
    throw InputOutputError(
        fmt::format("{}: {}: another process writes this stream", topic_.address, reason));
}

void TopicOutput::flush() {
    while (::rd_kafka_flush(client_.get(), poll_ms) == RD_KAFKA_RESP_ERR__TIMED_OUT) {
        wait_a_little();
        if (failed_ != RD_KAFKA_RESP_ERR_NO_ERROR) break;
    }
    if (failed_ != RD_KAFKA_RESP_ERR_NO_ERROR) give_up();
}

void TopicOutput::commit() {
    flush();
}

void TopicOutput::commit(const Epoch& epoch) {
    if (!std::exchange(has_begun_, true)) check(::rd_kafka_begin_transaction(client_.get()));
    flush();
    const std::string group = group_of(epoch.stream);
    struct EndsGroup {
        void operator()(::rd_kafka_consumer_group_metadata_t* one) const noexcept {
            ::rd_kafka_consumer_group_metadata_destroy(one);
        }
    };
    const std::unique_ptr<::rd_kafka_consumer_group_metadata_t, EndsGroup> member(
        ::rd_kafka_consumer_group_metadata_new(group.c_str()));
    const Partitions offsets(::rd_kafka_topic_partition_list_new(1));
    ::rd_kafka_topic_partition_list_add(offsets.get(), topic_.name.c_str(), 0)->offset =
        static_cast<std::int64_t>(epoch.number);
    check(::rd_kafka_send_offsets_to_transaction(client_.get(), offsets.get(), member.get(),
                                                 broker_wait_ms));
    check(::rd_kafka_commit_transaction(client_.get(), broker_wait_ms));
    has_begun_ = false;
}

// A broker that has just begun does not know for some seconds that it is the coordinator.
std::uint64_t TopicOutput::last_epoch(std::string_view stream) {
    const std::int64_t until = now_ns() + std::int64_t{broker_wait_ms} * 1'000'000;
    for (;;) {
        try {
            return committed_epoch(stream);
        } catch (const ConnectionLost&) {
            const bool is_over = now_ns() > until;
            if (is_over || is_interrupted_.load(std::memory_order_relaxed)) throw;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(poll_ms));
    }
}

// Read by a client of that group, which waits for a transaction that has not ended.
std::uint64_t TopicOutput::committed_epoch(std::string_view stream) {
    if (stream_ != stream) begin_stream(stream);
    const Client reader = make_client(RD_KAFKA_CONSUMER, topic_,
                                      {{"group.id", group_of(stream)},
                                       {"isolation.level", "read_committed"},
                                       {"enable.auto.commit", "false"}});
    const Partitions offsets(::rd_kafka_topic_partition_list_new(1));
    const auto* const one =
        ::rd_kafka_topic_partition_list_add(offsets.get(), topic_.name.c_str(), 0);
    const auto error = ::rd_kafka_committed(reader.get(), offsets.get(), broker_wait_ms);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic_, error, "");
    if (one->err != RD_KAFKA_RESP_ERR_NO_ERROR) fail(topic_, one->err, "");
    return one->offset < 0 ? 0 : static_cast<std::uint64_t>(one->offset);
}

}  // namespace strid::kafka
