// SPDX-License-Identifier: Apache-2.0
#include "data/postgres_database.hpp"

#include <array>
#include <charconv>
#include <vector>

#include <libpq-fe.h>

#include <strid/base/error.hpp>

namespace strid::exchange {

namespace {

/// Of a session: any number that no other program is likely to use.
constexpr const char* take_lock = "SELECT pg_try_advisory_lock(7310592847)";
/// So few results lie in the buffers of the connection at once that neither side waits for the
/// other for ever.
constexpr unsigned sent_max = 200;

class PostgresRow final : public Row {
  public:
    explicit PostgresRow(const PGresult* result) : result_(result) {}
    [[nodiscard]] std::int64_t integer(int column) const override {
        const std::string_view digits = text(column);
        std::int64_t value = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return value;
    }
    [[nodiscard]] std::string_view text(int column) const override {
        return {PQgetvalue(result_, 0, column),
                static_cast<std::size_t>(PQgetlength(result_, 0, column))};
    }
    [[nodiscard]] std::string_view bytes(int column) const override {
        std::size_t size = 0;
        const auto* const text =
            reinterpret_cast<const unsigned char*>(PQgetvalue(result_, 0, column));
        bytes_.reset(PQunescapeBytea(text, &size));
        if (!bytes_) throw std::bad_alloc();
        return {reinterpret_cast<const char*>(bytes_.get()), size};
    }

  private:
    struct Free {
        void operator()(unsigned char* memory) const noexcept { PQfreemem(memory); }
    };
    const PGresult* result_;
    mutable std::unique_ptr<unsigned char, Free> bytes_;
};

/// "postgresql://user:secret@host/db" without the secret.
std::string without_password(const std::string& uri) {
    const std::size_t begin = uri.find("://") + 3;
    const std::size_t end = uri.find('/', begin);
    const std::size_t at = uri.rfind('@', end);
    const std::size_t colon = uri.find(':', begin);
    std::string shown = uri.substr(0, uri.find('?'));
    if (at != std::string::npos && at >= begin && colon < at) shown.erase(colon, at - colon);
    return shown;
}

/// One line of what the server or the library reports.
std::string one_line(std::string_view message) {
    return std::string(message.substr(0, message.find('\n')));
}

bool is_good(const PGresult* result) {
    const ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE;
}

std::string statement_name(unsigned number) {
    return "s" + std::to_string(number);
}

}  // namespace

void PostgresDatabase::Close::operator()(pg_conn* connection) const noexcept {
    PQfinish(connection);
}

void PostgresDatabase::Close::operator()(pg_result* result) const noexcept {
    PQclear(result);
}

PostgresDatabase::PostgresDatabase(const std::string& uri, Opening opening, Sync sync)
    : name_(without_password(uri)), connection_(PQconnectdb(uri.c_str())) {
    require(PQstatus(connection_.get()) == CONNECTION_OK);
    // Notices ("table exists") are no output of this program.
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    execute("SET client_encoding = 'UTF8'");
    if (sync != Sync::full) execute("SET synchronous_commit = off");
    if (opening == Opening::write) {
        query(take_lock, [this](const Row& row) {
            if (row.text(0) != "t") fail("another data manager has this journal");
        });
    }
}

bool PostgresDatabase::is_empty() {
    bool is_empty = true;
    query("SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'state'",
          [&is_empty](const Row&) { is_empty = false; });
    return is_empty;
}

void PostgresDatabase::execute(const std::string& sql) {
    const Result result(PQexec(connection_.get(), sql.c_str()));
    require(is_good(result.get()));
}

// Row by row: a journal may be larger than the memory.
void PostgresDatabase::query(const std::string& sql, const std::function<void(const Row&)>& take) {
    require(PQsendQuery(connection_.get(), sql.c_str()) == 1);
    require(PQsetSingleRowMode(connection_.get()) == 1);
    while (const Result result{PQgetResult(connection_.get())}) {
        require(is_good(result.get()));
        if (PQresultStatus(result.get()) == PGRES_SINGLE_TUPLE) take(PostgresRow(result.get()));
    }
}

void PostgresDatabase::prepare(unsigned number, const std::string& statement) {
    const Result result(PQprepare(connection_.get(), statement_name(number).c_str(),
                                  statement.c_str(), 0, nullptr));
    require(is_good(result.get()));
}

void PostgresDatabase::begin() {
    require(PQenterPipelineMode(connection_.get()) == 1);
    require(PQsendQueryParams(connection_.get(), "BEGIN", 0, nullptr, nullptr, nullptr, nullptr,
                              0) == 1);
    sent_ = 1;
}

void PostgresDatabase::run(unsigned number, std::span<const Value> values) {
    std::vector<std::string> texts;
    texts.reserve(values.size());
    std::vector<const char*> data;
    std::vector<int> sizes;
    std::vector<int> formats;
    for (const Value& value : values) {
        const auto* const bytes = std::get_if<Bytes>(&value);
        if (const auto* const integer = std::get_if<std::int64_t>(&value)) {
            texts.push_back(std::to_string(*integer));
        } else {
            texts.emplace_back(bytes != nullptr ? bytes->bytes : std::get<std::string_view>(value));
        }
        data.push_back(texts.back().c_str());
        sizes.push_back(static_cast<int>(texts.back().size()));
        formats.push_back(bytes != nullptr ? 1 : 0);
    }
    require(PQsendQueryPrepared(connection_.get(), statement_name(number).c_str(),
                                static_cast<int>(values.size()), data.data(), sizes.data(),
                                formats.data(), 0) == 1);
    if (++sent_ < sent_max) return;
    require(PQsendFlushRequest(connection_.get()) == 1 && PQflush(connection_.get()) == 0);
    take_results();
}

void PostgresDatabase::commit() {
    require(PQsendQueryParams(connection_.get(), "COMMIT", 0, nullptr, nullptr, nullptr, nullptr,
                              0) == 1);
    ++sent_;
    require(PQpipelineSync(connection_.get()) == 1);
    take_results();
    const Result end(PQgetResult(connection_.get()));
    require(PQresultStatus(end.get()) == PGRES_PIPELINE_SYNC);
    require(PQexitPipelineMode(connection_.get()) == 1);
}

void PostgresDatabase::take_results() {
    for (; sent_ != 0; --sent_) {
        const Result result(PQgetResult(connection_.get()));
        if (!is_good(result.get())) {
            const std::string_view message = PQresultErrorMessage(result.get());
            fail(one_line(message.empty() ? PQerrorMessage(connection_.get()) : message));
        }
        const Result end(PQgetResult(connection_.get()));  // null behind each
        require(end == nullptr);
    }
}

void PostgresDatabase::require(bool is_good) const {
    if (!is_good) fail(one_line(PQerrorMessage(connection_.get())));
}

void PostgresDatabase::fail(const std::string& what) const {
    throw InputOutputError(name_ + ": " + what);
}

}  // namespace strid::exchange
