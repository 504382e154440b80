// SPDX-License-Identifier: Apache-2.0
#include "growth.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <strid/base/error.hpp>

namespace strid::tree {

namespace {

constexpr double gain_slack = 1e-3;  // C4.5's Epsilon
constexpr double tie = 1e-10;

/// `part` behind the nodes of `tree`.
void splice(Tree& tree, Tree& part) {
    const auto first = static_cast<std::uint32_t>(tree.nodes.size());
    for (TreeNode& node : part.nodes) {
        for (Branch& branch : node.branches) branch.node += first;
        tree.nodes.push_back(std::move(node));
    }
}

}  // namespace

GrowingNode::~GrowingNode() {
    std::vector<std::unique_ptr<GrowingNode>> open = std::move(branches);
    while (!open.empty()) {
        const std::unique_ptr<GrowingNode> last = std::move(open.back());
        open.pop_back();
        if (!last) continue;
        for (auto& branch : last->branches) open.push_back(std::move(branch));
        last->branches.clear();
    }
}

Growing::Growing(const Training& training, GrowingNode& root) : training_(&training), node_(&root) {
    cases_.rows.resize(training.table().rows());
    std::iota(cases_.rows.begin(), cases_.rows.end(), 0U);
    cases_.classes = training.table().classes;
    cases_.weights = training.table().weights;
    for (std::size_t i = 0; i < training.attributes(); ++i) {
        cases_.attributes.push_back(static_cast<std::uint32_t>(i));
        cases_.orders.emplace_back(training.order(i));
    }
}

bool Growing::begin() {
    TreeNode& node = node_->node;
    node.counts.assign(training_->classes(), 0);
    if (cases_.is_weighted()) {
        for (std::size_t i = 0; i < cases_.size(); ++i) {
            node.counts[cases_.classes[i]] += cases_.weights[i];
        }
    } else {
        for (const ClassCode kind : cases_.classes) ++node.counts[kind];
    }
    node.cases = std::accumulate(node.counts.begin(), node.counts.end(), 0.0);
    node.majority = majority_of(node.counts);
    if (node.errors() <= Training::rounding ||
        node.cases < 2 * training_->options().cases_min - Training::rounding || places() == 0) {
        return false;
    }
    candidates_.resize(places());
    return true;
}

// The greatest gain ratio of the attributes that gain the average at least.
bool Growing::choose() {
    double sum = 0;
    std::size_t possible = 0;
    for (std::size_t i = 0; i < places(); ++i) {
        if (!candidates_[i].is_possible || !training_->counts_in_average(cases_.attributes[i])) {
            continue;
        }
        sum += candidates_[i].gain;
        ++possible;
    }
    if (possible == 0) return false;
    const double least = sum / static_cast<double>(possible);
    double best = -gain_slack;
    bool found = false;
    for (std::size_t i = 0; i < places(); ++i) {
        const Candidate& candidate = candidates_[i];
        if (!candidate.is_possible || candidate.gain < least - gain_slack ||
            candidate.split_info <= gain_slack) {
            continue;
        }
        const double ratio = candidate.gain / candidate.split_info;
        if (ratio > best + tie) {
            best = ratio;
            chosen_ = i;
            found = true;
        }
    }
    return found;
}

// The cut is the greatest number of the whole training set that is not above the middle.
void Growing::route() {
    TreeNode& node = node_->node;
    node.attribute = cases_.attributes[chosen_];
    if (training_->is_numeric(node.attribute)) {
        const std::vector<double>& distinct = training_->distinct(node.attribute);
        const Candidate& cut = candidates_[chosen_];
        const double middle = std::midpoint(distinct[cut.code], distinct[cut.next_code]);
        const auto first = distinct.begin() + static_cast<std::ptrdiff_t>(cut.code);
        const auto last = distinct.begin() + static_cast<std::ptrdiff_t>(cut.next_code);
        node.threshold = *std::prev(std::upper_bound(first + 1, last, middle));
    }
    for (std::size_t i = 0; i < places(); ++i) {
        const bool is_tested = i == chosen_ && !training_->is_numeric(node.attribute);
        if (!is_tested && !candidates_[i].is_constant) kept_.push_back(i);
    }
    find_branches();
    fill_branches();
}

// Branches are numbered as their values are; values without cases have none.
void Growing::find_branches() {
    TreeNode& node = node_->node;
    routes_.assign(cases_.size(), {all_branches, 0});
    if (training_->is_numeric(node.attribute)) {
        const std::uint32_t cut = candidates_[chosen_].code;
        for (const Entry& entry : cases_.orders[chosen_]) {
            routes_[entry.item].branch = entry.code <= cut ? 0 : 1;
        }
        node.branches = {{0, 0}, {1, 0}};
        return;
    }
    const std::vector<std::uint32_t>& codes = training_->table().columns[node.attribute].codes;
    const std::vector<std::uint32_t> values = values_of_cases();
    for (const std::uint32_t value : values) node.branches.push_back({value, 0});
    std::vector<std::uint32_t> branch_of;  // by value, where that is not much longer than needed
    const std::size_t count = training_->table().schema.attributes[node.attribute].values.size();
    if (is_dense(count)) {
        branch_of.resize(count);
        for (std::uint32_t i = 0; i < values.size(); ++i) branch_of[values[i]] = i;
    }
    for (std::size_t item = 0; item < cases_.size(); ++item) {
        const std::uint32_t code = codes[cases_.rows[item]];
        if (code == missing_code) continue;
        routes_[item].branch =
            !branch_of.empty()
                ? branch_of[code]
                : static_cast<std::uint32_t>(std::lower_bound(values.begin(), values.end(), code) -
                                             values.begin());
    }
}

// In order.
std::vector<std::uint32_t> Growing::values_of_cases() const {
    const std::uint32_t attribute = node_->node.attribute;
    const std::vector<std::uint32_t>& codes = training_->table().columns[attribute].codes;
    const std::size_t count = training_->table().schema.attributes[attribute].values.size();
    std::vector<std::uint32_t> values;
    if (is_dense(count)) {
        std::vector<char> is_there(count, 0);
        for (const std::uint32_t row : cases_.rows) {
            if (codes[row] != missing_code) is_there[codes[row]] = 1;
        }
        for (std::uint32_t value = 0; value < count; ++value) {
            if (is_there[value] != 0) values.push_back(value);
        }
        return values;
    }
    for (const std::uint32_t row : cases_.rows) {
        if (codes[row] != missing_code) values.push_back(codes[row]);
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

void Growing::fill_branches() {
    const std::size_t count = node_->node.branches.size();
    branches_.resize(count);
    std::vector<std::size_t> sizes(count);
    std::vector<double> weights(count);
    double known = 0;
    std::uint32_t missing = 0;
    for (std::size_t item = 0; item < cases_.size(); ++item) {
        const std::uint32_t branch = routes_[item].branch;
        if (branch == all_branches) {
            ++missing;
            continue;
        }
        const double weight = cases_.is_weighted() ? cases_.weights[item] : 1;
        ++sizes[branch];
        weights[branch] += weight;
        known += weight;
    }
    const bool is_weighted = missing != 0 || cases_.is_weighted();
    for (std::size_t branch = 0; branch < count; ++branch) {
        Cases& part = branches_[branch];
        const std::size_t size = sizes[branch] + missing;
        factors_.push_back(weights[branch] / known);
        part.rows.reserve(size);
        part.classes.reserve(size);
        if (is_weighted) part.weights.reserve(size);
        for (const std::size_t place : kept_) part.attributes.push_back(cases_.attributes[place]);
    }
    for (std::uint32_t item = 0; item < cases_.size(); ++item) {
        Route& route = routes_[item];
        if (route.branch == all_branches) {
            share_missing(item);
            continue;
        }
        Cases& part = branches_[route.branch];
        route.item = static_cast<std::uint32_t>(part.rows.size());
        part.rows.push_back(cases_.rows[item]);
        part.classes.push_back(cases_.classes[item]);
        if (is_weighted) {
            part.weights.push_back(cases_.is_weighted() ? cases_.weights[item] : 1);
        }
    }
    give_branches_room();
}

// A case whose value is missing goes to each branch, in parts as the cases go whose value is known.
void Growing::share_missing(std::uint32_t item) {
    routes_[item].item = missing_++;
    const double weight = cases_.is_weighted() ? cases_.weights[item] : 1;
    for (std::size_t branch = 0; branch < branches_.size(); ++branch) {
        Cases& part = branches_[branch];
        shared_.push_back(static_cast<std::uint32_t>(part.rows.size()));
        part.rows.push_back(cases_.rows[item]);
        part.classes.push_back(cases_.classes[item]);
        part.weights.push_back(weight * factors_[branch]);
    }
}

// One allocation for all orders of a branch, each as long as it can be.
void Growing::give_branches_room() {
    std::size_t rooms = 0;
    for (const std::size_t place : kept_) {
        rooms_.push_back(rooms);
        if (training_->is_numeric(cases_.attributes[place])) ++rooms;
    }
    for (Cases& part : branches_) {
        part.orders.resize(kept_.size());
        if (rooms != 0) part.entries = std::make_unique_for_overwrite<Entry[]>(rooms * part.size());
    }
}

void Growing::divide(std::size_t place) {
    const auto kept = std::lower_bound(kept_.begin(), kept_.end(), place);
    if (kept == kept_.end() || *kept != place || cases_.orders[place].empty()) return;
    const auto below = static_cast<std::size_t>(kept - kept_.begin());
    std::vector<Entry*> next;
    for (Cases& part : branches_) next.push_back(part.entries.get() + rooms_[below] * part.size());
    const std::vector<Entry*> first = next;
    if (missing_ == 0) {
        divide_known(cases_.orders[place], next);
    } else {
        divide_shared(cases_.orders[place], next);
    }
    for (std::size_t branch = 0; branch < branches_.size(); ++branch) {
        branches_[branch].orders[below] = {first[branch], next[branch]};
    }
}

void Growing::divide_known(std::span<const Entry> order, std::vector<Entry*>& next) const {
    for (const Entry& entry : order) {
        const Route route = routes_[entry.item];
        *next[route.branch]++ = {entry.code, route.item};
    }
}

void Growing::divide_shared(std::span<const Entry> order, std::vector<Entry*>& next) const {
    for (const Entry& entry : order) {
        const Route route = routes_[entry.item];
        if (route.branch != all_branches) {
            *next[route.branch]++ = {entry.code, route.item};
            continue;
        }
        const std::size_t shared = std::size_t{route.item} * branches_.size();
        for (std::size_t branch = 0; branch < branches_.size(); ++branch) {
            *next[branch]++ = {entry.code, shared_[shared + branch]};
        }
    }
}

std::vector<Growing> Growing::take_branches() {
    std::vector<Growing> taken;
    taken.reserve(branches_.size());
    for (Cases& cases : branches_) {
        node_->branches.push_back(std::make_unique<GrowingNode>());
        taken.emplace_back(*training_, *node_->branches.back(), std::move(cases));
    }
    return taken;
}

void grow(const Training& training, Growing root, Scratch& scratch) {
    std::vector<Growing> open;
    open.push_back(std::move(root));
    while (!open.empty()) {
        if (training.interrupted().load(std::memory_order_relaxed)) throw Interrupted();
        Growing node = std::move(open.back());
        open.pop_back();
        if (!node.begin()) continue;
        for (std::size_t place = 0; place < node.places(); ++place) node.evaluate(place, scratch);
        if (!node.choose()) continue;
        node.route();
        for (std::size_t place = 0; place < node.places(); ++place) node.divide(place);
        for (Growing& branch : node.take_branches()) open.push_back(std::move(branch));
    }
}

void finish(GrowingNode& node) {
    auto finished = std::make_unique<Tree>(flatten(node));
    node.branches.clear();
    node.finished = std::move(finished);
}

Tree flatten(GrowingNode& root) {
    struct Open {
        GrowingNode* node;
        std::uint32_t parent;
        std::size_t branch;
    };
    Tree tree;
    std::vector<Open> open{{&root, 0, 0}};
    while (!open.empty()) {
        const Open next = open.back();
        open.pop_back();
        const auto index = static_cast<std::uint32_t>(tree.nodes.size());
        if (index != 0) tree.nodes[next.parent].branches[next.branch].node = index;
        if (next.node->finished) {
            splice(tree, *next.node->finished);
            continue;
        }
        tree.nodes.push_back(std::move(next.node->node));
        for (std::size_t i = next.node->branches.size(); i-- > 0;) {
            open.push_back({next.node->branches[i].get(), index, i});
        }
    }
    collapse(tree);
    return tree;
}

}  // namespace strid::tree
