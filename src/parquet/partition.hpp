// SPDX-License-Identifier: Apache-2.0
//
// The folder that a row belongs to: NAME=VALUE/ for a column, date=DAY/ and hour=HOUR/ for the day
// and the hour of a time, in UTC. Constant once the columns are known; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/type.h>

#include "column_type.hpp"

namespace strid::parquet {

class Partition {
  public:
    /// `list`: `symbol,date(at),hour(at)`. Throws GraphError, which begins with the address.
    Partition(const std::string& list, std::string address);

    /// Throws GraphError where a column is not there, or is no time.
    void set_columns(const std::vector<std::string>& names, const arrow::Schema& types);
    /// Whether the column is in the paths, and not in the files.
    [[nodiscard]] bool has(std::size_t column) const noexcept;
    [[nodiscard]] bool is_one() const noexcept { return !keys_.empty(); }
    /// Appends the folder of a row, with a slash at the end. Throws InputOutputError.
    void append_folder(std::string& path, const std::vector<FieldText>& fields) const;

  private:
    enum class Kind : std::uint8_t { value, date, hour };
    struct Key {
        Kind kind = Kind::value;
        std::string column;
        std::size_t place = 0;  // of the column in a row
        std::shared_ptr<arrow::DataType> type = nullptr;
    };

    static std::string name_of(const Key& key);
    void append_moment(std::string& path, const Key& key, std::string_view text) const;

    std::string address_;  // for messages
    std::vector<Key> keys_;
};

}  // namespace strid::parquet
