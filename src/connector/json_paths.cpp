// SPDX-License-Identifier: Apache-2.0
#include "json_paths.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/excerpt.hpp>
#include <strid/engine/connector/json_row.hpp>

namespace strid::detail {

std::vector<std::size_t> JsonPaths::add(std::string_view name) {
    if (std::count(name.begin(), name.end(), '.') > static_cast<int>(JsonRow::dots_max)) {
        throw GraphError(fmt::format("member '{}': the name has more than {} dots", excerpt(name),
                                     JsonRow::dots_max));
    }
    return add(0, name);
}

std::vector<std::size_t> JsonPaths::add(std::size_t node, std::string_view path) {
    Entry& whole = entry(node, path);
    if (whole.slot == none) whole.slot = slots_++;
    std::vector<std::size_t> slots = {whole.slot};
    for (auto dot = path.rfind('.'); dot != std::string_view::npos;
         dot = dot == 0 ? std::string_view::npos : path.rfind('.', dot - 1)) {
        const std::string_view head = path.substr(0, dot);
        if (entry(node, head).node == none) {
            nodes_.emplace_back();
            entry(node, head).node = nodes_.size() - 1;
        }
        const auto deeper = add(entry(node, head).node, path.substr(dot + 1));
        auto& below = entry(node, head).below;  // nodes_ may have moved
        below.insert(below.end(), deeper.begin(), deeper.end());
        slots.insert(slots.end(), deeper.begin(), deeper.end());
    }
    return slots;
}

JsonPaths::Entry& JsonPaths::entry(std::size_t node, std::string_view name) {
    Node& entries = nodes_[node];
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [name](const Entry& one) { return one.name == name; });
    if (found != entries.end()) return *found;
    entries.push_back({.name = std::string(name), .slot = none, .node = none, .below = {}});
    return entries.back();
}

}  // namespace strid::detail
