// SPDX-License-Identifier: Apache-2.0
//
// Rows for a server that is connected to. Without `retry` a connection that breaks is an error;
// with it another one is made, which begins with the header and with the rows that were being sent.
// One thread.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <poll.h>

#include <strid/base/error.hpp>
#include <strid/engine/operator/run_stops.hpp>

#include "peer_stream.hpp"
#include "socket_input.hpp"
#include "socket_output.hpp"

namespace strid::detail {

namespace {

using namespace std::chrono_literals;
using SenderClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds sender_slice = 50ms;  // how soon an interruption has an effect
constexpr std::chrono::milliseconds sender_retry_first = 100ms;
constexpr std::chrono::milliseconds sender_retry_most = 5s;
constexpr auto sender_connect_wait = 10s;
/// The server is left so much time to close its side, so that nothing that it was sent is lost.
constexpr auto sender_leaving_wait = 2s;
/// The same where the run ends early.
constexpr auto sender_let_go_wait = 1s;

/// The connection cannot be made, or has broken.
class Broken : public InputOutputError {
  public:
    using InputOutputError::InputOutputError;
};

class SocketSender final : public SocketRows {
  public:
    SocketSender(const SocketOutputPlace& place, RunScope* run)
        : place_(place),
          run_(run),
          secure_(place.is_tls ? http::tls_client(place.tls, place.host, place.text) : nullptr),
          connection_(run != nullptr && place.retry.count() != 0 ? run->connect_to(place.text)
                                                                 : nullptr) {
        try {
            connect();
        } catch (const Broken& error) {
            // The start of a run does not wait: the first rows do.
            if (place_.retry.count() == 0) throw;
            note_lost(error.what());
        }
    }

    void set_header(const std::string& header) override { header_ = header; }
    void write(std::string_view rows) override {
        in_time([&] {
            connect();
            if (!std::exchange(has_header_, true)) send(header_);
            send(rows);
        });
    }
    void flush() override {}  // write() has given all to the system
    void let_go() noexcept override {
        if (!peer_) return;
        try {
            const bool waits = is_whole_ && RunStops::of_process().of(run_) != RunStop::cancelled;
            if (waits) peer_->announce_end();
            take_what_it_sends(waits ? sender_let_go_wait : 0s, [this](short e) { poll_for(e); });
        } catch (const std::exception&) {  // no memory: it is closed as it is
        }
    }
    void end() override {
        if (!peer_ && !is_there()) return;  // and there were no rows
        if (!has_header_ && !header_.empty()) write({});
        peer_->announce_end();
        take_what_it_sends(sender_leaving_wait, [this](short events) { wait_for(events); });
        if (peer_->error().empty()) return;
        throw InputOutputError(place_.text + ": the last rows may be lost: " + peer_->error());
    }

  private:
    [[nodiscard]] bool is_interrupted() const noexcept {
        return run_ != nullptr && run_->interrupted().load(std::memory_order_relaxed);
    }
    [[noreturn]] void fail(const std::string& reason) const {
        throw Broken(place_.text + ": " + reason);
    }
    void poll_for(short events) const noexcept {
        struct pollfd waited {
            peer_->descriptor(), events, 0
        };
        (void)::poll(&waited, 1, static_cast<int>(sender_slice.count()));
    }
    void wait_for(short events) const {
        poll_for(events);
        if (is_interrupted()) throw Interrupted();
    }

    /// Until it closes its side. A socket that is closed before all was read from it takes back the
    /// bytes that are on their way.
    template <class Wait>
    void take_what_it_sends(SenderClock::duration most, const Wait& wait) {
        std::array<char, 4096> ignored{};
        const auto until = SenderClock::now() + most;
        do {
            const auto step = peer_->receive(ignored);
            if (step.bytes == 0 && step.events == 0) return;
            if (step.bytes == 0) wait(step.events);
        } while (SenderClock::now() < until);
    }

    [[nodiscard]] bool is_there() {
        try {
            connect();
            return true;
        } catch (const Broken&) {
            return false;
        }
    }

    void note_lost(const char* reason) const {
        if (connection_) connection_->lost(reason, "rows wait, and it is connected to once more");
    }

    /// Calls `act` until it succeeds, for the time of `retry` from when the connection has broken:
    /// a server that takes its time spends none of it.
    template <class Act>
    void in_time(const Act& act) {
        SenderClock::time_point until{};
        auto wait = sender_retry_first;
        for (bool is_first = true;; is_first = false) {
            const std::uint64_t before = sent_bytes_;
            try {
                act();
                if (connection_) connection_->is_back();
                return;
            } catch (const Broken& error) {
                peer_.reset();
                if (is_first || sent_bytes_ != before) {
                    until = SenderClock::now() + place_.retry;
                    wait = sender_retry_first;
                }
                if (SenderClock::now() + wait >= until) throw InputOutputError(error.what());
                note_lost(error.what());
            }
            for (const auto then = SenderClock::now() + wait; SenderClock::now() < then;) {
                std::this_thread::sleep_for(sender_slice);
                if (is_interrupted()) throw Interrupted();
            }
            wait = std::min(wait * 2, sender_retry_most);
        }
    }

    void connect() {
        if (peer_) return;
        const auto until = SenderClock::now() + sender_connect_wait;
        int descriptor = -1;
        try {
            SocketInput socket(place_.address);
            while ((descriptor = socket.connected(static_cast<int>(sender_slice.count()))) < 0) {
                if (is_interrupted()) throw Interrupted();
                if (SenderClock::now() > until) fail("cannot connect in 10 s");
            }
        } catch (const Broken&) {
            throw;
        } catch (const InputOutputError& error) {
            throw Broken(error.what());
        }
        peer_ = std::make_unique<PeerStream>(http::Descriptor(descriptor), secure_);
        has_header_ = false;
        std::array<char, 1> none{};
        while (peer_->is_in_handshake()) {
            const auto step = peer_->receive(none);
            if (step.bytes != 0 || !peer_->is_in_handshake()) break;
            if (step.events == 0) {
                const std::string& error = peer_->error();
                fail(error.empty() ? "TLS: the other end has closed the connection" : error);
            }
            if (SenderClock::now() > until) fail("TLS: the handshake has not ended in 10 s");
            wait_for(step.events);
        }
    }

    void send(std::string_view text) {
        is_whole_ = text.empty();
        while (!text.empty()) {
            const auto step = peer_->send(text);
            text.remove_prefix(step.bytes);
            sent_bytes_ += step.bytes;
            is_whole_ = text.empty();
            if (step.bytes != 0) continue;
            if (step.events == 0) {
                const std::string& error = peer_->error();
                fail("cannot write: " +
                     (error.empty() ? "the other end has closed the connection" : error));
            }
            wait_for(step.events);
        }
    }

    const SocketOutputPlace& place_;
    RunScope* const run_;
    const http::SecureServer secure_;  // null: as the bytes are
    const std::shared_ptr<Connection> connection_;
    std::unique_ptr<PeerStream> peer_;
    std::string header_;
    std::uint64_t sent_bytes_ = 0;
    bool has_header_ = false;  // the server
    bool is_whole_ = true;     // what it was sent ends with a row
};

}  // namespace

std::unique_ptr<SocketRows> connect_rows(const SocketOutputPlace& place, RunScope* run) {
    return std::make_unique<SocketSender>(place, run);
}

}  // namespace strid::detail
