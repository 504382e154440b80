// SPDX-License-Identifier: Apache-2.0
//
// Several clients at one socket that listens: their messages, whole and one behind the other, are
// the text of the input, from its beginning to its end. Private to the connector room.
//
// Each client has a thread, which reads what has come, and waits until the source has read it: a
// client is held back by not being read, and delays no other. One more than `clients_max` waits in
// the system.
//
// Invariants: of a client at most one text waits in the queue; a message that a client has begun
// and not ended is dropped.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include <strid/connector/transport.hpp>
#include <strid/engine/base/reloads.hpp>
#include <strid/engine/http/connection_threads.hpp>
#include <strid/engine/http/listener.hpp>
#include <strid/operator/run_scope.hpp>

#include "body_queue.hpp"
#include "peer_stream.hpp"
#include "socket_input.hpp"
#include "socket_place.hpp"

namespace strid::detail {

class SocketClients final : public TransportInput {
  public:
    /// Listens. Throws GraphError, InputOutputError.
    explicit SocketClients(SocketInputPlace place);
    ~SocketClients() override;

    ByteReader::Result read(std::span<char> out, int wait_ms) override {
        return queue_.read(out, wait_ms);
    }
    void take_last() noexcept override;
    [[nodiscard]] std::uint64_t bytes_waiting() const noexcept override {
        return queue_.bytes_waiting();
    }
    [[nodiscard]] std::uint64_t message_bytes_left() const noexcept override {
        return queue_.message_bytes_left();
    }
    void accepted(std::uint64_t bytes) override { queue_.accepted(bytes); }
    void passed(std::uint64_t bytes) override { queue_.passed(bytes); }

  private:
    using Clock = std::chrono::steady_clock;
    /// Why a client is not served any more, where that is no plain end.
    enum class Fault : std::uint8_t { cut_off, too_long, handshake, silent, came_late };
    static constexpr std::size_t faults = 5;

    /// Connections are served by these. Others come with a reload, for those from then on.
    struct Settings {
        SocketInputPlace place;
        http::SecureServer tls;  // null: as the bytes are
    };

    void serve(http::Descriptor socket) noexcept;
    void serve(PeerStream& peer, const SocketInputPlace& place);
    [[nodiscard]] std::shared_ptr<const Settings> made(const SocketInputPlace& place) const;
    [[nodiscard]] std::shared_ptr<const Settings> settings() const;
    [[nodiscard]] Reloads::Change prepare(const std::string& text);
    [[nodiscard]] bool wait_for(const PeerStream& peer, short events, Clock::time_point until);
    [[nodiscard]] bool hand_on(std::string& whole);
    void note(Fault fault, const std::string& reason);
    void warn_of_all();
    void end_taking() noexcept;

    const std::string name_;   // for messages
    RunScope* const run_;      // null: nothing can be said
    std::size_t queue_bytes_;  // the most so far; changed by reloads alone
    BodyQueue queue_;
    mutable std::mutex mutex_;
    std::shared_ptr<const Settings> settings_;    // under mutex_
    std::array<std::uint64_t, faults> counts_{};  // under mutex_
    const SocketInput listener_;
    const http::Descriptor ending_;
    http::ConnectionThreads connections_;
    std::thread thread_;     // it uses the rest
    Reloads::Entry reload_;  // last: it does, too
};

}  // namespace strid::detail
