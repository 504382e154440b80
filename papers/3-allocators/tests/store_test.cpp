// SPDX-License-Identifier: Apache-2.0
//
// The data that the session manager stores: there after it is opened anew, undone where it was not
// committed, and refused where the file is something else.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <session/store.hpp>
#include <sqlite3.h>

#include <strid/base/error.hpp>

namespace strid::exchange {
namespace {

class StoreTest : public testing::Test {
  protected:
    StoreTest() {
        std::string pattern = std::filesystem::temp_directory_path() / "strid-store-XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
    }
    ~StoreTest() override { std::filesystem::remove_all(folder_); }
    std::string path() const { return folder_ / "sessions.db"; }

    std::filesystem::path folder_;
};

TEST_F(StoreTest, WhatWasCommittedIsThere) {
    {
        Store store(path(), Durability::process);
        EXPECT_EQ(store.next_command(), 1);
        EXPECT_EQ(store.reports().next, 1);
        store.begin();
        store.put_numbers("a", {4, 9});
        store.put_numbers("b", {2, 8});
        store.keep_message("a", 7, "seven");
        store.keep_message("a", 8, std::string_view("\0ight", 5));
        store.keep_message("b", 7, "other");
        for (std::int64_t n = 1; n <= 5; ++n) store.add_command(n, "c" + std::to_string(n));
        store.drop_commands_below(4);
        store.put_next_command(6);
        store.put_reports({12, {14, 17}});
        store.commit();
        store.begin();
        store.put_numbers("a", {100, 100});
        store.add_command(6, "undone");
    }
    Store store(path(), Durability::power);
    const auto users = store.users();
    ASSERT_EQ(users.size(), 2U);
    EXPECT_EQ(users.at("a").next_incoming, 4);
    EXPECT_EQ(users.at("a").next_outgoing, 9);
    const auto commands = store.commands();
    ASSERT_EQ(commands.size(), 2U);
    EXPECT_EQ(commands[0].sequence, 4);
    EXPECT_EQ(commands[1].bytes, "c5");
    EXPECT_EQ(store.next_command(), 6);
    EXPECT_EQ(store.reports().next, 12);
    EXPECT_EQ(store.reports().ahead, (std::vector<std::int64_t>{14, 17}));
    std::vector<std::string> messages;
    const auto read = [&] {
        messages.clear();
        store.each_message("a", 1, 8,
                           [&](std::int64_t sequence, std::string_view bytes, bool is_sound) {
                               EXPECT_TRUE(is_sound);
                               messages.push_back(std::to_string(sequence) + std::string(bytes));
                               return true;
                           });
    };
    read();
    EXPECT_EQ(messages, (std::vector<std::string>{"7seven", std::string("8\0ight", 6)}));
    store.begin();
    store.forget_messages("a");
    store.commit();
    read();
    EXPECT_TRUE(messages.empty());
}

TEST_F(StoreTest, AFileOfTheFirstVersion) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, R"(
        create table users(
            number integer primary key, name text not null unique,
            next_incoming integer not null, next_outgoing integer not null);
        create table messages(
            user integer not null, sequence integer not null, bytes blob not null,
            primary key(user, sequence)) without rowid;
        create table commands(sequence integer primary key, bytes blob not null);
        create table progress(key text primary key, value text not null) without rowid;
        pragma user_version = 1;
        insert into users values(1, 'a', 5, 9);
        insert into messages values(1, 7, 'seven');
        insert into commands values(3, 'three');
        insert into progress values('next_command', '4'), ('reports', '12');)",
                           nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(database);
    for (std::int64_t next = 9; next < 11; ++next) {
        Store store(path(), Durability::process);
        EXPECT_EQ(store.users().at("a").next_outgoing, next);
        EXPECT_EQ(store.next_command(), 4);
        EXPECT_EQ(store.reports().next, 12);
        store.begin();
        store.keep_message("a", next, "one more");
        store.put_numbers("a", {5, next + 1});
        store.commit();
    }
}

TEST_F(StoreTest, ReportsThatOvertakeEachOther) {
    ReportProgress progress;
    for (const std::int64_t report : {2, 5, 3}) progress.done(report);
    EXPECT_EQ(progress.next, 1);
    EXPECT_TRUE(progress.is_done(3));
    EXPECT_FALSE(progress.is_done(4));
    progress.done(1);
    EXPECT_EQ(progress.next, 4);
    EXPECT_EQ(progress.ahead, (std::vector<std::int64_t>{5}));
    progress.done(4);
    EXPECT_EQ(progress.next, 6);
    EXPECT_TRUE(progress.ahead.empty());
}

TEST_F(StoreTest, AFileThatIsSomethingElse) {
    const std::string text(4096, 'x');
    std::ofstream(path()) << text;
    try {
        Store store(path(), Durability::process);
        FAIL();
    } catch (const InputOutputError& error) {
        EXPECT_NE(std::string(error.what()).find("sessions.db: "), std::string::npos);
    }
    std::ifstream file(path());
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
    EXPECT_THROW(Store((folder_ / "none" / "x").string(), Durability::process), InputOutputError);
}

}  // namespace
}  // namespace strid::exchange
