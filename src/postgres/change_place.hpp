// SPDX-License-Identifier: Apache-2.0
//
// A place in the rows of an input of changes: in the first copy of its table, or in its
// transactions. A plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pgoutput.hpp"

namespace strid::postgres {

struct ChangePlace {
    enum class Kind : std::uint8_t {
        start,  ///< Nothing was read.
        copy,   ///< `rows` rows of the first copy.
        log     ///< All transactions before `lsn`, and `rows` rows of the next one.
    };
    Kind kind = Kind::start;
    Lsn lsn = 0;
    /// Of a copy: of its rows so far, in their order. Of the log: where the transaction is
    /// committed that `rows` are of; 0: of none.
    std::uint64_t mark = 0;
    std::uint64_t rows = 0;

    bool operator==(const ChangePlace&) const = default;
};

/// The part of a snapshot that is of an input: the place, the server and the columns.
struct SavedPlace {
    ChangePlace place;
    std::string system;
    std::string header;
};
[[nodiscard]] std::string text_of(const SavedPlace& saved);
/// None: the text is none of text_of().
[[nodiscard]] std::optional<SavedPlace> read_place(std::string_view text);

}  // namespace strid::postgres
