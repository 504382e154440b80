// SPDX-License-Identifier: Apache-2.0
//
// A decision tree as it is kept, printed and asked. A plain value; any thread reads.
//
// Invariant: nodes stand in the order of a walk from the root that visits a node before its
// branches and these in their order; so a branch has a greater index than its node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "table.hpp"

namespace strid::tree {

inline constexpr std::uint32_t no_attribute = std::numeric_limits<std::uint32_t>::max();

/// Where the cases with a value go: of a numeric test, value 0 is "at most the threshold" and 1 is
/// above it. Values without training cases have no branch.
struct Branch {
    std::uint32_t value;
    std::uint32_t node;
};

struct TreeNode {
    std::vector<double> counts = {};         // weight of the training cases, by class
    double cases = 0;                        // their sum
    ClassCode majority = 0;                  // the first class that has the greatest weight
    std::uint32_t attribute = no_attribute;  // no_attribute: a leaf
    double threshold = 0;
    std::vector<Branch> branches = {};

    [[nodiscard]] bool is_leaf() const noexcept { return attribute == no_attribute; }
    [[nodiscard]] double errors() const noexcept { return cases - counts[majority]; }
};

struct Tree {
    std::vector<TreeNode> nodes = {};

    [[nodiscard]] std::size_t leaves() const noexcept;
    [[nodiscard]] std::size_t depth() const;
};

/// The first class that has the greatest weight.
[[nodiscard]] ClassCode majority_of(const std::vector<double>& counts) noexcept;

/// Branches that make no fewer errors of the training cases than a leaf would are taken off, as
/// C4.5 does while it grows a tree.
void collapse(Tree& tree);

/// Error-based pruning by subtree replacement (C4.5, chapter 4): a branch becomes a leaf where the
/// upper limit of its errors at this confidence is not above that of its leaves by 0.1.
void prune(Tree& tree, double confidence);

/// The errors that are to be expected beside the `errors` that were seen among `cases` (C4.5).
[[nodiscard]] double added_errors(double cases, double errors, double confidence);

}  // namespace strid::tree
