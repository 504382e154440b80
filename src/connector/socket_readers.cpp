// SPDX-License-Identifier: Apache-2.0
#include "socket_readers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/thread_name.hpp>
#include <strid/engine/operator/run_stops.hpp>

namespace strid::detail {

namespace {

using namespace std::chrono_literals;

constexpr int readers_backlog = 64;
constexpr auto reader_handshake_wait = 10s;
/// At the end, and when the run is stopped, readers that take nothing for so long are left.
constexpr auto reader_end_wait = 10s;
/// When the run is stopped all are left after so long: one may take a byte now and then.
constexpr auto reader_stop_wait = 20s;
/// Where the run ends early they have so long for what waits for them.
constexpr auto reader_let_go_wait = 2s;
constexpr std::chrono::milliseconds accept_pause = 100ms;
/// A reader is left so much time to close its side, so that nothing that it was sent is lost.
constexpr auto reader_leaving_wait = 1s;
constexpr int reader_look_ms = 500;  // for handshakes that take too long
constexpr std::size_t reader_piece_bytes = std::size_t{64} << 10;

}  // namespace

SocketReaders::SocketReaders(const SocketOutputPlace& place, RunScope* run)
    : place_(place),
      run_(run),
      tls_(http::tls_server(place.tls, place.text)),
      listener_(place.address, readers_backlog),
      woken_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (woken_.get() < 0) {
        throw InputOutputError(place.text + ": " + std::generic_category().message(errno));
    }
    thread_ = std::thread([this] {
        name_this_thread("strid-readers");
        serve();
    });
}

SocketReaders::~SocketReaders() {
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
    }
    wake();
    thread_.join();
}

void SocketReaders::warn(const std::string& text) const {
    if (run_ != nullptr) run_->warn(place_.text + ": " + text);
}

void SocketReaders::wake() const noexcept {
    const std::uint64_t one = 1;
    (void)!::write(woken_.get(), &one, sizeof one);
}

template <class Holds>
void SocketReaders::wait(std::unique_lock<std::mutex>& lock, const Holds& holds) {
    const std::stop_token token = run_ != nullptr ? run_->interruption() : std::stop_token{};
    if (!changed_.wait(lock, token, holds)) throw Interrupted();
}

void SocketReaders::set_header(const std::string& header) {
    const std::lock_guard lock(mutex_);
    header_ = header;
    for (Reader& reader : readers_) {
        if (!reader.has_begun) continue;
        if (reader.bytes() == 0) reader.took_at = Clock::now();
        reader.pending.insert(reader.sent, header);
    }
    wake();
}

bool SocketReaders::has_room(const Reader& reader, std::size_t bytes) const noexcept {
    const std::size_t held = reader.bytes();
    return held == 0 || held + bytes <= place_.waiting_bytes_max;
}

void SocketReaders::write(std::string_view rows) {
    std::unique_lock lock(mutex_);
    if (begun_ < place_.await) wait(lock, [this] { return begun_ >= place_.await; });
    if (place_.slow == SlowReader::waits) {
        const auto takes = [&](const Reader& reader) {
            return !reader.has_begun || reader.is_over || has_room(reader, rows.size());
        };
        wait(lock, [&] { return std::all_of(readers_.begin(), readers_.end(), takes); });
    }
    for (Reader& reader : readers_) {
        if (reader.has_begun && !reader.is_over) add(reader, rows);
    }
    wake();
}

void SocketReaders::add(Reader& reader, std::string_view rows) {
    if (has_room(reader, rows.size())) {
        if (reader.sent == reader.pending.size()) {
            reader.pending.clear();
            reader.sent = 0;
            reader.took_at = Clock::now();
        }
        reader.pending += rows;
        return;
    }
    if (place_.slow == SlowReader::is_closed) {
        reader.is_over = true;
        warn("a reader is too slow, and was closed");
        return;
    }
    const auto lines = static_cast<std::uint64_t>(std::count(rows.begin(), rows.end(), '\n'));
    if (std::exchange(reader.lost_rows, reader.lost_rows + lines) == 0) {
        warn("a reader is too slow, and loses rows");
    }
    lost_rows_ += lines;
}

void SocketReaders::end() {
    std::unique_lock lock(mutex_);
    is_ending_ = true;
    wake();
    wait(lock, [this] { return readers_.empty(); });
    if (lost_rows_ != 0) warn(fmt::format("readers that were slow have lost {} rows", lost_rows_));
}

/// Those that may lose rows anyway are not waited for, so that they never hold the graph back.
void SocketReaders::flush() {
    if (place_.slow != SlowReader::waits) return;
    const auto has_all = [](const Reader& reader) { return reader.is_over || reader.bytes() == 0; };
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return std::all_of(readers_.begin(), readers_.end(), has_all); });
}

void SocketReaders::let_go() noexcept {
    if (RunStops::of_process().of(run_) == RunStop::cancelled) return;
    std::unique_lock lock(mutex_);
    is_ending_ = true;
    wake();
    changed_.wait_for(lock, reader_let_go_wait, [this] { return readers_.empty(); });
}

/// The thread.
void SocketReaders::serve() {
    for (;;) {
        wait_for_events();
        const std::lock_guard lock(mutex_);
        if (is_closing_) return;
        if (!is_ending_) accept();
        for (Reader& reader : readers_) {
            try {
                step(reader);
            } catch (const std::exception&) {  // no memory
                reader.is_over = true;
            }
        }
        leave_those_that_are_stuck();
        remove_those_gone();
        changed_.notify_all();
    }
}

void SocketReaders::wait_for_events() {
    std::vector<::pollfd> waited;
    {
        const std::lock_guard lock(mutex_);
        const bool takes =
            !is_ending_ && readers_.size() < place_.clients_max && Clock::now() >= accept_from_;
        waited.push_back({woken_.get(), POLLIN, 0});
        waited.push_back({takes ? listener_.listener() : -1, POLLIN, 0});
        for (const Reader& reader : readers_) {
            waited.push_back({reader.peer->descriptor(), reader.events, 0});
        }
    }
    (void)::poll(waited.data(), waited.size(), reader_look_ms);
    std::uint64_t ignored = 0;
    (void)!::read(woken_.get(), &ignored, sizeof ignored);
}

void SocketReaders::accept() {
    while (readers_.size() < place_.clients_max) {
        http::Descriptor socket(
            ::accept4(listener_.listener(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (socket.get() < 0) {
            // No descriptor or no memory is left, perhaps: the reader waits in the system.
            const bool is_none = errno == EAGAIN || errno == ECONNABORTED;
            if (!is_none) accept_from_ = Clock::now() + accept_pause;
            return;
        }
        readers_.push_back({.peer = std::make_unique<PeerStream>(std::move(socket), tls_),
                            .handshake_until = Clock::now() + reader_handshake_wait});
    }
}

void SocketReaders::step(Reader& reader) {
    if (reader.is_over) return;
    take_what_it_sends(reader);
    if (reader.is_over) return;
    if (reader.peer->is_in_handshake()) {
        reader.is_over = is_ending_ || Clock::now() > reader.handshake_until;
        return;
    }
    if (!std::exchange(reader.has_begun, true)) {
        ++begun_;
        reader.pending = header_;
        reader.took_at = Clock::now();
    }
    send_to(reader);
    if (!is_ending_ || reader.bytes() != 0 || reader.is_over) return;
    if (!std::exchange(reader.is_leaving, true)) {
        reader.peer->announce_end();
        reader.handshake_until = Clock::now() + reader_leaving_wait;
    }
    reader.is_over = Clock::now() > reader.handshake_until;
}

/// Also the handshake, and the end of the connection.
void SocketReaders::take_what_it_sends(Reader& reader) {
    std::array<char, 4096> ignored{};
    const bool shook_hands = reader.peer->is_in_handshake();
    for (int i = 0; i != 16; ++i) {
        const PeerStream::Step step = reader.peer->receive(ignored);
        if (step.bytes != 0) continue;
        reader.events = step.events;
        if (step.events != 0) return;
        const std::string& error = reader.peer->error();
        reader.is_over = true;
        if (shook_hands && !error.empty()) warn("a reader was refused: " + error);
        return;
    }
    reader.events = POLLIN;
}

void SocketReaders::send_to(Reader& reader) {
    while (reader.bytes() != 0) {
        const auto rest = std::string_view(reader.pending).substr(reader.sent, reader_piece_bytes);
        const PeerStream::Step step = reader.peer->send(rest);
        reader.sent += step.bytes;
        if (step.bytes != 0) {
            reader.took_at = Clock::now();
            continue;
        }
        reader.events = static_cast<short>(reader.events | step.events);
        reader.is_over = step.events == 0;
        return;
    }
    reader.pending.clear();
    reader.sent = 0;
}

void SocketReaders::leave_those_that_are_stuck() {
    const auto now = Clock::now();
    const bool is_stopped = RunStops::of_process().of(run_) != RunStop::none;
    if (!is_stopped && !is_ending_) return;
    if (hurry_from_ == Clock::time_point{}) hurry_from_ = now;
    if (is_stopped && stopped_at_ == Clock::time_point{}) stopped_at_ = now;
    const bool is_too_late = is_stopped && now - stopped_at_ > reader_stop_wait;
    for (Reader& reader : readers_) {
        if (reader.is_over || reader.bytes() == 0) continue;
        const bool is_stuck = now - std::max(reader.took_at, hurry_from_) > reader_end_wait;
        if (!is_stuck && !is_too_late) continue;
        reader.is_over = true;
        warn("a reader has not taken its rows in time, and was left");
    }
}

void SocketReaders::remove_those_gone() {
    readers_.remove_if([](const Reader& reader) { return reader.is_over; });
}

std::unique_ptr<SocketRows> listen_for_readers(const SocketOutputPlace& place, RunScope* run) {
    return std::make_unique<SocketReaders>(place, run);
}

}  // namespace strid::detail
