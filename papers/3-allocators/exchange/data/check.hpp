// SPDX-License-Identifier: Apache-2.0
//
// `strid-exchange-data --check`: reads a journal, checks it, and prints what it says.
#pragma once

#include <string>

namespace strid::exchange {

/// The content of the journal, as lines of words with tabs between them:
///
///     commands N; reports N; acknowledged N; trades N
///     order SYMBOL SIDE PRICE OPEN ID USER CLORDID      the books, best price first, then by time
///     position USER SYMBOL SHARES MONEY
///     sum SYMBOL SHARES MONEY                            0 and 0
///
/// Throws InputOutputError where the journal is not sound (recovery.hpp), or its orders make no
/// book (book.hpp).
[[nodiscard]] std::string check_journal(const std::string& journal);

}  // namespace strid::exchange
