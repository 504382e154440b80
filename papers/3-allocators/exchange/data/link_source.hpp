// SPDX-License-Identifier: Apache-2.0
//
// The way in: a source that first sends the books the content of the journal, and then listens for
// the session manager and reads its commands. Polls wait in the system, on a thread of the source's
// own.
//
// Invariant: commands leave in the order of their numbers, each once. A repeated command is
// skipped. A command ahead of its turn, or an invalid message, ends the link: the session manager
// logs on again and gets the number to go on from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <strid/base/clock.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/source.hpp>

#include "data/progress.hpp"
#include "data/sender.hpp"
#include "data/task.hpp"
#include "fix/decoder.hpp"
#include "link/log.hpp"
#include "link/socket.hpp"

namespace strid::exchange {

/// The listening side of the link. One thread, but for stop().
class LinkServer {
  public:
    LinkServer(Socket listener, std::vector<Task> restored, CommandNumber next_command,
               std::shared_ptr<const Listing> listing, Progress& progress, Sender& sender,
               const Log& log);

    void open(const Context& context);
    /// Appends `tasks_max` tasks at most. Waits up to a second where nothing is there.
    void gather(std::vector<Task>& tasks, std::size_t tasks_max);
    /// Ends a wait. Any thread.
    void stop() noexcept;

  private:
    struct Peer {
        std::shared_ptr<Socket> socket = {};
        fix::Decoder decoder = fix::Decoder();
        std::int64_t since_ns = 0;
        bool is_logged_on = false;
        bool has_more = false;  // messages that were received and not looked at
        bool is_gone = false;
    };

    void wait();
    void accept();
    void receive(Peer& peer);
    void decode(Peer& peer, std::vector<Task>& tasks, std::size_t tasks_max);
    void handle(Peer& peer, const fix::Message& message, std::vector<Task>& tasks);
    void log_on(Peer& peer, const fix::Message& message);
    void take_command(const fix::Message& message, std::vector<Task>& tasks);
    void end(Peer& peer, const std::string& why);

    Socket listener_;
    Socket wake_;  // an eventfd
    std::deque<Task> restored_;
    CommandNumber next_command_;
    std::shared_ptr<const Listing> listing_;
    Progress& progress_;
    Sender& sender_;
    const Log& log_;
    std::deque<Peer> peers_;
    bool had_tasks_ = true;
    Counter repeated_;
    Counter ended_links_;
};

class LinkSource {
  public:
    using record_type = Task;
    static constexpr SourceTraits traits{
        .hears = events<Opened, Stopped>, .has = Has::wake_at_ns | Has::blocks, .stateless = true};

    explicit LinkSource(std::shared_ptr<LinkServer> server) : server_(std::move(server)) {}

    void on(const Opened& opened) { server_->open(opened.context); }
    [[nodiscard]] bool blocks() const noexcept { return true; }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return wake_at_ns_; }
    void on(Stopped) noexcept { server_->stop(); }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        tasks_.clear();
        server_->gather(tasks_, budget);
        for (Task& task : tasks_) emit(std::move(task));
        // The next poll waits in the system.
        wake_at_ns_ = now_ns();
        return tasks_.size() == budget ? SourceStatus::more : SourceStatus::idle;
    }

  private:
    std::shared_ptr<LinkServer> server_;
    std::vector<Task> tasks_;
    std::int64_t wake_at_ns_ = 0;
};

}  // namespace strid::exchange
