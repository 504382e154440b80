// SPDX-License-Identifier: Apache-2.0
//
// A topic that rows are sent to. The rows of an epoch are a transaction; its number is the offset
// that a group of the stream's own has committed. Threads: one at a time, but for interrupt().
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include <strid/connector/transport.hpp>
#include <strid/engine/connector/message_rows.hpp>

#include "topic.hpp"

namespace strid::kafka {

class TopicOutput final : public TransportOutput {
  public:
    /// Throws GraphError.
    explicit TopicOutput(TransportAddress address);
    ~TopicOutput() override { close(); }

    void open(const std::vector<std::string>& columns) override;
    void write(std::string_view rows) override;
    void commit() override;
    void commit(const Epoch& epoch) override;
    [[nodiscard]] std::uint64_t last_epoch(std::string_view stream) override;
    void close() noexcept override;
    void interrupt() noexcept override {
        is_interrupted_.store(true, std::memory_order_relaxed);  // orders nothing
    }

  private:
    static void note_delivery(::rd_kafka_t* client, const ::rd_kafka_message_t* message,
                              void* opaque);
    void begin_stream(std::string_view stream);
    void send(const detail::MessageRows::Message& message);
    void flush();
    [[nodiscard]] std::uint64_t committed_epoch(std::string_view stream);
    void check(::rd_kafka_error_t* error);
    void wait_a_little();
    [[noreturn]] void give_up();
    [[noreturn]] void fail_of_fence(std::string_view reason) const;

    detail::MessageRows rows_;
    const Topic topic_;
    Client client_;
    std::string stream_;      // empty: no transactions
    bool has_begun_ = false;  // a transaction
    // By the callback of deliveries, in calls of this thread:
    ::rd_kafka_resp_err_t failed_ = RD_KAFKA_RESP_ERR_NO_ERROR;
    std::atomic<bool> is_interrupted_{false};
};

}  // namespace strid::kafka
