// SPDX-License-Identifier: Apache-2.0
#include "changes_input.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/connector/run_of_input.hpp>
#include <strid/engine/connector/address_options.hpp>

namespace strid::postgres {

namespace {

constexpr std::int64_t retry_ns = 500'000'000;
constexpr int wait_most_ms = 1'000;
constexpr std::string_view of_first_copy = "_copy";
constexpr std::size_t slot_bytes_max = 58;  // with that behind it 63, as the server has it

void sleep_ms(int wait_ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
}

bool is_slot_name(std::string_view name) {
    return !name.empty() && name.size() <= slot_bytes_max &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
           });
}

}  // namespace

ChangesInput::Part::Part(TransportAddress& address)
    : publication(address.take("changes")),
      slot(address.take("slot")),
      table(address.take("table")),
      fields(address, {"time", "lsn"}) {
    if (!is_slot_name(slot)) {
        address.refuse(
            fmt::format("an input of changes has slot=NAME: up to {} letters a to z, digits and "
                        "underscores",
                        slot_bytes_max));
    }
    const std::string first = address.take("first");
    if (!first.empty() && first != "copy" && first != "none") {
        address.refuse("first is copy or none");
    }
    makes_copy = first != "none";
    until_end = detail::take_until_end(address);
    const std::string held = address.take("held_mib");
    held_mib = 1024;
    if (!held.empty() && !detail::read_number(held, held_mib)) {
        address.refuse("held_mib is a number of MiB");
    }
}

ChangesInput::ChangesInput(TransportAddress address)
    : part_(address), server_(std::move(address)), run_(run_of_input()) {
    Connection questions(server_);
    questions.open();
    table_ = published_table(questions, server_.text(), part_.publication, part_.table);
    header_ = table_.header();
    stream_ = std::make_shared<ChangeStream>(
        server_,
        ChangeStream::Options{
            .slot = part_.slot, .publication = part_.publication, .held_mib_max = part_.held_mib},
        run_);
    stream_->open();
    system_ = stream_->system();
    if (part_.until_end) end_ = stream_->end_of_log();
    if (run_ != nullptr) run_->add(stream_);
    rows_.text() = header_ + ",@op";
    for (const std::string& name : part_.fields.names()) rows_.text() += ",@" + name;
    rows_.end_line();
    header_bytes_ = rows_.bytes();
}

ChangesInput::~ChangesInput() {
    if (phase_ == Phase::ended && rows_.rows().empty()) stream_->ended(passed_.lsn);
}

void ChangesInput::fail(const std::string& reason) const {
    throw InputOutputError(server_.text() + ": " + reason);
}

void ChangesInput::fail_of_place(const std::string& reason) const {
    fail(fmt::format("{}; to begin anew: select pg_drop_replication_slot('{}'), and --restart",
                     reason, part_.slot));
}

bool ChangesInput::has_snapshots() const noexcept {
    return run_ != nullptr && run_->takes_snapshots();
}

void ChangesInput::begin() {
    Connection questions(server_);
    questions.open();
    check_server();
    switch (next_.kind) {
        case ChangePlace::Kind::start:
            return begin_anew(questions);
        case ChangePlace::Kind::copy:
            return make_slot(questions);
        case ChangePlace::Kind::log:
            if (is_copy_safe_) return begin_stream(questions);
            phase_ = Phase::copied;
    }
}

/// It is the server of before, and has not forgotten anything.
void ChangesInput::check_server() const {
    if (stream_->system() != system_) {
        fail_of_place("another server is there than the one that was read");
    }
    if (next_.kind == ChangePlace::Kind::log && stream_->end_of_log() < next_.lsn) {
        fail_of_place(
            fmt::format("the log of the server ends at {}, and the run goes on at {}: "
                        "it was restored from a copy",
                        text_of_lsn(stream_->end_of_log()), text_of_lsn(next_.lsn)));
    }
}

void ChangesInput::begin_anew(Connection& questions) {
    const auto confirmed = slot_confirmed(questions, server_.text(), part_.slot);
    if (!confirmed) return make_slot(questions);
    if (part_.makes_copy && has_snapshots()) {
        fail(
            fmt::format("this run begins anew, and there is a slot '{}', whose first rows are "
                        "gone: select pg_drop_replication_slot('{}') for a new copy of the table, "
                        "or first=none for the changes that the slot still has",
                        part_.slot, part_.slot));
    }
    next_ = passed_ = {.kind = ChangePlace::Kind::log, .lsn = *confirmed};
    begin_stream(questions);
}

void ChangesInput::drop_first_slot(Connection& questions) {
    const std::string first = part_.slot + std::string(of_first_copy);
    if (!slot_confirmed(questions, server_.text(), first)) return;
    questions.run("select pg_drop_replication_slot($1)", {first.c_str()}, PGRES_TUPLES_OK);
}

/// The server answers when all transactions have ended that are open now.
void ChangesInput::make_slot(Connection& questions) {
    Connection& connection = stream_->connection();
    if (part_.makes_copy) {
        drop_first_slot(questions);
        // The same rows come in the same order each time, so far as the table says so.
        connection.run("set synchronize_seqscans = off", PGRES_COMMAND_OK);
        connection.run("set max_parallel_workers_per_gather = 0", PGRES_COMMAND_OK);
        // The graph may hold the copy back for long.
        connection.run("set statement_timeout = 0", PGRES_COMMAND_OK);
        connection.run("set idle_in_transaction_session_timeout = 0", PGRES_COMMAND_OK);
        connection.run("begin isolation level repeatable read read only", PGRES_COMMAND_OK);
    }
    const std::string name =
        part_.slot + std::string(part_.makes_copy ? of_first_copy : std::string_view{});
    const std::string command =
        fmt::format("CREATE_REPLICATION_SLOT {} LOGICAL pgoutput {}", connection.quoted(name),
                    part_.makes_copy ? "USE_SNAPSHOT" : "NOEXPORT_SNAPSHOT");
    if (::PQsendQuery(connection.get(), command.c_str()) != 1) connection.fail();
    phase_ = Phase::making;
    making_since_ns_ = now_ns();
}

/// The slot has its name, and none but it is left.
void ChangesInput::name_slot(Connection& questions) {
    if (!slot_confirmed(questions, server_.text(), part_.slot)) {
        const std::string first = part_.slot + std::string(of_first_copy);
        if (slot_confirmed(questions, server_.text(), first) != next_.lsn) {
            fail_of_place(fmt::format("the slot '{}' is gone, and the changes behind {} with it",
                                      part_.slot, text_of_lsn(next_.lsn)));
        }
        questions.run("select pg_copy_logical_replication_slot($1, $2, false)",
                      {first.c_str(), part_.slot.c_str()}, PGRES_TUPLES_OK);
    }
    if (part_.makes_copy) drop_first_slot(questions);
}

/// Changes behind the place, which is also that of a run before, are there.
void ChangesInput::check_slot(Connection& questions) const {
    const auto confirmed = slot_confirmed(questions, server_.text(), part_.slot);
    if (!confirmed || *confirmed <= next_.lsn) return;
    fail_of_place(
        fmt::format("the slot '{}' was confirmed up to {}, and the run goes on at {}: "
                    "the changes between are gone",
                    part_.slot, text_of_lsn(*confirmed), text_of_lsn(next_.lsn)));
}

void ChangesInput::begin_stream(Connection& questions) {
    name_slot(questions);
    transaction_ = {};
    phase_ = Phase::ended;
    if (end_ && next_.lsn >= *end_) return;
    stream_->start(next_.lsn);
    check_slot(questions);  // no other connection can move it now
    phase_ = Phase::streaming;
}

void ChangesInput::go_on_at(std::string_view position) {
    const auto saved = read_place(position);
    if (!saved) fail("the snapshot has no place of changes");
    if (saved->header != header_) {
        fail_of_place(fmt::format("the columns of '{}' were '{}' at the snapshot, and are '{}' now",
                                  table_.full_name(), saved->header, header_));
    }
    system_ = saved->system;
    next_ = passed_ = saved->place;
    check_server();
    if (next_.kind != ChangePlace::Kind::log) return;
    stream_->confirm(next_.lsn);
    Connection questions(server_);
    questions.open();
    name_slot(questions);
    check_slot(questions);
}

void ChangesInput::step(int wait_ms) {
    switch (phase_) {
        case Phase::before:
        case Phase::ended:
            return;
        case Phase::making:
            return take_slot(wait_ms);
        case Phase::copying:
            return take_copy(wait_ms);
        case Phase::copied:
            return wait_for_copy(wait_ms);
        case Phase::streaming:
            return take_changes(wait_ms);
    }
}

void ChangesInput::fetch(int wait_ms) {
    const int wait = wait_ms < 0 ? wait_most_ms : std::min(wait_ms, wait_most_ms);
    if (!stream_->is_open() && now_ns() < retry_at_ns_) return sleep_ms(wait);
    try {
        if (!stream_->is_open()) stream_->open();
        if (phase_ == Phase::before) begin();
        step(wait);
        lost_.clear();
    } catch (const ConnectionLost& error) {
        lost_ = error.what();
        retry_at_ns_ = now_ns() + retry_ns;
        stream_->close();
        phase_ = Phase::before;
    }
}

ByteReader::Result ChangesInput::read(std::span<char> out, int wait_ms) {
    return rows_.read(out, [this, wait_ms] {
        if (phase_ != Phase::ended) fetch(wait_ms);
        return phase_ != Phase::ended;
    });
}

void ChangesInput::passed(std::uint64_t bytes) {
    rows_.pass(bytes, [this](const ChangePlace& behind) { passed_ = behind; });
    confirm_passed();
}

/// Without snapshots rows that were emitted count as done.
void ChangesInput::confirm_passed() {
    if (!has_snapshots() && passed_.kind == ChangePlace::Kind::log) stream_->confirm(passed_.lsn);
}

TransportInput::Position ChangesInput::position(std::uint64_t bytes) {
    passed(bytes);
    const auto* const row = rows_.begun_within(bytes);
    const std::uint64_t at = row != nullptr ? row->begin : std::min(bytes, rows_.bytes());
    stream_->saved(passed_.kind == ChangePlace::Kind::log ? passed_.lsn : 0);
    Position position{.bytes = at - std::min(at, header_bytes_)};
    // Of a copy whose rows have not come the run that goes on begins another one.
    const bool has_place = passed_.kind == ChangePlace::Kind::log || passed_.rows != 0;
    if (has_place) position.text = text_of({passed_, system_, header_});
    return position;
}

}  // namespace strid::postgres
