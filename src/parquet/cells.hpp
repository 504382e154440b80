// SPDX-License-Identifier: Apache-2.0
//
// The values of a column of Arrow as fields of CSV. A column of cells is used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <arrow/array.h>
#include <arrow/type.h>

namespace strid::parquet {

/// The fields of one column, a batch after the other.
class Cells {
  public:
    /// Whether there is a text for values of this type.
    [[nodiscard]] static bool can_be_written(const arrow::DataType& type) noexcept;
    /// The type of the values: without a dictionary around them, and without an extension.
    [[nodiscard]] static const arrow::DataType& plain_type(const arrow::DataType& type) noexcept;

    explicit Cells(const std::shared_ptr<arrow::Array>& array);
    /// Nothing where the value is null.
    void append(std::string& out, std::int64_t row) const;

  private:
    using Append = void (*)(std::string& out, const arrow::Array& values, std::int64_t row);
    [[nodiscard]] static Append append_of(const arrow::DataType& type) noexcept;

    std::shared_ptr<arrow::Array> rows_;
    std::shared_ptr<arrow::Array> values_;                // of a dictionary; else the rows
    const arrow::DictionaryArray* dictionary_ = nullptr;  // null: there is none
    Append append_;
};

}  // namespace strid::parquet
