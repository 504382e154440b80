// SPDX-License-Identifier: Apache-2.0
//
// The check of a store when it is opened: the database's own, the sum of each row, and that the
// rows fit each other.
#include <map>
#include <string>

#include <fmt/format.h>

#include <strid/base/error.hpp>

#include "session/store_rows.hpp"

namespace strid::exchange {

namespace {

constexpr std::int64_t unknown = -1;

}  // namespace

void Store::check() {
    {
        Statement integrity(*this, "pragma integrity_check(1)");
        std::string found;
        while (integrity.step()) found = integrity.bytes(0);
        if (found != "ok") fail_damaged(found);
    }
    std::int64_t version = 0;
    {
        Statement select(*this, "pragma user_version");
        while (select.step()) version = select.number(0);
    }
    if (version == 1) {
        execute("begin immediate");
        for (const char* const table : {"users", "messages", "commands", "progress"}) {
            execute(fmt::format("alter table {} add column sum integer", table).c_str());
        }
        execute("alter table users add column kept integer");
        execute("pragma user_version = 2");
        execute("commit");
    } else if (version != 2) {
        throw InputOutputError(
            fmt::format("{}: no store of sessions, or one of a later release", path_));
    }
    check_users();
    check_messages();
    check_commands();
    check_progress();
}

void Store::check_users() {
    Statement select(*this,
                     "select number, name, next_incoming, next_outgoing, sum, kept from users");
    while (select.step()) {
        const std::string name(select.bytes(1));
        // Of a file of version 1 the messages that are there count.
        const std::int64_t kept = select.is_null(5) ? unknown : select.number(5);
        const User user{select.number(0), {select.number(2), select.number(3)}, kept};
        if (!select.is_sum(4, sum_of_user(user.number, name, user.numbers, kept)) ||
            user.numbers.next_incoming < 1 || user.numbers.next_outgoing < 1) {
            fail_damaged(fmt::format("the sequence numbers of user '{}'", name));
        }
        users_[name] = user;
    }
}

void Store::check_messages() {
    std::map<std::int64_t, const std::string*> names;
    std::map<std::int64_t, std::int64_t> counts;
    for (const auto& [name, user] : users_) names[user.number] = &name;
    Statement select(*this, "select user, sequence, bytes, sum from messages");
    while (select.step()) {
        const std::int64_t user = select.number(0);
        const std::int64_t sequence = select.number(1);
        ++counts[user];
        const auto found = names.find(user);
        if (found == names.end()) {
            fail_damaged(fmt::format("message {} is of a user that is not there", sequence));
        }
        if (!select.is_sum(3, sum_of_message(user, sequence, select.bytes(2))) || sequence < 1 ||
            sequence >= users_[*found->second].numbers.next_outgoing) {
            fail_damaged(fmt::format("message {} to user '{}'", sequence, *found->second));
        }
    }
    for (auto& [name, user] : users_) {
        const std::int64_t count = counts[user.number];
        if (user.kept == unknown) user.kept = count;
        if (user.kept == count) continue;
        fail_damaged(
            fmt::format("user '{}' has {} messages in the place of {}", name, count, user.kept));
    }
}

void Store::check_commands() {
    std::int64_t next = 0;
    Statement select(*this, "select sequence, bytes, sum from commands order by sequence");
    while (select.step()) {
        const std::int64_t sequence = select.number(0);
        if (!select.is_sum(2, sum_of_command(sequence, select.bytes(1))) ||
            (next != 0 && sequence != next)) {
            fail_damaged(fmt::format("command {}", sequence));
        }
        next = sequence + 1;
    }
    if (next != 0 && next != next_command()) {
        fail_damaged(
            fmt::format("command {} is the last, but {} is next", next - 1, next_command()));
    }
}

void Store::check_progress() {
    Statement select(*this, "select key, value, sum from progress");
    while (select.step()) {
        const std::string key(select.bytes(0));
        const std::string value(select.bytes(1));
        if (!select.is_sum(2, sum_of_value(key, value)) ||
            value.find_first_not_of("0123456789 ") != std::string::npos || value.empty()) {
            fail_damaged(fmt::format("the progress of '{}'", key));
        }
    }
}

}  // namespace strid::exchange
