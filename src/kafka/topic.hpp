// SPDX-License-Identifier: Apache-2.0
//
// The address of a topic, and what readers and writers of one share of librdkafka. Plain values and
// owners; threads as librdkafka's, which are all.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

#include <strid/connector/transport.hpp>

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
    void* self = nullptr;
};
/// A client with these settings behind those of the topic. Throws GraphError.
[[nodiscard]] Client make_client(::rd_kafka_type_t type, const Topic& topic,
                                 const Settings& settings, const Callbacks& callbacks = {});
/// The numbers of the partitions. Throws ConnectionLost where no broker answers, InputOutputError
/// where there is no such topic.
[[nodiscard]] std::vector<std::int32_t> partitions_of(::rd_kafka_t* client, const Topic& topic,
                                                      int wait_ms);
/// Throws ConnectionLost for what may pass, InputOutputError for what does not.
[[noreturn]] void fail(const Topic& topic, ::rd_kafka_resp_err_t error, std::string_view reason);

/// How long a call waits for the brokers.
inline constexpr int broker_wait_ms = 10'000;

}  // namespace strid::kafka
