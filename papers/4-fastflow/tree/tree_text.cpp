// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include <strid/engine/base/excerpt.hpp>

#include "model.hpp"
#include "training.hpp"

namespace strid::tree {

namespace {

constexpr std::size_t name_bytes_max = 200;

std::string leaf_text(const Schema& schema, const TreeNode& leaf) {
    const std::string errors =
        leaf.errors() > Training::rounding ? fmt::format("/{:.1f}", leaf.errors()) : "";
    return fmt::format("{} ({:.1f}{})", excerpt(schema.classes[leaf.majority], name_bytes_max),
                       leaf.cases, errors);
}

std::string test_text(const Schema& schema, const TreeNode& node, std::uint32_t value) {
    const Attribute& attribute = schema.attributes[node.attribute];
    const std::string name = excerpt(attribute.name, name_bytes_max);
    if (attribute.is_numeric) {
        return fmt::format("{} {} {}", name, value == 0 ? "<=" : ">", node.threshold);
    }
    return fmt::format("{} = {}", name, excerpt(attribute.values[value], name_bytes_max));
}

}  // namespace

std::string tree_text(const Model& model) {
    const auto& nodes = model.tree.nodes;
    if (nodes[0].is_leaf()) return leaf_text(model.schema, nodes[0]) + "\n";
    struct Open {
        std::uint32_t node;
        std::size_t branch;  // the next in `branches`
        std::uint32_t value;
    };
    std::string text;
    std::vector<Open> open{{0, 0, 0}};
    while (!open.empty()) {
        Open& here = open.back();
        const TreeNode& node = nodes[here.node];
        const Attribute& attribute = model.schema.attributes[node.attribute];
        const std::size_t values = attribute.is_numeric ? 2 : attribute.values.size();
        if (here.value == values) {
            open.pop_back();
            continue;
        }
        for (std::size_t i = 1; i < open.size(); ++i) text += "|   ";
        const std::uint32_t value = here.value++;
        text += test_text(model.schema, node, value);
        if (here.branch == node.branches.size() || node.branches[here.branch].value != value) {
            text += fmt::format(": {} (0.0)\n",
                                excerpt(model.schema.classes[node.majority], name_bytes_max));
            continue;
        }
        const std::uint32_t below = node.branches[here.branch++].node;
        if (nodes[below].is_leaf()) {
            text += fmt::format(": {}\n", leaf_text(model.schema, nodes[below]));
        } else {
            text += ":\n";
            open.push_back({below, 0, 0});
        }
    }
    return text;
}

std::string tree_summary(const Model& model) {
    double errors = 0;
    for (const TreeNode& node : model.tree.nodes) {
        if (node.is_leaf()) errors += node.errors();
    }
    const double cases = model.tree.nodes[0].cases;
    return fmt::format(
        "{} nodes, {} leaves, depth {}\n{:.0f} training cases, {:.1f} errors ({:.2f}%)\n",
        model.tree.nodes.size(), model.tree.leaves(), model.tree.depth(), cases, errors,
        100 * errors / cases);
}

}  // namespace strid::tree
