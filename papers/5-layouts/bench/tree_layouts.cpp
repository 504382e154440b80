// SPDX-License-Identifier: Apache-2.0
//
// Paper 5, "Binary Tree Example - Lookup performance" and "Recompiling binary tree example for 32
// bit system": a perfect binary tree of nodes that are allocated in the order of a layout, by three
// allocators, and the same with indices of 32 bits in the place of pointers. Beside them stand the
// search trees of the library, which are made at once from sorted keys.
//
// A position names a node as a heap does: 1 is the root, 2p and 2p + 1 are the children of p. A
// layout is a list of positions, in the order in which the nodes are allocated.
#include <bit>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <strid/search/search_tree.hpp>

#include "tables.hpp"

namespace strid::bench {

namespace {

using Positions = std::vector<std::uint32_t>;

void depth_first(Positions& order, std::uint32_t at, std::size_t nodes) {
    if (at > nodes) return;
    order.push_back(at);
    depth_first(order, 2 * at, nodes);
    depth_first(order, 2 * at + 1, nodes);
}

/// The upper half of the levels first, then each tree that hangs below it, all in the same way.
void van_emde_boas(Positions& order, std::uint32_t root, int levels) {
    if (levels == 1) {
        order.push_back(root);
        return;
    }
    const int upper = levels / 2;
    van_emde_boas(order, root, upper);
    const std::uint32_t first = root << upper;
    for (std::uint32_t i = 0; i != std::uint32_t{1} << upper; ++i) {
        van_emde_boas(order, first + i, levels - upper);
    }
}

struct Layout {
    std::string name;
    Positions order;
};

std::vector<Layout> all_layouts(int levels) {
    const std::size_t nodes = (std::size_t{1} << levels) - 1;
    std::vector<Layout> layouts{{"BFS", {}}, {"DFS", {}}, {"van Emde Boas", {}}};
    for (Layout& layout : layouts) layout.order.reserve(nodes);
    for (std::uint32_t at = 1; at <= nodes; ++at) layouts[0].order.push_back(at);
    depth_first(layouts[1].order, 1, nodes);
    van_emde_boas(layouts[2].order, 1, levels);
    return layouts;
}

/// The nodes' values are the odd numbers. The value at a position follows from the place of the
/// position in the tree's order.
std::int32_t value_at(std::uint32_t position, int levels) {
    const int depth = static_cast<int>(std::bit_width(position)) - 1;
    const std::uint32_t among = position - (std::uint32_t{1} << depth);
    const int below = levels - 1 - depth;
    const std::uint32_t rank = (2 * among + 1) * (std::uint32_t{1} << below) - 1;
    return static_cast<std::int32_t>(2 * rank + 1);
}

struct Node {
    std::int32_t value;
    Node* left;
    Node* right;
};
struct CompactNode {
    std::int32_t value;
    std::uint32_t left;  // 0: none, the place of no node
    std::uint32_t right;
};
static_assert(sizeof(Node) == 24 && sizeof(CompactNode) == 12);

/// The questions to all layouts: even numbers and odd ones.
class Queries {
  public:
    Queries(std::size_t count, int levels) {
        const std::uint64_t limit = std::uint64_t{1} << (levels + 1);
        for (std::size_t i = 0; i != count; ++i) {
            const auto value = static_cast<std::int32_t>(mixed_below(i, limit - 1));
            values_.push_back(value);
            found_ += static_cast<std::uint64_t>(value % 2 != 0);
        }
    }
    [[nodiscard]] const std::vector<std::int32_t>& values() const noexcept { return values_; }
    [[nodiscard]] std::uint64_t found() const noexcept { return found_; }

  private:
    std::vector<std::int32_t> values_;
    std::uint64_t found_ = 0;
};

[[gnu::noinline]] std::uint64_t count_found(const Node* root, const Queries& queries) {
    std::uint64_t found = 0;
    for (const std::int32_t value : queries.values()) {
        const Node* at = root;
        while (at != nullptr && at->value != value) at = value < at->value ? at->left : at->right;
        found += static_cast<std::uint64_t>(at != nullptr);
    }
    return found;
}
[[gnu::noinline]] std::uint64_t count_found(const std::vector<CompactNode>& nodes,
                                            std::uint32_t root, const Queries& queries) {
    std::uint64_t found = 0;
    for (const std::int32_t value : queries.values()) {
        std::uint32_t at = root;
        while (at != 0 && nodes[at].value != value) {
            at = value < nodes[at].value ? nodes[at].left : nodes[at].right;
        }
        found += static_cast<std::uint64_t>(at != 0);
    }
    return found;
}

/// One block, a node behind the other.
class Perfect {
  public:
    explicit Perfect(std::size_t nodes) : nodes_(nodes) {}
    Node* allocate() { return &nodes_[next_++]; }
    void free_all(const std::vector<Node*>& /*nodes*/) noexcept {}

  private:
    std::vector<Node> nodes_;
    std::size_t next_ = 0;
};

/// One block; a node lies 51 places behind the one that was allocated before, as in the paper's
/// program, so that no two neighbours share a line.
class Scattered {
  public:
    explicit Scattered(std::size_t nodes)
        : rows_((nodes + stride - 1) / stride), nodes_(rows_ * stride) {}
    Node* allocate() {
        const std::size_t i = next_++;
        return &nodes_[i % rows_ * stride + i / rows_];
    }
    void free_all(const std::vector<Node*>& /*nodes*/) noexcept {}

  private:
    static constexpr std::size_t stride = 51;
    std::size_t rows_;
    std::vector<Node> nodes_;
    std::size_t next_ = 0;
};

class Standard {
  public:
    explicit Standard(std::size_t /*nodes*/) {}
    Node* allocate() { return allocator_.allocate(1); }
    void free_all(const std::vector<Node*>& nodes) noexcept {
        for (Node* const node : nodes) {
            if (node != nullptr) allocator_.deallocate(node, 1);
        }
    }

  private:
    std::allocator<Node> allocator_;
};

template <class Allocator>
void one_tree(const TableOptions& options, const char* row, const Layout& layout, int levels,
              const Queries& queries) {
    const std::size_t count = layout.order.size();
    Allocator allocator(count);
    std::vector<Node*> places(2 * (count + 1));  // null below the leaves
    for (const std::uint32_t at : layout.order) places[at] = allocator.allocate();
    for (std::uint32_t at = 1; at <= count; ++at) {
        ::new (places[at]) Node{value_at(at, levels), places[2 * at], places[2 * at + 1]};
    }
    const Node* const root = places[1];
    measure(options, {"trees", row, layout.name, queries.values().size(), count * sizeof(Node)},
            queries.found(), [&] { return count_found(root, queries); });
    allocator.free_all(places);
}

void compact_tree(const TableOptions& options, const Layout& layout, int levels,
                  const Queries& queries) {
    const std::size_t count = layout.order.size();
    std::vector<std::uint32_t> places(2 * (count + 1));
    std::uint32_t next = 1;
    for (const std::uint32_t at : layout.order) places[at] = next++;
    std::vector<CompactNode> nodes(count + 1);
    for (std::uint32_t at = 1; at <= count; ++at) {
        nodes[places[at]] = {value_at(at, levels), places[2 * at], places[2 * at + 1]};
    }
    measure(options,
            {"trees", "offsets of 32 bits", layout.name, queries.values().size(),
             count * sizeof(CompactNode)},
            queries.found(), [&] { return count_found(nodes, places[1], queries); });
}

/// The library's trees over the same keys: one lookup after the other, and in batches.
template <memory::TreeLayout layout>
void static_tree(const TableOptions& options, const char* column,
                 const std::vector<std::int32_t>& sorted, const Queries& queries) {
    using Tree = memory::SearchTree<std::int32_t, layout>;
    const Tree tree{sorted};
    const std::span<const std::int32_t> values = queries.values();
    const std::size_t bytes = sorted.size() * sizeof(std::int32_t);
    measure(options, {"trees", "Strid search tree", column, values.size(), bytes}, queries.found(),
            [&] {
                std::uint64_t found = 0;
                for (const std::int32_t value : values) {
                    const memory::TreeSlot slot = memory::find_in(tree, value);
                    found += static_cast<std::uint64_t>(slot != memory::no_slot);
                }
                return found;
            });
    std::vector<memory::TreeSlot> slots(std::min<std::size_t>(1024, values.size()));
    measure(options, {"trees", "Strid search tree, in batches", column, values.size(), bytes},
            queries.found(), [&] {
                std::uint64_t found = 0;
                for (auto rest = values; !rest.empty();) {
                    const auto batch = rest.first(std::min(slots.size(), rest.size()));
                    tree.at_or_before(batch, std::span{slots}.first(batch.size()));
                    for (std::size_t i = 0; i != batch.size(); ++i) {
                        found += static_cast<std::uint64_t>(slots[i] != memory::no_slot &&
                                                            tree.key(slots[i]) == batch[i]);
                    }
                    rest = rest.subspan(batch.size());
                }
                return found;
            });
}

void static_trees(const TableOptions& options, int levels, const Queries& queries) {
    std::vector<std::int32_t> sorted((std::size_t{1} << levels) - 1);
    for (std::size_t i = 0; i != sorted.size(); ++i) {
        sorted[i] = static_cast<std::int32_t>(2 * i + 1);
    }
    using memory::TreeLayout;
    static_tree<TreeLayout::breadth_first>(options, "BFS", sorted, queries);
    static_tree<TreeLayout::depth_first>(options, "DFS", sorted, queries);
    static_tree<TreeLayout::van_emde_boas>(options, "van Emde Boas", sorted, queries);
    static_tree<TreeLayout::b_tree>(options, "B-tree", sorted, queries);
}

}  // namespace

void tree_layouts(const TableOptions& options) {
    const std::size_t nodes = options.elements(8'000'000, sizeof(Node));
    const int levels = std::min(29, static_cast<int>(std::bit_width(nodes)));
    const Queries queries(options.quick ? 10'000 : 4'000'000, levels);
    for (const Layout& layout : all_layouts(levels)) {
        one_tree<Standard>(options, "standard allocator", layout, levels, queries);
        one_tree<Perfect>(options, "perfect allocator", layout, levels, queries);
        one_tree<Scattered>(options, "scattered allocator", layout, levels, queries);
        compact_tree(options, layout, levels, queries);
    }
    static_trees(options, levels, queries);
}

}  // namespace strid::bench
