// SPDX-License-Identifier: Apache-2.0
//
// The part of ChangesInput that makes rows: of the first copy, and of the messages of the plugin.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <strid/base/clock.hpp>
#include <strid/base/hash.hpp>
#include <strid/engine/connector/csv_row.hpp>

#include "changes_input.hpp"

namespace strid::postgres {

namespace {

/// Rows are taken ahead of what is read up to so many bytes.
constexpr std::size_t text_bytes = std::size_t{1} << 20;
constexpr std::int64_t slow_slot_ns = 5'000'000'000;
constexpr std::int64_t us_in_ms = 1'000;

struct FreesRow {
    void operator()(char* row) const noexcept { ::PQfreemem(row); }
};

/// False: nothing has come.
bool wait_for(Connection& connection, int wait_ms) {
    struct pollfd waited {
        ::PQsocket(connection.get()), POLLIN, 0
    };
    if (::poll(&waited, 1, wait_ms) <= 0) return false;
    if (::PQconsumeInput(connection.get()) == 0) connection.fail();
    return true;
}

}  // namespace

void ChangesInput::take_slot(int wait_ms) {
    Connection& connection = stream_->connection();
    if (::PQisBusy(connection.get()) != 0 && !wait_for(connection, wait_ms) && run_ != nullptr &&
        now_ns() - making_since_ns_ > slow_slot_ns && !std::exchange(has_warned_of_slot_, true)) {
        run_->warn(fmt::format(
            "{}: the slot '{}' is made when the transactions have ended that began before it: "
            "select * from pg_stat_activity where backend_xid is not null shows them",
            server_.text(), part_.slot));
    }
    if (::PQisBusy(connection.get()) != 0) return;
    const Result made(::PQgetResult(connection.get()));
    if (::PQresultStatus(made.get()) != PGRES_TUPLES_OK) connection.fail(made.get());
    const Lsn lsn = read_lsn(::PQgetvalue(made.get(), 0, 1)).value_or(0);
    connection.expect_end();
    if (part_.makes_copy) return begin_copy(lsn);
    next_ = passed_ = {.kind = ChangePlace::Kind::log, .lsn = lsn};
    Connection questions(server_);
    questions.open();
    begin_stream(questions);
}

void ChangesInput::begin_copy(Lsn lsn) {
    Connection& connection = stream_->connection();
    const Result now =
        connection.run("select (extract(epoch from now()) * 1000)::bigint", PGRES_TUPLES_OK);
    copied_ = {.lsn = text_of_lsn(lsn), .at = lsn, .time_ms = ::PQgetvalue(now.get(), 0, 0)};
    connection.run("copy (" + rows_query(connection, table_) + ") to stdout (format csv)",
                   PGRES_COPY_OUT);
    is_copy_safe_ = false;
    seen_ = {.kind = ChangePlace::Kind::copy};
    if (next_.kind == ChangePlace::Kind::start) next_ = seen_;
    phase_ = Phase::copying;
}

void ChangesInput::take_copy(int wait_ms) {
    Connection& connection = stream_->connection();
    while (rows_.text().size() < text_bytes) {
        char* text = nullptr;
        const int size = ::PQgetCopyData(connection.get(), &text, 1);
        const std::unique_ptr<char, FreesRow> row(text);
        if (size == -2) connection.fail();
        if (size == -1) return end_copy();
        if (size > 0) {
            take_copied_row({text, static_cast<std::size_t>(size)});
        } else if (!rows_.text().empty() || !wait_for(connection, wait_ms)) {
            return;
        }
    }
}

/// Of a copy that is made once more rows that were taken are passed over, if they are the same.
void ChangesInput::take_copied_row(std::string_view row) {
    ++seen_.rows;
    seen_.mark = detail::fold_multiply(seen_.mark ^ detail::hash_secret[0],
                                       detail::hash_bytes(row.data(), row.size()));
    if (seen_.rows <= next_.rows) {
        if (seen_.rows == next_.rows && seen_.mark != next_.mark) fail_of_copy();
        return;
    }
    next_ = seen_;
    rows_.text() += row.substr(0, row.size() - 1);  // without its newline
    end_row("copy", copied_.time_ms, copied_.lsn);
}

void ChangesInput::fail_of_copy() const {
    fail(
        fmt::format("the first copy of '{}' was not complete, and cannot be made once more: the "
                    "rows that were read have changed since; to begin anew: --restart",
                    table_.full_name()));
}

void ChangesInput::end_copy() {
    if (seen_.rows < next_.rows) fail_of_copy();
    Connection& connection = stream_->connection();
    connection.expect_end();
    connection.run("commit", PGRES_COMMAND_OK);
    phase_ = Phase::copied;
    next_ = {.kind = ChangePlace::Kind::log, .lsn = copied_.at};
    note_next();
}

/// Changes come when nothing of the copy is needed any more.
void ChangesInput::wait_for_copy(int wait_ms) {
    bool is_safe = passed_ == next_;
    if (is_safe && has_snapshots()) {
        is_safe = stream_->confirmed() >= next_.lsn;
        if (!is_safe && !std::exchange(has_asked_, true)) run_->request_snapshot();
    }
    if (!is_safe) {
        if (rows_.text().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
        return;
    }
    is_copy_safe_ = true;
    Connection questions(server_);
    questions.open();
    begin_stream(questions);
}

void ChangesInput::take_changes(int wait_ms) {
    try {
        while (rows_.text().size() < text_bytes && phase_ == Phase::streaming) {
            // The server sends each row alone: rows that have come are handed on at once.
            const int wait = rows_.text().empty() ? wait_ms : ChangeStream::at_hand;
            const std::string_view bytes = stream_->next(wait);
            if (bytes.empty()) return;
            const ReplicationMessage message = read_replication_message(bytes);
            take(message);
            if (message.is_sign_of_life) return;  // a server that ends sends one after the other
        }
    } catch (const MalformedMessage& error) {
        fail(error.what());
    }
}

void ChangesInput::take(const ReplicationMessage& message) {
    if (message.is_sign_of_life) {
        // The log has no change of the table before this place.
        const bool is_between = transaction_.commit == 0 && next_.mark == 0;
        if (is_between && message.sent_up_to > next_.lsn) advance(message.sent_up_to);
        return;
    }
    message_.read(message.bytes);
    switch (message_.kind) {
        using enum ChangeMessage::Kind;
        case begin:
            return begin_transaction();
        case commit:
            return end_transaction();
        case relation:
            return check_relation();
        case insert:
            return take_change("insert", message_.row);
        case update:
            return take_change("update", message_.row);
        case remove:
            return take_change("delete", message_.old);
        case truncate: {
            const auto& all = message_.truncated;
            if (std::find(all.begin(), all.end(), table_.number) == all.end()) return;
            message_.relation = table_.number;
            message_.has_old = false;
            message_.row.assign(table_.columns.size(), {});
            return take_change("truncate", message_.row);
        }
        case other:
            return;
    }
}

void ChangesInput::begin_transaction() {
    if (end_ && message_.commit >= *end_) {
        phase_ = Phase::ended;
        return;
    }
    if (next_.mark != 0 && message_.commit > next_.mark) fail_of_transaction();
    transaction_ = {.commit = message_.commit,
                    .time_ms = std::to_string(message_.time_us / us_in_ms),
                    .lsn = text_of_lsn(message_.commit)};
}

void ChangesInput::fail_of_transaction() const {
    fail_of_place(fmt::format("the transaction at {}, of which the run has taken a part, is gone",
                              text_of_lsn(next_.mark)));
}

void ChangesInput::end_transaction() {
    if (transaction_.commit == next_.mark && transaction_.rows < next_.rows) fail_of_transaction();
    transaction_ = {};
    advance(message_.end);
}

/// All before the place was taken.
void ChangesInput::advance(Lsn lsn) {
    next_ = {.kind = ChangePlace::Kind::log, .lsn = lsn};
    note_next();
    if (end_ && lsn >= *end_) phase_ = Phase::ended;
}

/// There is no row between the last one and the place.
void ChangesInput::note_next() {
    auto& rows = rows_.rows();
    if (rows.empty()) {
        passed_ = next_;
        return confirm_passed();
    }
    const std::uint64_t end = rows.back().end;
    if (rows.back().begin != end) rows.push_back({end, end, {}});
    rows.back().place = next_;
}

void ChangesInput::check_relation() const {
    const std::string name = message_.schema + '.' + message_.name;
    if (message_.relation != table_.number) {
        if (name != table_.full_name()) return;
        fail_of_place(fmt::format("the table '{}' was made anew", name));
    }
    if (name != table_.full_name()) {
        fail_of_place(fmt::format("the table '{}' was renamed to '{}'", table_.full_name(), name));
    }
    if (message_.columns == table_.columns) return;
    fail_of_place(fmt::format("the columns of '{}' are '{}' from {} on, and were '{}' before", name,
                              fmt::join(message_.columns, ","), transaction_.lsn, header_));
}

void ChangesInput::take_change(std::string_view kind, const std::vector<ChangedValue>& values) {
    if (message_.relation != table_.number) return;
    if (transaction_.commit == 0 || values.size() != table_.columns.size()) {
        fail("the server has sent a change that is none of the table as it was described");
    }
    ++transaction_.rows;
    const bool was_taken = transaction_.commit == next_.mark && transaction_.rows <= next_.rows;
    if (was_taken) return;
    next_.mark = transaction_.commit;
    next_.rows = transaction_.rows;
    for (std::size_t i = 0; i != values.size(); ++i) {
        if (i != 0) rows_.text() += ',';
        append_value(values[i], i);
    }
    end_row(kind, transaction_.time_ms, transaction_.lsn);
}

/// As COPY has it: no value is an empty field, an empty text is in quotes.
void ChangesInput::append_value(const ChangedValue& value, std::size_t column) {
    using enum ChangedValue::Kind;
    const ChangedValue* shown = &value;
    if (value.kind == unchanged) {
        const bool is_known = message_.has_old && message_.old.size() == table_.columns.size() &&
                              message_.old[column].kind == ChangedValue::Kind::text;
        if (is_known) {
            shown = &message_.old[column];
        } else if (run_ != nullptr && !std::exchange(has_warned_of_value_, true)) {
            run_->warn(fmt::format(
                "{}: an update has left a long value of the column '{}' unchanged, and the log "
                "does not have it: the field is empty; alter table {} replica identity full",
                server_.text(), table_.columns[column], table_.full_name()));
        }
    }
    if (shown->kind != ChangedValue::Kind::text) return;
    if (shown->text.empty()) {
        rows_.text() += "\"\"";
    } else {
        append_csv_field(rows_.text(), shown->text, ',');
    }
}

/// Behind the columns of the table.
void ChangesInput::end_row(std::string_view kind, const std::string& time_ms,
                           const std::string& lsn) {
    (rows_.text() += ',') += kind;
    for (const std::string& name : part_.fields.names()) {
        (rows_.text() += ',') += name == "time" ? time_ms : lsn;
    }
    rows_.end_row(next_);
}

}  // namespace strid::postgres
