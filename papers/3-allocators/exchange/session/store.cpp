// SPDX-License-Identifier: Apache-2.0
#include "session/store.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include <strid/base/error.hpp>

namespace strid::exchange {

namespace {

constexpr const char* schema = R"(
create table if not exists users(
    number integer primary key, name text not null unique,
    next_incoming integer not null, next_outgoing integer not null);
create table if not exists messages(
    user integer not null, sequence integer not null, bytes blob not null,
    primary key(user, sequence)) without rowid;
create table if not exists commands(sequence integer primary key, bytes blob not null);
create table if not exists progress(key text primary key, value text not null) without rowid;
pragma user_version = 1;
)";

std::int64_t number_of(std::string_view text, std::int64_t absent) {
    std::int64_t number = absent;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

bool ReportProgress::is_done(std::int64_t report) const noexcept {
    return report < next || std::binary_search(ahead.begin(), ahead.end(), report);
}

void ReportProgress::done(std::int64_t report) {
    if (report != next) {
        ahead.insert(std::upper_bound(ahead.begin(), ahead.end(), report), report);
        return;
    }
    ++next;
    auto end = ahead.begin();
    for (; end != ahead.end() && *end == next; ++end) ++next;
    ahead.erase(ahead.begin(), end);
}

/// A statement that is prepared once. Values are bound in the order of the calls.
class Store::Statement {
  public:
    Statement(Store& store, const char* sql) : store_(store) {
        if (sqlite3_prepare_v2(store.database_.get(), sql, -1, &statement_, nullptr) != SQLITE_OK) {
            store.fail();
        }
    }
    ~Statement() { sqlite3_finalize(statement_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    Statement& bind(std::int64_t number) {
        check(sqlite3_bind_int64(statement_, ++bound_, number));
        return *this;
    }
    Statement& bind_text(std::string_view text) {
        check(sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()),
                                SQLITE_STATIC));
        return *this;
    }
    Statement& bind_bytes(std::string_view bytes) {
        check(sqlite3_bind_blob(statement_, ++bound_, bytes.data(), static_cast<int>(bytes.size()),
                                SQLITE_STATIC));
        return *this;
    }
    void run() {
        while (step()) {
        }
    }
    /// Whether there is a row; after the last one it is as before the first bind().
    bool step() {
        const int code = sqlite3_step(statement_);
        if (code == SQLITE_ROW) return true;
        bound_ = 0;
        const int reset = sqlite3_reset(statement_);
        if (code != SQLITE_DONE || reset != SQLITE_OK) store_.fail();
        return false;
    }
    [[nodiscard]] std::int64_t number(int column) {
        return sqlite3_column_int64(statement_, column);
    }
    [[nodiscard]] std::string_view bytes(int column) {
        const void* const data = sqlite3_column_blob(statement_, column);
        const int size = sqlite3_column_bytes(statement_, column);
        return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
    }

  private:
    void check(int code) {
        if (code != SQLITE_OK) store_.fail();
    }

    Store& store_;
    sqlite3_stmt* statement_ = nullptr;
    int bound_ = 0;
};

void Store::Close::operator()(sqlite3* database) const noexcept {
    sqlite3_close(database);
}

void Store::fail() const {
    throw InputOutputError(path_ + ": " + sqlite3_errmsg(database_.get()));
}

void Store::execute(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

Store::Store(std::string path, Durability durability) : path_(std::move(path)) {
    sqlite3* database = nullptr;
    const int code =
        sqlite3_open_v2(path_.c_str(), &database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(database);
    if (code != SQLITE_OK) fail();
    // A process that was killed a moment ago may hold the lock still.
    sqlite3_busy_timeout(database, 2000);
    execute("pragma locking_mode = exclusive; pragma journal_mode = wal;");
    execute(durability == Durability::power ? "pragma synchronous = full"
                                            : "pragma synchronous = normal");
    execute("begin immediate");
    execute(schema);
    execute("commit");
    const auto prepare = [this](const char* sql) {
        return std::make_unique<Statement>(*this, sql);
    };
    begin_ = prepare("begin");
    commit_ = prepare("commit");
    add_user_ = prepare("insert into users values(null, ?, 1, 1) returning number");
    put_numbers_ =
        prepare("update users set next_incoming = ?, next_outgoing = ? where number = ?");
    keep_ = prepare("insert into messages values(?, ?, ?)");
    forget_ = prepare("delete from messages where user = ?");
    select_ = prepare(
        "select sequence, bytes from messages where user = ? and sequence between ? and ? "
        "order by sequence");
    add_command_ = prepare("insert into commands values(?, ?)");
    drop_commands_ = prepare("delete from commands where sequence < ?");
    put_value_ = prepare("insert or replace into progress values(?, ?)");
}

Store::~Store() {
    // Statements go before their database; a transaction that was not committed is undone.
    for (auto* statement : {&begin_, &commit_, &add_user_, &put_numbers_, &keep_, &forget_,
                            &select_, &add_command_, &drop_commands_, &put_value_}) {
        statement->reset();
    }
}

std::map<std::string, SequenceNumbers> Store::users() {
    std::map<std::string, SequenceNumbers> users;
    Statement select(*this, "select number, name, next_incoming, next_outgoing from users");
    while (select.step()) {
        const std::string name(select.bytes(1));
        user_numbers_[name] = select.number(0);
        users[name] = {select.number(2), select.number(3)};
    }
    return users;
}

std::vector<StoredCommand> Store::commands() {
    std::vector<StoredCommand> commands;
    Statement select(*this, "select sequence, bytes from commands order by sequence");
    while (select.step()) commands.push_back({select.number(0), std::string(select.bytes(1))});
    return commands;
}

std::string Store::value_of(std::string_view key) {
    Statement select(*this, "select value from progress where key = ?");
    select.bind_text(key);
    std::string value;
    while (select.step()) value = select.bytes(0);
    return value;
}

std::int64_t Store::next_command() {
    return number_of(value_of("next_command"), 1);
}

ReportProgress Store::reports() {
    ReportProgress progress;
    const std::string value = value_of("reports");
    std::string_view rest = value;
    progress.next = number_of(rest, 1);
    for (std::size_t space = rest.find(' '); space != std::string_view::npos;
         space = rest.find(' ')) {
        rest.remove_prefix(space + 1);
        progress.ahead.push_back(number_of(rest, 0));
    }
    return progress;
}

void Store::begin() {
    begin_->run();
}

void Store::commit() {
    commit_->run();
}

std::int64_t Store::user_number(const std::string& user) {
    const auto known = user_numbers_.find(user);
    if (known != user_numbers_.end()) return known->second;
    add_user_->bind_text(user);
    std::int64_t number = 0;
    while (add_user_->step()) number = add_user_->number(0);
    return user_numbers_[user] = number;
}

void Store::put_numbers(const std::string& user, const SequenceNumbers& numbers) {
    const std::int64_t number = user_number(user);
    put_numbers_->bind(numbers.next_incoming).bind(numbers.next_outgoing).bind(number).run();
}

void Store::keep_message(const std::string& user, std::int64_t sequence, std::string_view bytes) {
    const std::int64_t number = user_number(user);
    keep_->bind(number).bind(sequence).bind_bytes(bytes).run();
}

void Store::forget_messages(const std::string& user) {
    const std::int64_t number = user_number(user);
    forget_->bind(number).run();
}

void Store::each_message(const std::string& user, std::int64_t first, std::int64_t last,
                         const std::function<void(std::int64_t, std::string_view)>& take) {
    const std::int64_t number = user_number(user);
    select_->bind(number).bind(first).bind(last);
    while (select_->step()) take(select_->number(0), select_->bytes(1));
}

void Store::add_command(std::int64_t sequence, std::string_view bytes) {
    add_command_->bind(sequence).bind_bytes(bytes).run();
}

void Store::drop_commands_below(std::int64_t sequence) {
    drop_commands_->bind(sequence).run();
}

void Store::put_value(std::string_view key, std::string_view value) {
    put_value_->bind_text(key).bind_text(value).run();
}

void Store::put_next_command(std::int64_t sequence) {
    put_value("next_command", std::to_string(sequence));
}

void Store::put_reports(const ReportProgress& progress) {
    std::string value = std::to_string(progress.next);
    for (const std::int64_t report : progress.ahead) value += ' ' + std::to_string(report);
    put_value("reports", value);
}

}  // namespace strid::exchange
