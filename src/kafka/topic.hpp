// SPDX-License-Identifier: Apache-2.0
//
// The address of a topic, and what readers and writers of one share of librdkafka. Plain values and
// owners; threads as librdkafka's, which are all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

#include <strid/base/clock.hpp>
#include <strid/connector/transport.hpp>

#include "joining.hpp"

namespace strid::kafka {

struct EndsClient {
    void operator()(::rd_kafka_t* client) const noexcept { ::rd_kafka_destroy(client); }
};
using Client = std::unique_ptr<::rd_kafka_t, EndsClient>;
struct EndsPartitions {
    void operator()(::rd_kafka_topic_partition_list_t* list) const noexcept {
        ::rd_kafka_topic_partition_list_destroy(list);
    }
};
using Partitions = std::unique_ptr<::rd_kafka_topic_partition_list_t, EndsPartitions>;
struct EndsQueue {
    void operator()(::rd_kafka_queue_t* queue) const noexcept { ::rd_kafka_queue_destroy(queue); }
};
using Queue = std::unique_ptr<::rd_kafka_queue_t, EndsQueue>;
struct EndsMessage {
    void operator()(::rd_kafka_message_t* message) const noexcept {
        ::rd_kafka_message_destroy(message);
    }
};
using Message = std::unique_ptr<::rd_kafka_message_t, EndsMessage>;

/// Options of librdkafka, in the order in which they are set.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Where a topic is, of an address whose own options were taken: the others are settings.
struct Topic {
    explicit Topic(TransportAddress& address);
    std::string address;  // for messages
    std::string name;
    Settings settings;
};

/// Called by a client when it is polled; null: not.
struct Callbacks {
    /// For each message that was delivered or was not.
    void (*delivered)(::rd_kafka_t*, const ::rd_kafka_message_t*, void*) = nullptr;
    /// For an error of no message: its code, its text, and `self`.
    void (*failed)(::rd_kafka_t*, int, const char*, void*) = nullptr;
    /// Of a group: partitions come or go, as the code says.
    void (*rebalanced)(::rd_kafka_t*, ::rd_kafka_resp_err_t, ::rd_kafka_topic_partition_list_t*,
                       void*) = nullptr;
    /// Of a group: the broker has answered a commit of offsets, or it has failed.
    void (*committed)(::rd_kafka_t*, ::rd_kafka_resp_err_t, ::rd_kafka_topic_partition_list_t*,
                      void*) = nullptr;
    void* self = nullptr;
    /// Of a group; it outlives the client.
    Joining* joining = nullptr;
};
/// A client with these settings behind those of the topic. Throws GraphError.
[[nodiscard]] Client make_client(::rd_kafka_type_t type, const Topic& topic,
                                 const Settings& settings, const Callbacks& callbacks = {});
/// The numbers of the partitions. Throws ConnectionLost where no broker answers, InputOutputError
/// where there is no such topic.
[[nodiscard]] std::vector<std::int32_t> partitions_of(::rd_kafka_t* client, const Topic& topic,
                                                      int wait_ms);
/// Whether an error may pass, as when a broker is away.
[[nodiscard]] bool may_pass(::rd_kafka_resp_err_t error) noexcept;
/// Throws ConnectionLost for what may pass, InputOutputError for what does not.
[[noreturn]] void fail(const Topic& topic, ::rd_kafka_resp_err_t error, std::string_view reason);

/// Whether a broker can be reached, as far as a reader knows. librdkafka connects again by itself,
/// and sends nothing of it where nothing is to be read: a look at the partitions shows it.
struct Reach {
    static constexpr std::int64_t look_every_ns = 30'000'000'000;

    std::string lost;  // why not; empty: it can
    // At the partitions, which were asked for when the reader was made:
    std::int64_t look_at_ns = now_ns() + look_every_ns;

    /// For Callbacks::failed.
    void note_failure(const Topic& topic, int code, const char* text);
    /// The partitions, where it is time to look: while no broker can be reached, and with
    /// `is_usual` now and then.
    [[nodiscard]] std::optional<std::vector<std::int32_t>> look(::rd_kafka_t* client,
                                                                const Topic& topic, bool is_usual);
};

/// Messages are taken ahead of what is read up to so many bytes.
inline constexpr std::size_t text_bytes = std::size_t{256} << 10;
inline constexpr std::size_t batch_messages = 1'000;

/// Calls `take` with the messages that have come, until `text` is long enough.
template <class Take>
void take_waiting(::rd_kafka_queue_t* queue, const std::string& text, const Take& take) {
    std::array<::rd_kafka_message_t*, batch_messages> batch{};
    while (text.size() < text_bytes) {
        const auto count = ::rd_kafka_consume_batch_queue(queue, 0, batch.data(), batch.size());
        std::vector<Message> messages;
        for (ssize_t i = 0; i < count; ++i) messages.emplace_back(batch[static_cast<size_t>(i)]);
        if (messages.empty()) return;
        for (const Message& message : messages) take(*message);
    }
}

/// How long a call waits for the brokers.
inline constexpr int broker_wait_ms = 10'000;

}  // namespace strid::kafka
