// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstddef>
#include <deque>

#include <strid/engine/search/tree_order.hpp>

namespace strid::memory {

namespace {

/// Gives places to the nodes in the order in which they arrive.
class Places {
  public:
    explicit Places(std::size_t size) : places_(size) {}

    void take(const RankRange& ranks) noexcept { places_[ranks.middle()] = next_++; }

    void breadth_first() {
        std::deque<RankRange> waiting{{0, places_.size()}};
        for (; !waiting.empty(); waiting.pop_front()) {
            const RankRange ranks = waiting.front();
            if (ranks.empty()) continue;
            take(ranks);
            waiting.push_back(ranks.left());
            waiting.push_back(ranks.right());
        }
    }
    void depth_first(const RankRange& ranks) {
        if (ranks.empty()) return;
        take(ranks);
        depth_first(ranks.left());
        depth_first(ranks.right());
    }
    /// The upper `levels` of a subtree; `below` gets the subtrees under them, from left to right.
    void van_emde_boas(const RankRange& ranks, std::size_t levels, std::vector<RankRange>& below) {
        if (ranks.empty()) return;
        if (levels == 1) {
            take(ranks);
            below.push_back(ranks.left());
            below.push_back(ranks.right());
            return;
        }
        const std::size_t upper = levels / 2;
        std::vector<RankRange> subtrees;
        van_emde_boas(ranks, upper, subtrees);
        for (const RankRange& subtree : subtrees) van_emde_boas(subtree, levels - upper, below);
    }

    [[nodiscard]] std::vector<std::uint32_t> take_all() noexcept { return std::move(places_); }

  private:
    std::vector<std::uint32_t> places_;
    std::uint32_t next_ = 0;
};

}  // namespace

std::vector<std::uint32_t> places_of_ranks(std::size_t size, NodeOrder order) {
    Places places{size};
    const RankRange all{0, size};
    switch (order) {
        case NodeOrder::breadth_first:
            places.breadth_first();
            break;
        case NodeOrder::depth_first:
            places.depth_first(all);
            break;
        case NodeOrder::van_emde_boas: {
            std::vector<RankRange> below;
            if (size != 0) {
                places.van_emde_boas(all, static_cast<std::size_t>(std::bit_width(size)), below);
            }
            break;
        }
    }
    return places.take_all();
}

}  // namespace strid::memory
