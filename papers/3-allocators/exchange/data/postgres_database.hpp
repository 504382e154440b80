// SPDX-License-Identifier: Apache-2.0
//
// A journal in a database of PostgreSQL. The statements of a transaction go in a pipeline: they are
// sent as they come and their results are read at the commit, so that a transaction waits once.
// While a data manager runs it holds an advisory lock.
#pragma once

#include <memory>
#include <string>

#include "data/database.hpp"

struct pg_conn;
struct pg_result;

namespace strid::exchange {

class PostgresDatabase final : public Database {
  public:
    PostgresDatabase(const std::string& uri, Opening opening, Sync sync);
    ~PostgresDatabase() override = default;

    [[nodiscard]] const std::string& name() const noexcept override { return name_; }
    [[nodiscard]] std::string_view integer_type() const noexcept override { return "BIGINT"; }
    [[nodiscard]] std::string_view bytes_type() const noexcept override { return "BYTEA"; }
    [[nodiscard]] bool is_empty() override;
    void execute(const std::string& sql) override;
    void query(const std::string& sql, const std::function<void(const Row&)>& take) override;
    void prepare(unsigned number, const std::string& statement) override;
    void begin_reading() override { execute("BEGIN ISOLATION LEVEL REPEATABLE READ"); }
    void begin() override;
    void run(unsigned number, std::span<const Value> values) override;
    void commit() override;

  private:
    struct Close {
        void operator()(pg_conn* connection) const noexcept;
        void operator()(pg_result* result) const noexcept;
    };
    using Result = std::unique_ptr<pg_result, Close>;

    void require(bool is_good) const;
    void take_results();
    [[noreturn]] void fail(const std::string& what) const;

    std::string name_;
    std::unique_ptr<pg_conn, Close> connection_;
    unsigned sent_ = 0;  // statements in the pipeline whose results were not read
};

}  // namespace strid::exchange
