// SPDX-License-Identifier: Apache-2.0
//
// Asking a tree. A Classifier borrows the tree and owns its memory; one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "table.hpp"
#include "tree.hpp"

namespace strid::tree {

struct Prediction {
    ClassCode kind = 0;
    double confidence = 0;  // the share of that class
};

class Classifier {
  public:
    Classifier(const Schema& schema, const Tree& tree)
        : schema_(schema), tree_(tree), shares_(schema.classes.size()) {}

    /// `number_of(attribute)` and `code_of(attribute)` are the values of the case: NaN and
    /// missing_code where they are not known. Such a case goes to all branches, in parts as the
    /// training cases went; a value that had none at a node is judged by that node.
    template <class NumberOf, class CodeOf>
    [[nodiscard]] Prediction classify(NumberOf&& number_of, CodeOf&& code_of) {
        shares_.assign(shares_.size(), 0);
        open_.assign(1, {0, 1});
        while (!open_.empty()) {
            const Part part = open_.back();
            open_.pop_back();
            const TreeNode& node = tree_.nodes[part.node];
            if (node.is_leaf()) {
                add(node, part.weight);
            } else if (schema_.attributes[node.attribute].is_numeric) {
                const double number = number_of(node.attribute);
                const bool is_known = number == number;
                follow(
                    node, part.weight,
                    is_known ? static_cast<std::uint32_t>(number > node.threshold) : missing_code);
            } else {
                follow(node, part.weight, code_of(node.attribute));
            }
        }
        return best();
    }

    /// Of the last case: the share of each class, 1 in all.
    [[nodiscard]] std::span<const double> shares() const noexcept { return shares_; }

  private:
    struct Part {
        std::uint32_t node;
        double weight;
    };

    void add(const TreeNode& node, double weight) noexcept;
    void follow(const TreeNode& node, double weight, std::uint32_t value);
    [[nodiscard]] Prediction best() noexcept;

    const Schema& schema_;
    const Tree& tree_;
    std::vector<double> shares_;
    std::vector<Part> open_;
};

/// How often each class was taken for which: rows are the classes of the cases.
class ConfusionMatrix {
  public:
    explicit ConfusionMatrix(std::size_t classes) : classes_(classes), counts_(classes * classes) {}

    void add(ClassCode actual, ClassCode predicted) {
        ++counts_[std::size_t{actual} * classes_ + predicted];
    }
    void add(const ConfusionMatrix& other);
    [[nodiscard]] std::uint64_t at(std::size_t actual, std::size_t predicted) const {
        return counts_[actual * classes_ + predicted];
    }
    [[nodiscard]] std::uint64_t cases() const;
    [[nodiscard]] std::uint64_t correct() const;
    /// Right-aligned columns under numbers of the classes, as C4.5 prints it.
    [[nodiscard]] std::string text(const std::vector<std::string>& classes) const;

  private:
    std::size_t classes_;
    std::vector<std::uint64_t> counts_;
};

/// Asks the tree for each row of a table.
[[nodiscard]] ConfusionMatrix confusion(const Tree& tree, const Table& table);

}  // namespace strid::tree
