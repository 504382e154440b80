// SPDX-License-Identifier: Apache-2.0
//
// Rows for the clients of a socket that listens: each gets those from the moment when it has
// connected. Private to the connector room.
//
// A thread sends; the graph adds rows to a buffer for each reader. A reader whose buffer is full
// holds the graph back, loses rows, or is closed, as `slow` says. It sends nothing of use: what it
// sends is read and forgotten.
//
// Invariants: a reader has whole rows, each once, in the order of the stream; those that it lost
// are counted.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <strid/engine/http/listener.hpp>

#include "peer_stream.hpp"
#include "socket_input.hpp"
#include "socket_output.hpp"

namespace strid::detail {

class SocketReaders final : public SocketRows {
  public:
    SocketReaders(const SocketOutputPlace& place, RunScope* run);
    ~SocketReaders() override;

    void set_header(const std::string& header) override;
    void write(std::string_view rows) override;
    void end() override;
    void flush() override;
    void let_go() noexcept override;

  private:
    using Clock = std::chrono::steady_clock;

    struct Reader {
        std::unique_ptr<PeerStream> peer;
        Clock::time_point handshake_until;
        Clock::time_point took_at = {};  // the last byte, or had nothing to take
        std::string pending = {};        // from `sent` on
        std::size_t sent = 0;
        std::uint64_t lost_rows = 0;
        short events = 0;  // that the thread waits for
        bool has_begun = false;
        bool is_leaving = false;  // everything was sent, and the end announced
        bool is_over = false;

        [[nodiscard]] std::size_t bytes() const noexcept { return pending.size() - sent; }
    };

    void serve();
    void wait_for_events();
    void accept();
    void step(Reader& reader);
    void take_what_it_sends(Reader& reader);
    void send_to(Reader& reader);
    void leave_those_that_are_stuck();
    void remove_those_gone();
    void wake() const noexcept;
    [[nodiscard]] bool has_room(const Reader& reader, std::size_t bytes) const noexcept;
    void add(Reader& reader, std::string_view rows);
    template <class Holds>
    void wait(std::unique_lock<std::mutex>& lock, const Holds& holds);
    void warn(const std::string& text) const;

    const SocketOutputPlace& place_;
    RunScope* const run_;  // null: outside of one
    const http::SecureServer tls_;
    const SocketInput listener_;
    const http::Descriptor woken_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    // Under mutex_:
    std::list<Reader> readers_;
    std::string header_;
    std::size_t begun_ = 0;  // readers that have begun, in all
    std::uint64_t lost_rows_ = 0;
    Clock::time_point accept_from_{};  // of the thread
    Clock::time_point hurry_from_{};   // readers that take nothing are left; zero: they are not
    Clock::time_point stopped_at_{};   // when the thread has seen that the run is; zero: it is not
    bool is_ending_ = false;           // no reader is taken, and those that have all are left
    bool is_closing_ = false;          // at once
    std::thread thread_;               // last: it uses the rest
};

}  // namespace strid::detail
