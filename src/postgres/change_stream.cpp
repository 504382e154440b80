// SPDX-License-Identifier: Apache-2.0
#include "change_stream.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include <fmt/format.h>
#include <poll.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/engine/base/thread_name.hpp>

namespace strid::postgres {

namespace {

constexpr std::int64_t status_every_ns_most = 10'000'000'000;
constexpr std::int64_t status_every_ns_least = 50'000'000;
constexpr std::int64_t look_every_ns = 2'000'000'000;
constexpr std::uint64_t bytes_in_mib = 1 << 20;

std::int64_t us_since_1970() {
    return std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds{1};
}

}  // namespace

ChangeStream::ChangeStream(const TransportAddress& server, Options options, RunScope* run)
    : options_(std::move(options)),
      run_(run),
      address_(server.text()),
      connection_(server, Connection::of_reader({{"replication", "database"}})),
      watch_(server) {}

void ChangeStream::open() {
    connection_.open();
    const postgres::Result about = connection_.run("IDENTIFY_SYSTEM", PGRES_TUPLES_OK);
    system_ = ::PQgetvalue(about.get(), 0, 0);
    end_of_log_ = read_lsn(::PQgetvalue(about.get(), 0, 2)).value_or(0);
    const postgres::Result timeout = connection_.run(
        "select setting from pg_settings where name = 'wal_sender_timeout'", PGRES_TUPLES_OK);
    const std::int64_t timeout_ns = std::stoll(::PQgetvalue(timeout.get(), 0, 0)) * 1'000'000;
    const std::lock_guard lock(mutex_);
    status_every_ns_ =
        timeout_ns == 0 ? status_every_ns_most
                        : std::clamp(timeout_ns / 4, status_every_ns_least, status_every_ns_most);
}

void ChangeStream::close() noexcept {
    const std::lock_guard lock(mutex_);
    is_streaming_ = false;
    connection_.close();
}

void ChangeStream::start(Lsn from) {
    Lock lock(mutex_);
    const std::string publication = connection_.quoted(options_.publication);
    char* const literal =
        ::PQescapeLiteral(connection_.get(), publication.data(), publication.size());
    if (literal == nullptr) connection_.fail();
    const std::string names = literal;
    ::PQfreemem(literal);
    connection_.run(fmt::format("START_REPLICATION SLOT {} LOGICAL {} (proto_version '1', "
                                "publication_names {})",
                                connection_.quoted(options_.slot), text_of_lsn(from), names),
                    PGRES_COPY_BOTH);
    if (::PQsetnonblocking(connection_.get(), 1) != 0) connection_.fail();
    is_streaming_ = true;
    if (!thread_.joinable()) {
        thread_ = std::jthread([this](const std::stop_token& stop) { keep_alive(stop); });
    }
}

std::string_view ChangeStream::next(int wait_ms) {
    Lock lock(mutex_);
    for (bool has_looked = wait_ms == at_hand;; has_looked = true) {
        char* message = nullptr;
        const int size = ::PQgetCopyData(connection_.get(), &message, 1);
        message_.reset(message);
        if (size > 0) return {message, static_cast<std::size_t>(size)};
        if (size == -2) connection_.fail();
        if (size == -1) {
            const postgres::Result last(::PQgetResult(connection_.get()));
            if (::PQresultStatus(last.get()) == PGRES_FATAL_ERROR) connection_.fail(last.get());
            throw ConnectionLost(address_ + ": the server has ended the stream of changes");
        }
        if (has_looked) return {};
        if (wait_ms != 0) {
            struct pollfd waited {
                ::PQsocket(connection_.get()), POLLIN, 0
            };
            lock.unlock();
            if (::poll(&waited, 1, wait_ms) <= 0) return {};
            lock.lock();
        }
        if (::PQconsumeInput(connection_.get()) == 0) connection_.fail();
    }
}

/// Under the lock. A connection that is lost is noticed by the one that reads.
void ChangeStream::send_status() noexcept {
    if (!is_streaming_) return;
    const std::string status = status_message(confirmed_, us_since_1970());
    (void)::PQputCopyData(connection_.get(), status.data(), static_cast<int>(status.size()));
    (void)::PQflush(connection_.get());
}

void ChangeStream::keep_alive(const std::stop_token& stop) {
    detail::name_this_thread("strid-changes");
    std::int64_t look_at_ns = 0;
    Lock lock(mutex_);
    while (!stop.stop_requested()) {
        send_status();
        is_due_ = false;
        const std::int64_t now = now_ns();
        if (is_streaming_ && now >= look_at_ns) {
            lock.unlock();
            look();
            lock.lock();
            look_at_ns = now + look_every_ns;
        }
        const std::int64_t wait_ns = std::min(status_every_ns_, look_every_ns);
        (void)sleep_.wait_for(lock, stop, std::chrono::nanoseconds(wait_ns), [] { return false; });
    }
}

/// How much of the log the slot holds. A server that ends would wait until all was
/// confirmed: it is let go.
void ChangeStream::look() noexcept {
    for (bool was_open = true; was_open;) {
        was_open = watch_.is_open();
        try {
            if (!was_open) watch_.open();
            return look_at_slot();
        } catch (const std::exception& error) {
            watch_.close();
            const bool is_ending =
                std::string_view(error.what()).find("is shutting down") != std::string_view::npos;
            if (is_ending) connection_.cut();
        }
    }
}

void ChangeStream::look_at_slot() {
    const postgres::Result found = watch_.run(
        "select coalesce(pg_wal_lsn_diff(case when pg_is_in_recovery() then "
        "pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, restart_lsn), 0)::bigint from "
        "pg_replication_slots where slot_name = $1",
        {options_.slot.c_str()}, PGRES_TUPLES_OK);
    if (::PQntuples(found.get()) == 0 || run_ == nullptr) return;
    const std::int64_t bytes = std::stoll(::PQgetvalue(found.get(), 0, 0));
    const std::uint64_t mib =
        static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)) / bytes_in_mib;
    if (mib <= options_.held_mib_max / 2) has_warned_ = false;
    if (mib <= options_.held_mib_max || std::exchange(has_warned_, true)) return;
    run_->warn(fmt::format(
        "{}: the slot '{}' holds {} MiB of the server's log (held_mib={}): it is freed up to the "
        "last snapshot that was stored, or the last row that was emitted",
        address_, options_.slot, mib, options_.held_mib_max));
}

void ChangeStream::confirm(Lsn place) {
    const std::lock_guard lock(mutex_);
    confirmed_ = std::max(confirmed_, place);
}

void ChangeStream::saved(Lsn place) {
    const std::lock_guard lock(mutex_);
    saved_ = place;
}

void ChangeStream::ended(Lsn place) {
    const std::lock_guard lock(mutex_);
    ended_ = place;
}

Lsn ChangeStream::confirmed() const {
    const std::lock_guard lock(mutex_);
    return confirmed_;
}

void ChangeStream::snapshot_begins(std::uint64_t /*snapshot*/) noexcept {
    const std::lock_guard lock(mutex_);
    saved_ = ended_;
}

void ChangeStream::snapshot_ended(std::uint64_t /*snapshot*/, bool is_stored) noexcept {
    const std::lock_guard lock(mutex_);
    if (!is_stored || saved_ <= confirmed_) return;
    confirmed_ = saved_;
    is_due_ = true;
    sleep_.notify_all();
}

void ChangeStream::finish() {
    confirm(ended_);
    end();
}

void ChangeStream::end() noexcept {
    watch_.interrupt();
    thread_ = {};  // asks it to stop, and waits
    Lock lock(mutex_);
    if (is_streaming_) {
        (void)::PQsetnonblocking(connection_.get(), 0);
        send_status();
    }
    is_streaming_ = false;
    connection_.close();
    watch_.close();
}

}  // namespace strid::postgres
