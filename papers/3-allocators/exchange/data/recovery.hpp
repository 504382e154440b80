// SPDX-License-Identifier: Apache-2.0
//
// Reads and checks the content of a journal. Plain values and functions without state.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/database.hpp"
#include "data/holdings.hpp"
#include "data/journal_rows.hpp"
#include "data/task.hpp"

namespace strid::exchange {

struct Recovered {
    JournalState state = {};
    std::uint64_t sum = 0;  ///< of the digests of all rows but `state`
    Holdings holdings = {};
    /// The commands that rebuild the books, in their order.
    std::vector<Task> tasks = {};
    std::unordered_map<OrderId, std::uint64_t> order_digests = {};     ///< of the open ones
    std::map<Holdings::Key, std::uint64_t> subscription_digests = {};  ///< by user and symbol
    std::deque<std::uint64_t> report_digests = {};
};

/// Makes the tables where there are none, then reads all of the journal. Throws InputOutputError
/// where it is not sound: the digest of its rows, the numbers of reports and trades, what orders
/// have traded, positions by trades, the sums of shares and money. O(rows).
[[nodiscard]] Recovered recover(Database& database, Opening opening);

}  // namespace strid::exchange
