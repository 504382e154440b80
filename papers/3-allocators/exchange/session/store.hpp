// SPDX-License-Identifier: Apache-2.0
//
// The durable state of the session manager, in SQLite: the sequence numbers of each user and the
// messages that were sent to it, the commands that the data manager has not confirmed, how far its
// reports are done.
//
// Invariant: the changes between begin() and commit() are kept whole or not at all, also when the
// process is killed; with Durability::power also when the machine stops. Each row has a sum of what
// was written, and all are checked when the file is opened: a row that is damaged is never
// used. One thread; one process, which locks the file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "session/action.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace strid::exchange {

enum class Durability : std::uint8_t {
    process,  ///< what was committed outlives the process
    power     ///< and the machine: each commit waits for the disk
};

/// A command and its number on the link to the data manager.
struct StoredCommand {
    std::int64_t sequence = 0;
    std::string bytes = {};
};

/// Which reports of the data manager are done: all below `next`, and some after it, where replicas
/// of the graph overtook each other.
struct ReportProgress {
    std::int64_t next = 1;
    std::vector<std::int64_t> ahead = {};  ///< ascending

    [[nodiscard]] bool is_done(std::int64_t report) const noexcept;
    void done(std::int64_t report);
};

class Store {
  public:
    /// Opens or makes the file, and checks all of it: O(size). Throws InputOutputError, as all that
    /// follows; a file that is damaged is left as it is.
    Store(std::string path, Durability durability);
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    [[nodiscard]] std::map<std::string, SequenceNumbers> users() const;
    [[nodiscard]] std::vector<StoredCommand> commands();
    [[nodiscard]] std::int64_t next_command();
    [[nodiscard]] ReportProgress reports();

    void begin();
    void commit();

    void put_numbers(const std::string& user, const SequenceNumbers& numbers);
    void keep_message(const std::string& user, std::int64_t sequence, std::string_view bytes);
    void forget_messages(const std::string& user);
    /// The messages from `first` to `last`, ascending, until `take` returns false. The last
    /// argument is false where the bytes are not those that were kept.
    using Take = std::function<bool(std::int64_t, std::string_view, bool)>;
    void each_message(const std::string& user, std::int64_t first, std::int64_t last,
                      const Take& take);
    void add_command(std::int64_t sequence, std::string_view bytes);
    void drop_commands_below(std::int64_t sequence);
    void put_next_command(std::int64_t sequence);
    void put_reports(const ReportProgress& progress);

  private:
    class Statement;
    struct Close {
        void operator()(sqlite3* database) const noexcept;
    };

    struct User {
        std::int64_t number = 0;
        SequenceNumbers numbers = {};
        std::int64_t kept = 0;  // messages: one that is missing is found
    };

    void make();
    void open(const std::string& path, int flags);
    void prepare_all();
    void execute(const char* sql);
    [[noreturn]] void fail() const;
    [[noreturn]] void fail_damaged(std::string what) const;
    void put_user(const std::string& name, const User& user);
    // store_check.cpp
    void check();
    void check_users();
    void check_messages();
    void check_commands();
    void check_progress();
    [[nodiscard]] User& user_of(const std::string& user);
    [[nodiscard]] std::string value_of(std::string_view key);
    void put_value(std::string_view key, std::string_view value);

    std::string path_;
    std::unique_ptr<sqlite3, Close> database_;
    std::map<std::string, User> users_;
    std::set<std::string> changed_;  // users, in the transaction that is on
    std::unique_ptr<Statement> begin_, commit_, add_user_, put_numbers_, keep_, forget_, select_,
        add_command_, drop_commands_, put_value_;
};

}  // namespace strid::exchange
