// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/connector/transport.hpp>
#include <strid/engine/connector/message_fields.hpp>
#include <strid/engine/connector/message_rows.hpp>
#include <strid/engine/connector/taken_rows.hpp>
#include <strid/mqtt/mqtt.hpp>

#include "client.hpp"

namespace strid {

namespace mqtt {

namespace {

constexpr std::int64_t retry_ns = 500'000'000;
/// So many bytes of messages are taken before the first of them is handed on.
constexpr std::size_t together_max = 64 << 10;
/// So many messages are on their way to the broker at most.
constexpr std::size_t undelivered_max = 1'000;

/// The messages of a topic, each a line.
class TopicInput final : public TransportInput {
  public:
    /// Throws as Client::connect().
    explicit TopicInput(TransportAddress address)
        : fields_(address, {"topic"}),
          client_(Place(address), [this](std::string_view topic, std::string_view payload) {
              const std::array values{detail::MessageFields::Value{topic}};
              fields_.append(rows_.text(), payload,
                             std::span(values).first(fields_.names().size()));
              rows_.end_line();
          }) {
        client_.connect();
    }

    ByteReader::Result read(std::span<char> out, int wait_ms) override {
        return rows_.read(out, [this, wait_ms] { return step(wait_ms), true; });
    }
    [[nodiscard]] std::uint64_t bytes_waiting() const noexcept override { return rows_.left(); }
    [[nodiscard]] std::string_view lost() const noexcept override { return lost_; }

  private:
    void step(int wait_ms) {
        if (lost_at_ns_ != 0 && now_ns() < lost_at_ns_ + retry_ns) {
            std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
            return;
        }
        try {
            if (std::exchange(lost_at_ns_, 0) != 0) client_.connect();
            client_.step(wait_ms);
            // A step takes one message. Those that have arrived as well come together with it, so
            // that a journal is synchronised once for all of them.
            const std::string& text = rows_.text();
            for (std::size_t before = 0; text.size() != before && text.size() < together_max;) {
                before = text.size();
                client_.step(0);
            }
            lost_.clear();
        } catch (const ConnectionLost& error) {
            lost_ = error.what();
            lost_at_ns_ = now_ns();
        }
    }

    detail::MessageFields fields_;
    /// They have no place at the broker: a session or a journal has them.
    struct Nowhere {};
    detail::TakenRows<Nowhere> rows_;
    std::int64_t lost_at_ns_ = 0;  // 0: it is connected
    std::string lost_;             // why; empty: it is connected
    Client client_;
};

/// Rows as messages to a topic.
class TopicOutput final : public TransportOutput {
  public:
    /// Throws GraphError.
    explicit TopicOutput(TransportAddress address)
        : rows_(address), place_(without_sink(address)), client_(place_, nullptr) {
        if (place_.topic.find_first_of("+#") != std::string::npos) {
            address.refuse("wildcards are for inputs");
        }
    }

    void open(const std::vector<std::string>& columns) override {
        rows_.set_columns(columns);
        client_.disconnect();
        client_.connect();
    }
    void write(std::string_view rows) override {
        if (!std::exchange(has_begun_, true)) begin();
        rows_.for_each(rows, [this](const auto& message) {
            const std::string topic =
                message.key ? place_.topic + '/' + std::string(*message.key) : place_.topic;
            client_.publish(topic, message.payload);
            wait_for_fewer(undelivered_max);
        });
    }
    void commit() override {
        wait_for_fewer(1);
        has_begun_ = false;
    }
    void commit(const Epoch& /*epoch*/) override { commit(); }
    /// A broker keeps no number: after a kill the rows of the last snapshot come once more.
    [[nodiscard]] bool keeps_epochs() const noexcept override { return false; }
    [[nodiscard]] std::uint64_t last_epoch(std::string_view /*stream*/) override { return 0; }
    void close() noexcept override {
        has_begun_ = false;
        client_.disconnect();
    }
    void interrupt() noexcept override { is_interrupted_.store(true, std::memory_order_relaxed); }

  private:
    static TransportAddress& without_sink(TransportAddress& address) {
        (void)address.take("sink");
        return address;
    }
    /// A broker has closed a connection on which nothing was sent for longer than it waits.
    void begin() {
        try {
            client_.step(0);
        } catch (const ConnectionLost&) {
            client_.connect();
        }
    }
    void wait_for_fewer(std::size_t limit) {
        constexpr int look_ms = 100;
        while (client_.undelivered() >= limit) {
            if (is_interrupted_.load(std::memory_order_relaxed)) {  // orders nothing
                throw ConnectionLost(place_.address + ": interrupted");
            }
            client_.step(look_ms);
        }
    }

    detail::MessageRows rows_;
    const Place place_;
    Client client_;
    bool has_begun_ = false;  // a transaction
    std::atomic<bool> is_interrupted_{false};
};

}  // namespace

}  // namespace mqtt

void use_mqtt() {
    add_transport({.scheme = "mqtt",
                   .goes_away = true,
                   .input =
                       [](TransportAddress address) {
                           return std::make_unique<mqtt::TopicInput>(std::move(address));
                       },
                   .output =
                       [](TransportAddress address) {
                           return std::make_unique<mqtt::TopicOutput>(std::move(address));
                       }});
}

}  // namespace strid
