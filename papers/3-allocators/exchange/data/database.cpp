// SPDX-License-Identifier: Apache-2.0
#include "data/database.hpp"

#include <strid/base/error.hpp>

#include "data/sqlite_database.hpp"
#ifdef STRID_EXCHANGE_POSTGRES
#include "data/postgres_database.hpp"
#endif

namespace strid::exchange {

std::unique_ptr<Database> open_database(const std::string& journal, Opening opening, Sync sync) {
    const bool is_postgres =
        journal.starts_with("postgresql://") || journal.starts_with("postgres://");
    if (!is_postgres) return std::make_unique<SqliteDatabase>(journal, opening, sync);
#ifdef STRID_EXCHANGE_POSTGRES
    return std::make_unique<PostgresDatabase>(journal, opening, sync);
#else
    throw InputOutputError("PostgreSQL is left out of this build: libpq was not found");
#endif
}

}  // namespace strid::exchange
