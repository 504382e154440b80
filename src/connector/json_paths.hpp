// SPDX-License-Identifier: Apache-2.0
//
// Which members of an object are asked for: a tree that is walked as an object is read. Each way
// in which a dotted name can be meant has a slot; json_row.hpp says which way counts. Private to
// the connector room; used by one JsonRow.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace strid::detail {

class JsonPaths {
  public:
    static constexpr std::size_t none = ~std::size_t{0};

    /// A member of an object in which something is asked for.
    struct Entry {
        std::string name;
        std::size_t slot = none;         // the member itself
        std::size_t node = none;         // its members, should it be an object
        std::vector<std::size_t> below;  // the slots of those
    };
    using Node = std::vector<Entry>;

    /// The slots of a name, the way that counts first. Throws GraphError for too many dots.
    std::vector<std::size_t> add(std::string_view name);

    [[nodiscard]] std::size_t slots() const noexcept { return slots_; }
    [[nodiscard]] const Node& root() const noexcept { return nodes_[0]; }
    [[nodiscard]] const Node& node(std::size_t index) const noexcept { return nodes_[index]; }
    /// The entry of that name, null where there is none.
    [[nodiscard]] static const Entry* find(const Node& node, std::string_view name) noexcept {
        for (const Entry& entry : node) {
            if (entry.name == name) return &entry;
        }
        return nullptr;
    }

  private:
    std::vector<std::size_t> add(std::size_t node, std::string_view path);
    Entry& entry(std::size_t node, std::string_view name);

    std::vector<Node> nodes_ = std::vector<Node>(1);
    std::size_t slots_ = 0;
};

}  // namespace strid::detail
