// SPDX-License-Identifier: Apache-2.0
//
// Random operations on an ordered set or map beside the one of the standard library, with rebuilds
// between them: all elements, iterators, searches and counts are compared. A failure is an
// exception of require().
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace strid::memory::test {

template <class Key>
Key key_of(std::uint64_t number) {
    if constexpr (std::is_same_v<Key, std::string>) {
        return std::to_string(number) + std::string(number % 3 * 12, 'x');
    } else if constexpr (std::is_floating_point_v<Key>) {
        return static_cast<Key>(number) / 4 - 100;
    } else {
        // Both ends of the type are keys.
        const Key half = static_cast<Key>(number / 2);
        return static_cast<Key>(number % 2 == 0 ? std::numeric_limits<Key>::max() - half
                                                : std::numeric_limits<Key>::lowest() + half);
    }
}

template <class One, class Other>
bool are_same(const One& one, const Other& other) {
    if constexpr (requires { one.first; }) {
        return one.first == other.first && one.second == other.second;
    } else {
        return one == other;
    }
}

/// A failed test of GoogleTest, in fewer instructions than its macros.
inline void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
}

/// One element into both.
template <class Container, class Oracle>
void insert_in_both(Container& container, Oracle& oracle, std::uint64_t number, int value) {
    const auto key = key_of<typename Container::key_type>(number);
    const auto insert = [&](auto& into) {
        if constexpr (requires { typename Oracle::mapped_type; }) {
            return into.emplace(key, value);
        } else {
            return into.insert(key);
        }
    };
    const auto mine = insert(container);
    const auto theirs = insert(oracle);
    if constexpr (requires { mine.second; }) {
        require(mine.second == theirs.second, "one of both has the key");
        require(are_same(*mine.first, *theirs.first), "the iterator of insert()");
    } else {
        require(are_same(*mine, *theirs), "the iterator of insert()");
    }
}

template <class Container, class Oracle>
void expect_same(const Container& container, const Oracle& oracle) {
    require(container.is_valid(), "the invariant");
    require(container.size() == oracle.size(), "the sizes");
    auto at = container.begin();
    for (const auto& one : oracle) {
        require(at != container.end() && are_same(*at, one), "the elements");
        ++at;
    }
    require(at == container.end(), "the end");
    for (auto theirs = oracle.rbegin(); theirs != oracle.rend(); ++theirs) {
        require(are_same(*--at, *theirs), "the elements from the end on");
    }
    require(at == container.begin(), "the beginning");
}

/// The element that an iterator stands for, by its place in the order.
template <class Container>
auto rank_of(const Container& container, typename Container::const_iterator at) {
    return std::ranges::distance(container.begin(), at);
}
template <class Container, class Oracle>
void expect_same_searches(const Container& container, const Oracle& oracle, std::uint64_t number) {
    const auto key = key_of<typename Container::key_type>(number);
    const auto high = key_of<typename Container::key_type>(number + 40);
    const auto lower = std::distance(oracle.begin(), oracle.lower_bound(key));
    const auto count = static_cast<std::ptrdiff_t>(oracle.count(key));
    const auto all = static_cast<std::ptrdiff_t>(oracle.size());
    const auto until = std::distance(oracle.begin(), oracle.lower_bound(high));
    const auto rank = [&](auto at) { return rank_of(container, at); };
    require(container.contains(key) == (count != 0), "contains()");
    require(container.count(key) == oracle.count(key), "count()");
    require(rank(container.lower_bound(key)) == lower, "lower_bound()");
    require(rank(container.upper_bound(key)) == lower + count, "upper_bound()");
    require(rank(container.find(key)) == (count != 0 ? lower : all), "find()");
    require(rank(container.at_or_before(key)) == (lower + count == 0 ? all : lower + count - 1),
            "at_or_before()");
    require(std::ranges::distance(container.range(key, high)) == (key < high ? until - lower : 0),
            "range()");
}

/// Grows and shrinks, to nothing in the end.
template <class Container, class Oracle>
void expect_random_operations(std::size_t operations, std::uint64_t numbers, std::uint64_t seed) {
    std::mt19937_64 random{seed};
    Container container;
    Oracle oracle;
    for (std::size_t i = 0; i != operations; ++i) {
        const std::uint64_t number = random() % numbers;
        const bool grows = i / (operations / 6) % 2 == 0;
        if (random() % 5 == 0 ? !grows : grows) {
            insert_in_both(container, oracle, number, static_cast<int>(i));
            continue;
        }
        const auto key = key_of<typename Container::key_type>(number);
        const auto at = container.lower_bound(key);
        if (random() % 4 == 0) {
            require(container.erase(key) == oracle.erase(key), "erase() of a key");
        } else if (at != container.end()) {
            const auto next = container.erase(at);
            const auto expected = oracle.erase(oracle.lower_bound(key));
            require((next == container.end()) == (expected == oracle.end()), "the end by erase()");
            require(next == container.end() || are_same(*next, *expected), "the next by erase()");
        }
        if (random() % (operations / 9) == 0) {
            random() % 2 == 0 ? container.defragment() : container.rebuild(random() % 2 ? 1 : 0.6);
            expect_same(container, oracle);
        }
        if (i % (operations / 60) == 0) {
            expect_same(container, oracle);
            expect_same_searches(container, oracle, random() % numbers);
        }
    }
    Container copy(container);
    require(copy.is_valid() && copy == container, "a copy");
    while (!container.empty()) {
        container.erase(container.begin());
        oracle.erase(oracle.begin());
        if (container.size() % 500 == 0) expect_same(container, oracle);
    }
    container.defragment();
    require(container.bytes() == 0, "memory of nothing");
    const Container kept(copy);
    container = std::move(copy);
    require(container.is_valid() && container == kept, "what was moved");
}

}  // namespace strid::memory::test
