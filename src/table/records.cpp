// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <strid/table/records.hpp>

namespace strid::table::detail {

Schema schema_of_fields(const std::vector<std::string>& names, const std::vector<Kind>& kinds) {
    if (names.size() != kinds.size()) {
        throw GraphError(
            fmt::format("{} names for a record of {} fields", names.size(), kinds.size()));
    }
    std::vector<Field> fields;
    for (std::size_t i = 0; i != names.size(); ++i) fields.push_back({names[i], {kinds[i]}});
    return Schema(std::move(fields));
}

void check_fields(const Schema& schema, const std::vector<Kind>& kinds) {
    if (schema.size() != kinds.size()) {
        throw GraphError(fmt::format("a record of {} fields for {} columns: {}", kinds.size(),
                                     schema.size(), schema.text()));
    }
    for (std::size_t i = 0; i != kinds.size(); ++i) {
        if (schema[i].type.kind == kinds[i]) continue;
        throw GraphError(fmt::format("column '{}' is {}, and its field {}", schema[i].name,
                                     name_of(schema[i].type), name_of({kinds[i]})));
    }
}

void refuse_value(const Schema& schema, std::size_t column, std::size_t row, const char* reason) {
    throw Error(
        fmt::format("column '{}', row {} of its chunk: {}", schema[column].name, row + 1, reason));
}

}  // namespace strid::table::detail
