// SPDX-License-Identifier: Apache-2.0
#include "table_output.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/connector/address_options.hpp>
#include <strid/engine/connector/random_name.hpp>
#include <strid/state/codec.hpp>

#include "outputs_of_runs.hpp"

namespace strid::detail {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds retry_first = 100ms;
constexpr std::chrono::milliseconds retry_most = 5s;
/// Rows of a run without snapshots wait so long for a server.
constexpr auto rows_wait = 15s;
/// At the end of a run a table that cannot be reached is waited for so long; its rows are in the
/// last snapshot.
constexpr auto end_wait = 60s;
/// The same where the run was stopped, and another one will go on.
constexpr auto suspend_wait = 5s;

}  // namespace

TableOutput::TableOutput(std::string address, Writing writing)
    : address_(std::move(address)),
      result_(transport_result(address_)),
      writing_(writing),
      table_(make_transport_output(address_)) {}

TableOutput::~TableOutput() {
    disconnect();
}

void TableOutput::begin() {
    table_ = make_transport_output(address_);  // a run before this one has interrupted its own
    failure_ = nullptr;
    connection_ = run_ != nullptr ? run_->connect_to(shown_address(address_)) : nullptr;
    by_epoch_ = run_ != nullptr && run_->takes_snapshots();
    columns_.clear();
    if (by_epoch_) {
        begin_epochs();
    } else {
        if (!header_.empty()) columns_ = names_in_row(std::exchange(header_, {}));
        table_->open(columns_);
        if (run_ != nullptr) {
            on_interruption_.emplace(run_->interruption(), [this] { table_->interrupt(); });
        }
    }
    is_open_ = true;
}

void TableOutput::begin_epochs() {
    rows_.clear();
    epochs_.clear();
    set_held_bytes(0);
    stored_ = added_ = begun_ = 0;
    has_asked_ = is_to_be_opened_ = false;
    stream_.clear();
    if (!OutputsOfRuns::of_process().add(run_, result_)) {
        throw GraphError(address_ +
                         ": two sinks of a run that takes snapshots write there: merge "
                         "their streams, or give one of them &sink=2");
    }
    try {
        if (const auto* const before = run_->prepared(result_)) go_on(*before);
        if (!header_.empty()) columns_ = names_in_row(std::exchange(header_, {}));
        table_->open(columns_);
        if (stream_.empty()) stream_ = random_name();
        (void)table_->last_epoch(stream_);  // which may not be allowed
    } catch (...) {
        OutputsOfRuns::of_process().remove(run_, result_);
        throw;
    }
    if (run_->simulated()) return;
    thread_ = std::jthread([this](const std::stop_token& stop) { add_epochs(stop); });
}

// The snapshot that the rows are from was stored.
void TableOutput::go_on(const std::vector<std::byte>& before) {
    StateReader reader{before};
    stream_ = std::string(reader.text());
    for (std::size_t left = reader.length(); left != 0; --left) {
        columns_.emplace_back(reader.text());
    }
    added_ = reader.number();
    table_->open(columns_);
    const std::uint64_t last = table_->last_epoch(stream_);
    if (table_->keeps_epochs() && last < added_) {
        throw GraphError(fmt::format(
            "{}: the table had the rows of epoch {}, and says {} now: the rows of a snapshot would "
            "be written twice; it was restored from a copy, or has forgotten its epochs",
            address_, added_, last));
    }
    if (last > run_->before().behind) {
        throw GraphError(fmt::format(
            "{}: the table has the rows of epoch {}, and the run goes on behind snapshot {}: they "
            "would be written twice; the snapshot of that number is gone or damaged",
            address_, last, run_->before().behind));
    }
    added_ = last;
    for (std::size_t left = reader.length(); left != 0; --left) {
        const std::uint64_t number = reader.number();
        const auto rows = std::make_shared<const std::string>(reader.text());
        if (number <= last) continue;
        if (table_->keeps_epochs() || run_->simulated()) {
            add_epoch({number, rows}, false);
            added_ = number;
            continue;
        }
        // The thread adds them: a slow server does not delay the start.
        epochs_.push_back({number, rows});
        set_held_bytes(held_bytes_ + rows->size());
        stored_ = number;
    }
    reader.expect_end();
    table_->close();
}

/// A header that comes behind the first open().
void TableOutput::take_columns() {
    if (header_.empty()) return;
    columns_ = names_in_row(std::exchange(header_, {}));
    is_to_be_opened_ = thread_.joinable();  // by the thread, which may be using it
    if (is_to_be_opened_) return;
    table_->open(columns_);
    if (by_epoch_) (void)table_->last_epoch(stream_);
}

void TableOutput::write(std::string_view rows) {
    if (failure_) std::rethrow_exception(failure_);
    take_columns();
    if (rows.empty()) return;
    if (!by_epoch_) return write_at_once(rows);
    rows_ += rows;
    set_held_bytes(held_bytes_ + rows.size());
    if (held_bytes_ > held_bytes_max) wait_for_room();
}

void TableOutput::write_at_once(std::string_view rows) {
    try {
        write_with_patience(rows);
        if (writing_ == Writing::live) table_->commit();
    } catch (...) {
        failure_ = std::current_exception();
        if (run_ != nullptr && run_->interrupted().load(std::memory_order_relaxed))
            throw Interrupted{};
        throw;
    }
}

/// Where the transport takes rows again, a connection that is lost is made once more.
void TableOutput::write_with_patience(std::string_view rows) {
    const auto until = std::chrono::steady_clock::now() + rows_wait;
    for (bool is_lost = false;; std::this_thread::sleep_for(retry_first)) {
        try {
            if (is_lost) table_->open(columns_);
            table_->write(rows);
            if (is_lost) connection_->is_back();
            return;
        } catch (const ConnectionLost& error) {
            if (!table_->takes_rows_again() || run_ == nullptr ||
                run_->interrupted().load(std::memory_order_relaxed) ||
                std::chrono::steady_clock::now() > until)
                throw;
            connection_->lost(error.what(), "the rows are sent once more");
            is_lost = true;
        }
    }
}

// Rows that wait for a snapshot are let in, because its barrier is behind them: also where the
// table is away, so that a run that is stopped has its last snapshot.
void TableOutput::wait_for_room() {
    if (!std::exchange(has_asked_, true)) run_->request_snapshot();
    if (run_->simulated()) return;
    const auto is_free = [this] {
        const bool lets_barrier_pass = begun_ > snapshot_ && held_bytes_ < 2 * held_bytes_max;
        return failure_ || !has_work() || lets_barrier_pass;
    };
    if (!changed_.wait(mutex_, run_->interruption(), is_free)) throw Interrupted{};
    if (failure_) std::rethrow_exception(failure_);
}

void TableOutput::end_epoch(std::uint64_t number) {
    if (rows_.empty()) return;
    epochs_.push_back({number, std::make_shared<const std::string>(std::exchange(rows_, {}))});
}

void TableOutput::cut(std::uint64_t snapshot) {
    if (failure_) std::rethrow_exception(failure_);
    end_epoch(snapshot);
    has_asked_ = false;
}

void TableOutput::snapshot_begins(std::uint64_t snapshot) noexcept {
    const std::scoped_lock lock(mutex_);
    begun_ = snapshot;
    changed_.notify_all();
}

void TableOutput::prepare(std::uint64_t snapshot, StateWriter& writer) {
    const std::scoped_lock lock(mutex_);
    // Else all users have closed before it, and all is before it.
    if (snapshot != snapshot_) end_epoch(snapshot);
    writer.text(stream_);
    writer.length(columns_.size());
    for (const std::string& column : columns_) writer.text(column);
    writer.number(added_);
    writer.length(epochs_.size());
    for (const Epoch& epoch : epochs_) {
        writer.number(epoch.number);
        writer.text(*epoch.rows);
    }
}

void TableOutput::snapshot_ended(std::uint64_t snapshot, bool is_stored) noexcept {
    const std::scoped_lock lock(mutex_);
    has_asked_ = false;
    if (!is_stored || !by_epoch_) return;
    stored_ = snapshot;
    changed_.notify_all();
    if (!run_->simulated()) return;
    try {
        for (; has_work(); epochs_.pop_front()) {
            add_epoch(epochs_.front(), false);
            added_ = epochs_.front().number;
            set_held_bytes(held_bytes_ - epochs_.front().rows->size());
        }
    } catch (...) {
        failure_ = std::current_exception();
    }
}

void TableOutput::set_held_bytes(std::size_t bytes) noexcept {
    held_bytes_ = bytes;
    connection_->hold(bytes);
}

bool TableOutput::has_work() const noexcept {
    return !epochs_.empty() && epochs_.front().number <= stored_;
}

/// The thread of the table.
void TableOutput::add_epochs(const std::stop_token& stop) {
    auto wait = retry_first;
    bool is_lost = false;
    std::unique_lock lock(mutex_);
    // With work left the wait is over also where a stop is requested.
    while (changed_.wait(lock, stop, [this] { return has_work(); }) && !stop.stop_requested()) {
        const Epoch epoch = epochs_.front();
        const std::vector<std::string> columns = columns_;
        const bool opens = std::exchange(is_to_be_opened_, false) || is_lost;
        lock.unlock();
        std::string reason;
        std::exception_ptr failure;
        try {
            if (opens) table_->open(columns);
            add_epoch(epoch, opens);
        } catch (const ConnectionLost& error) {
            reason = error.what();
        } catch (...) {
            failure = std::current_exception();
        }
        if (!reason.empty()) {
            table_->close();
            if (!stop.stop_requested()) {
                connection_->lost(reason, "rows wait, and the connection is made once more");
            }
            is_lost = true;
        } else if (std::exchange(is_lost, false)) {
            connection_->is_back();
            wait = retry_first;
        }
        lock.lock();
        if (is_lost) {
            (void)changed_.wait_for(lock, stop, wait, [] { return false; });
            wait = std::min(wait * 2, retry_most);
            continue;
        }
        if (failure) {
            failure_ = failure;
            changed_.notify_all();
            return;
        }
        added_ = epoch.number;
        set_held_bytes(held_bytes_ - epoch.rows->size());
        epochs_.pop_front();
        changed_.notify_all();
    }
}

/// `is_new`: the table was opened for it. The connection may have been lost behind the commit.
void TableOutput::add_epoch(const Epoch& epoch, bool is_new) {
    if (is_new && table_->keeps_epochs()) {
        const std::uint64_t last = table_->last_epoch(stream_);
        if (last == epoch.number) return;
        if (last != added_) {
            throw InputOutputError(fmt::format(
                "{}: the table has the rows of epoch {}, and this process has added {}: another "
                "process writes this stream",
                address_, last, added_));
        }
    }
    table_->write(*epoch.rows);
    table_->commit({.stream = stream_, .number = epoch.number});
}

/// The transaction of a run without snapshots.
void TableOutput::commit_at_once() {
    if (failure_) std::rethrow_exception(failure_);
    take_columns();
    table_->commit();
}

void TableOutput::end() {
    if (run_ != nullptr) return;
    is_open_ = false;
    try {
        commit_at_once();
    } catch (...) {
        table_->close();
        throw;
    }
    table_->close();
}

void TableOutput::commit() {
    try {
        commit_rows();
    } catch (...) {
        disconnect();
        throw;
    }
    disconnect();
}

void TableOutput::commit_rows() {
    std::unique_lock lock(mutex_);
    if (!is_open_) return;
    if (!by_epoch_) return commit_at_once();
    const bool is_done =
        changed_.wait_for(lock, end_wait, [this] { return failure_ || !has_work(); });
    if (failure_) std::rethrow_exception(failure_);
    if (is_done) return;
    throw InputOutputError(
        address_ +
        ": cannot be reached: the last rows are in the last snapshot, and go into the table when "
        "the program is started again");
}

void TableOutput::let_go() noexcept {
    if (!by_epoch_) table_->close();
}

void TableOutput::discard() noexcept {
    disconnect();
}

// Stored rows go into the table now where they can; else when another run goes on.
void TableOutput::suspend() noexcept {
    {
        std::unique_lock lock(mutex_);
        if (thread_.joinable()) {
            changed_.wait_for(lock, suspend_wait, [this] { return failure_ || !has_work(); });
        }
    }
    disconnect();
}

void TableOutput::disconnect() noexcept {
    on_interruption_.reset();
    if (thread_.joinable()) {
        thread_.request_stop();
        table_->interrupt();
        thread_.join();
    }
    const std::scoped_lock lock(mutex_);
    table_->close();
    if (is_open_ && by_epoch_) OutputsOfRuns::of_process().remove(run_, result_);
    is_open_ = false;
}

}  // namespace strid::detail
