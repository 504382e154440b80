// SPDX-License-Identifier: Apache-2.0
#include "classification.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include <strid/engine/base/excerpt.hpp>

namespace strid::tree {

void Classifier::add(const TreeNode& node, double weight) noexcept {
    if (node.cases <= 0) return;
    for (std::size_t c = 0; c < shares_.size(); ++c) {
        shares_[c] += weight * node.counts[c] / node.cases;
    }
}

void Classifier::follow(const TreeNode& node, double weight, std::uint32_t value) {
    if (value == missing_code) {
        // The first branch is looked at first, so that sums add up in one order.
        for (std::size_t i = node.branches.size(); i-- > 0;) {
            const std::uint32_t below = node.branches[i].node;
            const double share = tree_.nodes[below].cases / node.cases;
            if (share > 0) open_.push_back({below, weight * share});
        }
        return;
    }
    const auto found =
        std::lower_bound(node.branches.begin(), node.branches.end(), value,
                         [](const Branch& branch, std::uint32_t v) { return branch.value < v; });
    if (found != node.branches.end() && found->value == value) {
        open_.push_back({found->node, weight});
    } else {
        add(node, weight);
    }
}

Prediction Classifier::best() noexcept {
    const ClassCode kind = majority_of(shares_);
    const double sum = std::accumulate(shares_.begin(), shares_.end(), 0.0);
    if (sum > 0) {
        for (double& share : shares_) share /= sum;
    }
    return {kind, sum > 0 ? shares_[kind] : 0};
}

void ConfusionMatrix::add(const ConfusionMatrix& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::uint64_t ConfusionMatrix::cases() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::uint64_t ConfusionMatrix::correct() const {
    std::uint64_t sum = 0;
    for (std::size_t c = 0; c < classes_; ++c) sum += at(c, c);
    return sum;
}

std::string ConfusionMatrix::text(const std::vector<std::string>& classes) const {
    std::size_t width = 6;
    for (const std::uint64_t count : counts_) {
        width = std::max(width, std::to_string(count).size() + 1);
    }
    std::string text;
    for (std::size_t c = 0; c < classes_; ++c) {
        text += fmt::format("{:>{}}", fmt::format("({})", c + 1), width);
    }
    text += "   predicted as\n";
    for (std::size_t actual = 0; actual < classes_; ++actual) {
        for (std::size_t c = 0; c < classes_; ++c) {
            text += fmt::format("{:>{}}", at(actual, c), width);
        }
        text += fmt::format("   ({}) {}\n", actual + 1, excerpt(classes[actual], 200));
    }
    return text;
}

ConfusionMatrix confusion(const Tree& tree, const Table& table) {
    ConfusionMatrix matrix(table.schema.classes.size());
    Classifier classifier(table.schema, tree);
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const Prediction predicted = classifier.classify(
            [&](std::uint32_t attribute) { return table.columns[attribute].numbers[row]; },
            [&](std::uint32_t attribute) { return table.columns[attribute].codes[row]; });
        matrix.add(table.classes[row], predicted.kind);
    }
    return matrix;
}

}  // namespace strid::tree
