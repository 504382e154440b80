// SPDX-License-Identifier: Apache-2.0
//
// The core services of the exchange: one thread polls the clients, the link to the session manager
// and the results of the accelerator (translation.hpp); nothing that it does waits for one of them.
//
// Invariant: all buffers are bounded. Of a client the core keeps at most one incomplete message,
// and a bounded output; a client that reads too slowly is ended. The messages to the session
// manager are bounded by the lanes of the accelerator and one buffer: while these are full, no
// client is read. Without a session manager no client is served.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/client.hpp"
#include "core/translation.hpp"
#include "link/endpoint.hpp"
#include "link/log.hpp"

namespace strid::exchange {

struct CoreOptions {
    Endpoint listen = {};
    Endpoint session = {};
    std::string tls_certificate = {};  ///< a file in PEM; empty: without TLS
    std::string tls_key = {};
    std::size_t workers = 1;  ///< threads of the accelerator, each way
    std::size_t clients_max = 20000;
    /// A client for which more waits, and that has taken nothing for `unread_ns_max`, does not
    /// read. One that reads may have 16 times as much, and all clients together 256 times.
    std::size_t output_bytes_max = std::size_t{1} << 20;
    std::int64_t unread_ns_max = 2'000'000'000;
    std::int64_t message_ns_max = 10'000'000'000;  ///< for the first message, and to end one
};

class Core {
  public:
    /// Listens. Throws InputOutputError.
    Core(const CoreOptions& options, const Log& log);
    ~Core();

    /// Until `ended`.
    void run(const std::atomic<bool>& ended);
    [[nodiscard]] const Endpoint& endpoint() const noexcept { return options_.listen; }

  private:
    using Clients = std::unordered_map<std::uint64_t, std::unique_ptr<Client>>;

    void poll_once();
    void connect_session();
    void end_session(std::string_view why);
    void receive_session();
    void flush_session();
    void accept_clients();
    void receive_clients();
    void receive(Client& client);
    void cut(Client& client);
    void give_frames();
    void give_link_frames();
    void take_results();
    void put_output(ClientOutput& output);
    void end_largest_outputs();
    void return_mark(Client& client);
    void flush_touched();
    void flush_waiting();
    /// False: the client was ended.
    bool flush(Client& client);
    [[nodiscard]] bool is_deaf(const Client& client) const noexcept;
    void end_deaf(const Client& client);
    void end_client(std::uint64_t number, std::string_view why);
    void report_closed(std::uint64_t number);
    void check_time();
    [[nodiscard]] bool is_held_back() const noexcept;
    [[nodiscard]] Client* find(std::uint64_t number);

    CoreOptions options_;
    const Log& log_;
    http::SecureServer tls_;  // where clients have to use it; null: nowhere
    Socket listener_;
    Socket readable_;  // an epoll of the clients
    Socket writable_;  // an epoll of those whose output waits for room
    Socket wake_;      // an eventfd
    Socket session_;
    fix::FrameCutter session_cutter_{fix::link_body_bytes_max};
    std::string session_output_;
    std::size_t session_written_ = 0;
    bool reported_ = false;  // that there is no session manager
    std::int64_t retry_ns_ = 0;
    std::int64_t checked_ns_ = 0;
    std::int64_t now_ns_ = 0;
    std::uint64_t next_number_ = 1;
    Clients clients_;
    std::size_t output_bytes_ = 0;  // of all clients, as far as it is not written
    ClientFrames frames_;           // cut, and not given to the accelerator yet
    std::size_t frames_bytes_ = 0;
    FramesOfLink link_frames_;
    std::uint64_t link_ = 0;              // the number of the link that is on
    std::vector<std::uint64_t> touched_;  // have new output
    std::string chunk_;
    Translation translation_;  // last: its threads use wake_
};

}  // namespace strid::exchange
