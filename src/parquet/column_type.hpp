// SPDX-License-Identifier: Apache-2.0
//
// The types of the columns of an output, and its fields as their values. Plain functions and
// values; a column is used by one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array/builder_base.h>
#include <arrow/type.h>

#include <strid/engine/connector/csv_row.hpp>

namespace strid::parquet {

/// A field of CSV, whose text is unescaped; none: it is empty and has no quotes.
using FieldText = std::optional<std::string_view>;

/// Names of types by the names of columns.
using TypeNames = std::map<std::string, std::string, std::less<>>;

/// Adds the types of a list of NAME:TYPE that are not there yet. Throws GraphError, which begins
/// with the address.
void add_types(TypeNames& types, const std::string& list, const std::string& address);

/// `int64`, `timestamp[ms]`, `decimal(10,2)`; null: there is no such type.
[[nodiscard]] std::shared_ptr<arrow::DataType> type_of_name(std::string_view name);

/// The type that the fields of a column have: the first that can hold all of them, of bool, int64,
/// double, timestamp[ns] and string. A number is one where its text says no more than the value
/// does: `007` and whole numbers that a type lacks are text.
class TypeGuess {
  public:
    void look_at(const FieldText& field, bool is_quoted);
    [[nodiscard]] const char* name() const noexcept;

  private:
    bool is_any_ = false;  // there is a value
    bool may_be_bool_ = true;
    bool may_be_integer_ = true;
    bool may_be_double_ = true;
    bool may_be_moment_ = true;
};

/// Appends a text to a builder of its type. Returns what is wrong with it; empty: nothing.
using AppendText = std::string (*)(arrow::ArrayBuilder& builder, const arrow::DataType& type,
                                   std::string_view text);
/// For a type of type_of_name().
[[nodiscard]] AppendText append_text_of(const arrow::DataType& type) noexcept;

/// The moment of a text in a column of times. None: it is no time of the years 0 to 9999, or it is
/// another type.
[[nodiscard]] std::optional<std::chrono::sys_seconds> moment_of_text(const arrow::DataType& type,
                                                                     std::string_view text);

}  // namespace strid::parquet
