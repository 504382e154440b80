// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "training.hpp"
#include "tree.hpp"

namespace strid::tree {

namespace {

constexpr double collapse_slack = 1e-3;
constexpr double prune_slack = 0.1;

/// The square of the deviation that a normal distribution exceeds with this probability, between
/// the points of C4.5's table.
double squared_deviation(double confidence) {
    constexpr std::array levels{0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00};
    constexpr std::array deviations{4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00};
    std::size_t i = 1;
    while (confidence > levels[i]) ++i;
    const double part = (confidence - levels[i - 1]) / (levels[i] - levels[i - 1]);
    const double deviation = deviations[i - 1] + (deviations[i] - deviations[i - 1]) * part;
    return deviation * deviation;
}

/// Only what can still be reached, in its order.
void compact(Tree& tree) {
    std::vector<std::uint32_t> moved(tree.nodes.size(), 0);
    std::vector<bool> is_reached(tree.nodes.size(), false);
    is_reached[0] = true;
    std::uint32_t kept = 0;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        if (!is_reached[i]) continue;
        moved[i] = kept++;
        for (const Branch& branch : tree.nodes[i].branches) is_reached[branch.node] = true;
    }
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        if (!is_reached[i]) continue;
        for (Branch& branch : tree.nodes[i].branches) branch.node = moved[branch.node];
        if (moved[i] != i) tree.nodes[moved[i]] = std::move(tree.nodes[i]);
    }
    tree.nodes.resize(kept);
}

void make_leaf(TreeNode& node) {
    node.attribute = no_attribute;
    node.threshold = 0;
    node.branches.clear();
}

}  // namespace

std::size_t Tree::leaves() const noexcept {
    return static_cast<std::size_t>(std::count_if(
        nodes.begin(), nodes.end(), [](const TreeNode& node) { return node.is_leaf(); }));
}

std::size_t Tree::depth() const {
    std::vector<std::size_t> depths(nodes.size(), 0);
    std::size_t most = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        most = std::max(most, depths[i]);
        for (const Branch& branch : nodes[i].branches) depths[branch.node] = depths[i] + 1;
    }
    return most;
}

ClassCode majority_of(const std::vector<double>& counts) noexcept {
    std::size_t most = 0;
    for (std::size_t c = 1; c < counts.size(); ++c) {
        if (counts[c] > counts[most] + Training::rounding) most = c;
    }
    return static_cast<ClassCode>(most);
}

void collapse(Tree& tree) {
    std::vector<double> errors(tree.nodes.size(), 0);
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
        TreeNode& node = tree.nodes[i];
        for (const Branch& branch : node.branches) errors[i] += errors[branch.node];
        if (node.is_leaf() || errors[i] >= node.errors() - collapse_slack) {
            make_leaf(node);
            errors[i] = node.errors();
        }
    }
    compact(tree);
}

double added_errors(double cases, double errors, double confidence) {
    constexpr double none = 1e-6;
    constexpr double one = 0.9999;
    if (cases <= Training::rounding) return 0;
    if (errors < one) {
        const double without = cases * (1 - std::exp(std::log(confidence) / cases));
        if (errors < none) return without;
        return without + errors * (added_errors(cases, 1.0, confidence) - without);
    }
    if (errors + 0.5 >= cases) return 0.67 * (cases - errors);
    const double square = squared_deviation(confidence);
    const double upper =
        (errors + 0.5 + square / 2 +
         std::sqrt(square * ((errors + 0.5) * (1 - (errors + 0.5) / cases) + square / 4))) /
        (cases + square);
    return cases * upper - errors;
}

void prune(Tree& tree, double confidence) {
    std::vector<double> expected(tree.nodes.size(), 0);
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
        TreeNode& node = tree.nodes[i];
        const double as_leaf = node.errors() + added_errors(node.cases, node.errors(), confidence);
        for (const Branch& branch : node.branches) expected[i] += expected[branch.node];
        if (node.is_leaf() || as_leaf <= expected[i] + prune_slack) {
            make_leaf(node);
            expected[i] = as_leaf;
        }
    }
    compact(tree);
}

}  // namespace strid::tree
