// SPDX-License-Identifier: Apache-2.0
//
// The statements of a store and the sums of its rows: private to its sources.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include <sqlite3.h>

#include "session/store.hpp"

namespace strid::exchange {

/// FNV-1a of 64 bits, over numbers and texts with their lengths.
class RowSum {
  public:
    RowSum& add(std::int64_t number) {
        auto bits = static_cast<std::uint64_t>(number);
        for (int byte = 0; byte < 8; ++byte, bits >>= 8) mix(static_cast<unsigned char>(bits));
        return *this;
    }
    RowSum& add(std::string_view text) {
        for (const char c : text) mix(static_cast<unsigned char>(c));
        return add(static_cast<std::int64_t>(text.size()));
    }
    [[nodiscard]] std::int64_t value() const { return std::bit_cast<std::int64_t>(sum_); }

  private:
    void mix(unsigned char byte) { sum_ = (sum_ ^ byte) * 0x100000001b3U; }

    std::uint64_t sum_ = 0xcbf29ce484222325U;
};

inline std::int64_t sum_of_user(std::int64_t number, std::string_view name,
                                const SequenceNumbers& numbers, std::int64_t kept) {
    return RowSum()
        .add(number)
        .add(name)
        .add(numbers.next_incoming)
        .add(numbers.next_outgoing)
        .add(kept)
        .value();
}
inline std::int64_t sum_of_message(std::int64_t user, std::int64_t sequence,
                                   std::string_view bytes) {
    return RowSum().add(user).add(sequence).add(bytes).value();
}
inline std::int64_t sum_of_command(std::int64_t sequence, std::string_view bytes) {
    return RowSum().add(sequence).add(bytes).value();
}
inline std::int64_t sum_of_value(std::string_view key, std::string_view value) {
    return RowSum().add(key).add(value).value();
}

/// A statement that is prepared once. Values are bound in the order of the calls.
class Store::Statement {
  public:
    Statement(const Store& store, const char* sql) : store_(store) {
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
    /// Before the last row.
    void reset() {
        bound_ = 0;
        sqlite3_reset(statement_);
    }
    [[nodiscard]] bool is_null(int column) {
        return sqlite3_column_type(statement_, column) == SQLITE_NULL;
    }
    /// Whether the sum in a column is `sum`; a row that has none is taken.
    [[nodiscard]] bool is_sum(int column, std::int64_t sum) {
        return is_null(column) || number(column) == sum;
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

    const Store& store_;
    sqlite3_stmt* statement_ = nullptr;
    int bound_ = 0;
};

}  // namespace strid::exchange
