// SPDX-License-Identifier: Apache-2.0
//
// The tables of a journal. Functions without state.
#pragma once

#include <string>
#include <vector>

#include "data/database.hpp"

namespace strid::exchange {

/// Of the tables; a journal of another one is refused.
inline constexpr std::int64_t schema_version = 1;

/// The statements of a transaction, by their number.
enum class Statement : unsigned {
    put_order,
    put_retired,
    put_trade,
    put_position,
    put_subscription,
    end_subscription,
    put_report,
    drop_reports,
    put_state,
    count
};

/// Makes the tables of an empty journal, in one transaction.
void create_tables(Database& database);
/// The texts of the statements, for Database::prepare().
[[nodiscard]] std::vector<std::string> statements();

}  // namespace strid::exchange
