// SPDX-License-Identifier: Apache-2.0
//
// Problems for loops, drawn at random: the steps of Collatz, ranges that are divided until they are
// short, and what can be reached in a random graph. Each as the step of a loop, and as an obvious
// sequential function.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace strid::test {

enum class Kind : std::uint8_t { collatz, range, reach, poison, endless };

/// A task of a loop and its result. Collatz: of `start`, where it is, and after how many steps.
/// Range: from `at` so many. Reach: of `start`, the vertex.
struct Item {
    Kind kind = Kind::collatz;
    std::uint64_t start = 0;
    std::uint64_t at = 0;
    std::uint64_t count = 0;

    auto operator<=>(const Item&) const = default;
};

/// The edges that leave each vertex.
using Vertices = std::vector<std::vector<std::uint64_t>>;

/// The step of a loop. It keeps the items that have been reached: its replicas share the items by
/// `key_of`.
struct LoopStep {
    std::shared_ptr<const Vertices> vertices;
    std::set<std::pair<std::uint64_t, std::uint64_t>> reached = {};

    static std::uint64_t key_of(const Item& item) {
        return item.kind == Kind::reach ? item.start * 1'000 + item.at : item.at + item.count;
    }

    void operator()(Item item, auto& emit) {
        switch (item.kind) {
            case Kind::collatz:
                if (item.at <= 1) return emit(item);
                item.at = item.at % 2 == 0 ? item.at / 2 : 3 * item.at + 1;
                ++item.count;
                return emit.again(item);
            case Kind::range:
                if (item.count == 0) return;  // nothing comes of it
                if (item.count < 4) return emit(item);
                emit.again(Item{Kind::range, item.start, item.at, item.count / 2});
                item.at += item.count / 2;
                item.count -= item.count / 2;
                return emit.again(item);
            case Kind::reach:
                if (!reached.emplace(item.start, item.at).second) return;
                for (const std::uint64_t next : (*vertices)[item.at]) {
                    emit.again(Item{Kind::reach, item.start, next, 0});
                }
                return emit(item);
            case Kind::poison:
                throw std::runtime_error("a poisoned item");
            case Kind::endless:
                return emit.again(item);
        }
    }
};

class LoopProblem {
  public:
    explicit LoopProblem(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        const auto below = [&random](std::uint64_t bound) { return random() % bound; };
        auto vertices = std::make_shared<Vertices>(1 + below(12));
        for (auto& edges : *vertices) {
            for (std::uint64_t n = below(4); n != 0; --n) edges.push_back(below(vertices->size()));
        }
        vertices_ = vertices;
        for (std::uint64_t number = 0, count = below(20); number < count; ++number) {
            const std::array items{Item{Kind::collatz, number, 1 + below(30), 0},
                                   Item{Kind::range, number, below(100), below(40)},
                                   Item{Kind::reach, number, below(vertices->size()), 0}};
            items_.push_back(items[below(items.size())]);
        }
    }

    [[nodiscard]] const std::vector<Item>& items() const noexcept { return items_; }
    [[nodiscard]] LoopStep step() const { return {vertices_}; }

    /// The items that are to leave the loop, sorted.
    [[nodiscard]] std::vector<Item> results() const {
        std::vector<Item> all;
        for (const Item& item : items_) {
            if (item.kind == Kind::collatz) {
                Item end = item;
                for (; end.at > 1; ++end.count) {
                    end.at = end.at % 2 == 0 ? end.at / 2 : 3 * end.at + 1;
                }
                all.push_back(end);
            } else if (item.kind == Kind::range) {
                divide(item.start, item.at, item.count, all);
            } else {
                breadth_first(item, all);
            }
        }
        std::sort(all.begin(), all.end());
        return all;
    }

  private:
    static void divide(std::uint64_t start, std::uint64_t first, std::uint64_t count,
                       std::vector<Item>& all) {
        if (count >= 4) {
            divide(start, first, count / 2, all);
            divide(start, first + count / 2, count - count / 2, all);
        } else if (count != 0) {
            all.push_back({Kind::range, start, first, count});
        }
    }
    void breadth_first(const Item& item, std::vector<Item>& all) const {
        std::vector<bool> seen(vertices_->size());
        std::deque<std::uint64_t> queue{item.at};
        seen[item.at] = true;
        for (; !queue.empty(); queue.pop_front()) {
            all.push_back({Kind::reach, item.start, queue.front(), 0});
            for (const std::uint64_t next : (*vertices_)[queue.front()]) {
                if (seen[next]) continue;
                seen[next] = true;
                queue.push_back(next);
            }
        }
    }

    std::shared_ptr<const Vertices> vertices_;
    std::vector<Item> items_;
};

}  // namespace strid::test
