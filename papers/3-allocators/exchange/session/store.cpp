// SPDX-License-Identifier: Apache-2.0
#include "session/store.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>

#include "session/store_rows.hpp"

namespace strid::exchange {

namespace {

// `sum` and `kept` are null in the rows of a file of version 1, which had none.
constexpr const char* schema = R"(
create table users(
    number integer primary key, name text not null unique,
    next_incoming integer not null, next_outgoing integer not null, sum integer, kept integer);
create table messages(
    user integer not null, sequence integer not null, bytes blob not null, sum integer,
    primary key(user, sequence)) without rowid;
create table commands(sequence integer primary key, bytes blob not null, sum integer);
create table progress(key text primary key, value text not null, sum integer) without rowid;
pragma user_version = 2;
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

void Store::Close::operator()(sqlite3* database) const noexcept {
    sqlite3_close(database);
}

void Store::fail() const {
    if (sqlite3_errcode(database_.get()) == SQLITE_CORRUPT) {
        fail_damaged(sqlite3_errmsg(database_.get()));
    }
    throw InputOutputError(path_ + ": " + sqlite3_errmsg(database_.get()));
}

void Store::execute(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void Store::fail_damaged(std::string what) const {
    std::replace(what.begin(), what.end(), '\n', ' ');
    throw InputOutputError(fmt::format(
        "{}: the store is damaged: {}; it is left as it is, restore it from a copy", path_, what));
}

Store::Store(std::string path, Durability durability) : path_(std::move(path)) {
    struct stat status {};
    const bool is_there = ::stat(path_.c_str(), &status) == 0;
    if (!is_there && errno == ENOENT) make();
    if (is_there && status.st_size == 0) fail_damaged("the file is empty");
    open(path_, SQLITE_OPEN_READWRITE);
    execute("pragma locking_mode = exclusive; pragma journal_mode = wal;");
    execute(durability == Durability::power ? "pragma synchronous = full"
                                            : "pragma synchronous = normal");
    check();
    prepare_all();
}

void Store::open(const std::string& path, int flags) {
    sqlite3* database = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &database, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(database);
    if (code != SQLITE_OK) fail();
    // A process that was killed a moment ago may hold the lock still.
    sqlite3_busy_timeout(database, 2000);
}

// Whole or not at all: a file without tables is one that was cut.
void Store::make() {
    for (const char* const end : {"-wal", "-journal"}) {
        if (::access((path_ + end).c_str(), F_OK) == 0) {
            throw InputOutputError(fmt::format(
                "{}: the file is missing, but its log is there: {}{}", path_, path_, end));
        }
    }
    const std::string made = path_ + ".new";
    for (const char* const end : {"", "-journal"}) ::unlink((made + end).c_str());
    open(made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    execute("begin immediate");
    execute(schema);
    execute("commit");
    database_.reset();
    if (::rename(made.c_str(), path_.c_str()) != 0) {
        throw InputOutputError(path_ + ": " + std::generic_category().message(errno));
    }
}

void Store::prepare_all() {
    const auto prepare = [this](const char* sql) {
        return std::make_unique<Statement>(*this, sql);
    };
    begin_ = prepare("begin");
    commit_ = prepare("commit");
    add_user_ = prepare("insert into users values(null, ?, 1, 1, null, 0) returning number");
    put_numbers_ = prepare(
        "update users set next_incoming = ?, next_outgoing = ?, kept = ?, sum = ? where number = "
        "?");
    keep_ = prepare("insert into messages values(?, ?, ?, ?)");
    forget_ = prepare("delete from messages where user = ?");
    select_ = prepare(
        "select sequence, bytes, sum from messages where user = ? and sequence between ? and ? "
        "order by sequence");
    add_command_ = prepare("insert into commands values(?, ?, ?)");
    drop_commands_ = prepare("delete from commands where sequence < ?");
    put_value_ = prepare("insert or replace into progress values(?, ?, ?)");
}

Store::~Store() {
    // Statements go before their database; a transaction that was not committed is undone.
    for (auto* statement : {&begin_, &commit_, &add_user_, &put_numbers_, &keep_, &forget_,
                            &select_, &add_command_, &drop_commands_, &put_value_}) {
        statement->reset();
    }
}

std::map<std::string, SequenceNumbers> Store::users() const {
    std::map<std::string, SequenceNumbers> users;
    for (const auto& [name, user] : users_) users[name] = user.numbers;
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
    for (const std::string& name : changed_) put_user(name, users_[name]);
    changed_.clear();
    commit_->run();
}

Store::User& Store::user_of(const std::string& user) {
    const auto known = users_.find(user);
    if (known != users_.end()) return known->second;
    add_user_->bind_text(user);
    std::int64_t number = 0;
    while (add_user_->step()) number = add_user_->number(0);
    return users_[user] = {number, {}, 0};
}

void Store::put_numbers(const std::string& user, const SequenceNumbers& numbers) {
    User& one = user_of(user);
    if (one.numbers == numbers) return;
    one.numbers = numbers;
    changed_.insert(user);
}

void Store::put_user(const std::string& name, const User& user) {
    put_numbers_->bind(user.numbers.next_incoming).bind(user.numbers.next_outgoing);
    put_numbers_->bind(user.kept).bind(sum_of_user(user.number, name, user.numbers, user.kept));
    put_numbers_->bind(user.number).run();
}

void Store::keep_message(const std::string& user, std::int64_t sequence, std::string_view bytes) {
    User& one = user_of(user);
    keep_->bind(one.number).bind(sequence).bind_bytes(bytes);
    keep_->bind(sum_of_message(one.number, sequence, bytes)).run();
    ++one.kept;
    changed_.insert(user);
}

void Store::forget_messages(const std::string& user) {
    User& one = user_of(user);
    forget_->bind(one.number).run();
    one.kept = 0;
    changed_.insert(user);
}

void Store::each_message(const std::string& user, std::int64_t first, std::int64_t last,
                         const Take& take) {
    const std::int64_t number = user_of(user).number;
    select_->bind(number).bind(first).bind(last);
    while (select_->step()) {
        const std::int64_t sequence = select_->number(0);
        const std::string_view bytes = select_->bytes(1);
        const bool is_sound = select_->is_sum(2, sum_of_message(number, sequence, bytes));
        if (!take(sequence, bytes, is_sound)) return select_->reset();
    }
}

void Store::add_command(std::int64_t sequence, std::string_view bytes) {
    add_command_->bind(sequence).bind_bytes(bytes).bind(sum_of_command(sequence, bytes)).run();
}

void Store::drop_commands_below(std::int64_t sequence) {
    drop_commands_->bind(sequence).run();
}

void Store::put_value(std::string_view key, std::string_view value) {
    put_value_->bind_text(key).bind_text(value).bind(sum_of_value(key, value)).run();
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
