// SPDX-License-Identifier: Apache-2.0
//
// Growing a tree from its root down, in steps of one node that a program may run one after the
// other (grow()) or share among threads (parallel_growth.hpp):
//
//     begin()      counts the classes; a leaf ends here
//     evaluate()   for each attribute, in any order or at once
//     choose()     picks the test, after all attributes; a leaf may end here
//     route()      says which branch each case goes to
//     divide()     for each attribute, in any order or at once: the branches get their part of its
//                  order
//
// A Growing owns its cases until it is divided. A node belongs to the Growing that works on it;
// different ones may be worked on at once.
//
// Invariant: cases keep the order of their rows, and an attribute's order that of its numbers and
// then of the rows; so each sum adds up in one order, and the tree is the same to the last bit
// however the steps are shared.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "split.hpp"
#include "training.hpp"
#include "tree.hpp"

namespace strid::tree {

/// A node of a tree that grows; owns its branches.
struct GrowingNode {
    GrowingNode() = default;
    /// Without recursion: trees may be deeper than a stack.
    ~GrowingNode();
    GrowingNode(const GrowingNode&) = delete;
    GrowingNode& operator=(const GrowingNode&) = delete;

    TreeNode node = {};
    std::vector<std::unique_ptr<GrowingNode>> branches = {};  // as node.branches
    std::unique_ptr<Tree> finished = {};  // all of it, in the place of the other members
};

class Growing {
  public:
    Growing(const Training& training, GrowingNode& node, Cases cases)
        : training_(&training), node_(&node), cases_(std::move(cases)) {}
    /// The root, with all rows.
    Growing(const Training& training, GrowingNode& root);

    [[nodiscard]] bool begin();
    [[nodiscard]] std::size_t places() const noexcept { return cases_.attributes.size(); }
    void evaluate(std::size_t place, Scratch& scratch) {
        candidates_[place] = tree::evaluate(*training_, cases_, node_->node.cases, place, scratch);
    }
    [[nodiscard]] bool choose();
    void route();
    void divide(std::size_t place);
    /// After all was divided. The cases are gone from here.
    [[nodiscard]] std::vector<Growing> take_branches();

    [[nodiscard]] GrowingNode& node() const noexcept { return *node_; }
    [[nodiscard]] std::size_t cases() const noexcept { return cases_.size(); }
    /// The approximate cost of its evaluation: a case of one attribute is 1.
    [[nodiscard]] double cost() const noexcept {
        return static_cast<double>(cases_.size()) * static_cast<double>(places());
    }

  private:
    /// Where a case goes: `item` of the branch. One whose value is missing goes to all branches,
    /// and `item` is its number among those.
    struct Route {
        std::uint32_t branch;
        std::uint32_t item;
    };
    static constexpr std::uint32_t all_branches = missing_code;

    /// A table by value is not much longer than the cases.
    [[nodiscard]] bool is_dense(std::size_t values) const noexcept {
        return values <= 4 * cases_.size();
    }
    void find_branches();
    void fill_branches();
    void share_missing(std::uint32_t item);
    void give_branches_room();
    void divide_known(std::span<const Entry> order, std::vector<Entry*>& next) const;
    void divide_shared(std::span<const Entry> order, std::vector<Entry*>& next) const;
    [[nodiscard]] std::vector<std::uint32_t> values_of_cases() const;

    const Training* training_;
    GrowingNode* node_;
    Cases cases_;
    std::vector<Candidate> candidates_ = {};
    std::size_t chosen_ = 0;
    std::vector<Route> routes_ = {};
    std::vector<Cases> branches_ = {};
    std::vector<std::size_t> kept_ = {};      // places of the attributes that branches may test
    std::vector<std::size_t> rooms_ = {};     // by kept place: which of the branches' rooms it has
    std::vector<double> factors_ = {};        // share of the known cases, by branch
    std::vector<std::uint32_t> shared_ = {};  // items of missing cases, all branches of each
    std::uint32_t missing_ = 0;
};

/// Grows all that is below, in this thread. Throws Interrupted.
void grow(const Training& training, Growing root, Scratch& scratch);

/// The tree that has grown, collapsed; its nodes are taken from `root`.
[[nodiscard]] Tree flatten(GrowingNode& root);
/// The same for what has grown below a node, which keeps it in few blocks of memory. Work that is
/// done here need not be done after all has grown: a collapsed tree collapses to itself.
void finish(GrowingNode& node);

}  // namespace strid::tree
