// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/transport.hpp>
#include <strid/engine/connector/json_source.hpp>

namespace strid {

namespace {

std::vector<JsonColumn> columns_of(const std::vector<std::string>& members,
                                   const std::vector<bool>& may_be_empty) {
    if (members.size() != may_be_empty.size()) {
        throw GraphError(fmt::format("json_lines: {} members for a record of {} fields",
                                     members.size(), may_be_empty.size()));
    }
    std::vector<JsonColumn> columns;
    for (std::size_t i = 0; i < members.size(); ++i) {
        columns.push_back({members[i], may_be_empty[i], may_be_empty[i]});
    }
    return columns;
}

}  // namespace

JsonSource::JsonSource(std::string path, const JsonOptions& options,
                       const std::vector<bool>& may_be_empty)
    : FileSource({std::move(path)}, options),
      non_finite_(options.non_finite),
      objects_(columns_of(options.members, may_be_empty),
               options.on_malformed == OnMalformed::dead_letter) {}

void JsonSource::begin_input() noexcept {
    objects_.begin_input();
    // Messages are lines: the last of one must not wait for the next.
    if (!reader_ || is_transport_address(path())) return;
    reader_->choose_region_end(&JsonCutter::region_end_of_json);
}

}  // namespace strid
