// SPDX-License-Identifier: Apache-2.0
//
// A client of an MQTT broker, by libmosquitto without its thread: what arrives and what is
// delivered is handled in step(). Threads: one at a time.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <mosquitto.h>

#include <strid/connector/transport.hpp>

namespace strid::mqtt {

/// Where a topic is, of an address whose other options were taken.
struct Place {
    /// Throws GraphError.
    explicit Place(TransportAddress& address);
    std::string address;  // for messages
    std::string host;
    int port = 1883;
    std::string topic;
    int qos = 1;
    std::string client;  // empty: no session is kept
    std::string user;
    std::string certificates;  // empty: no TLS
};

class Client {
  public:
    /// Called with the topic and the payload of each message.
    using Arrived = std::function<void(std::string_view, std::string_view)>;

    /// Connects to nothing. `arrived`: it subscribes to the topic; null: it does not.
    Client(const Place& place, Arrived arrived);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// Throws ConnectionLost where no broker answers, InputOutputError where it refuses.
    void connect();
    /// Handles what has come, and waits for it so long at most. Throws as connect().
    void step(int wait_ms);
    /// Throws as connect().
    void publish(const std::string& topic, std::string_view payload);
    /// Messages that the broker has not taken yet.
    [[nodiscard]] std::size_t undelivered() const noexcept { return sent_.size(); }
    void disconnect() noexcept;

  private:
    struct EndsClient {
        void operator()(::mosquitto* client) const noexcept { ::mosquitto_destroy(client); }
    };
    void make();
    void note_answer(int code);
    [[noreturn]] void fail(int code, std::string_view what) const;

    const Place place_;
    const Arrived arrived_;
    std::unique_ptr<::mosquitto, EndsClient> client_;
    bool is_connected_ = false;
    std::string refusal_;  // of the broker
    std::set<int> sent_;   // numbers of messages that are not delivered yet
    std::set<int> early_;  // delivered before their publish() has returned
};

}  // namespace strid::mqtt
