// SPDX-License-Identifier: Apache-2.0
//
// A run of a load generator: the sessions of all clients in one thread, requests as fast as the
// windows let them or at their times, checks and figures at the end.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "load/account.hpp"
#include "load/client_session.hpp"
#include "load/workload.hpp"

namespace strid::exchange::load {

struct LoadOptions {
    Kind kind = Kind::w1;
    Endpoint connect = {};
    std::string exchange = "STRID";
    std::string user_prefix = "W";
    std::string symbol_prefix = "SYM";
    std::string run = {};  ///< in each ClOrdID
    std::size_t sessions = 2;
    std::size_t symbols = 10;
    std::size_t orders = 20000;
    std::size_t window = 16;  ///< requests of a session without an answer
    double seconds = 0;       ///< for all arrivals; 0: as fast as the windows let them
    std::uint64_t seed = 1;
    std::int64_t timeout_ns = 60'000'000'000;  ///< without any answer
};

struct LoadFigures {
    std::size_t requests = 0;
    std::uint64_t trades = 0;
    std::uint64_t rejects = 0;
    std::uint64_t reconnects = 0;
    double seconds = 0;                          ///< from the first request to the last answer
    std::vector<std::int64_t> response_ns = {};  ///< ascending
    std::vector<std::string> faults = {};
};

class LoadRun {
  public:
    explicit LoadRun(const LoadOptions& options);
    ~LoadRun();

    /// Throws InputOutputError where the exchange cannot be reached or gives no answer for too
    /// long; Interrupted.
    LoadFigures run(const std::atomic<bool>& interrupted);

  private:
    struct Client;

    void connect(Client& client);
    void poll_clients(int timeout_ms);
    void serve(Client& client, bool readable);
    void lose(Client& client);
    void send_due();
    void send_one(Client& client, std::int64_t due_ns);
    void take(Client& client, const fix::Message& message);
    void note_order(Client& client, const fix::Message& message);
    void settle(const std::atomic<bool>& interrupted);
    void log_out();
    void check_progress(const std::atomic<bool>& interrupted);

    LoadOptions options_;
    Market market_;
    std::vector<std::string> symbols_;
    Account account_;
    Socket epoll_;
    std::vector<std::unique_ptr<Client>> clients_;
    std::vector<std::int64_t> due_ns_;
    std::size_t sent_ = 0;
    std::uint64_t reconnects_ = 0;
    std::int64_t begin_ns_ = 0;
    std::int64_t answered_ns_ = 0;  // the last answer
    std::int64_t moved_ns_ = 0;     // anything came
};

}  // namespace strid::exchange::load
