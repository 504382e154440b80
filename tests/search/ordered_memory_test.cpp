// SPDX-License-Identifier: Apache-2.0
//
// The memory of ordered sets: allocators of the project, allocators that move with their set, and
// failures of an allocation, or of the copy of a key, at each place, which change nothing.
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <random>
#include <set>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include <strid/memory/pmr.hpp>
#include <strid/memory/slab_allocator.hpp>
#include <strid/search/ordered_map.hpp>
#include <strid/search/ordered_set.hpp>

namespace strid::memory {
namespace {

template <class Set, class Other>
void expect_own_memory(const Set& set, const Other& expected) {
    EXPECT_TRUE(std::equal(set.begin(), set.end(), expected.begin(), expected.end()));
}

TEST(OrderedSet, TakesTheMemoryOfTheProject) {
    std::set<std::uint64_t> expected;
    SlabAllocator slabs({.lanes = 1});
    {
        using Memory = SlabStlAllocator<std::uint64_t>;
        OrderedSet<std::uint64_t, Elements::stay, Memory> set{Memory(slabs)};
        SlabResource resource{slabs};
        OrderedSet<std::uint64_t, Elements::move, std::pmr::polymorphic_allocator<>> other{
            &resource};
        for (std::uint64_t i = 0; i != 5'000; ++i) {
            const std::uint64_t key = i * 2'654'435'761 % 100'003;
            set.insert(key);
            other.insert(key);
            expected.insert(key);
        }
        const auto on_slabs = slabs.counters();
        EXPECT_GT(on_slabs.leased, 10U);
        set.rebuild();
        other.defragment();
        expect_own_memory(set, expected);
        // Another memory: elements are moved, not nodes.
        OrderedSet<std::uint64_t, Elements::move, std::pmr::polymorphic_allocator<>> third;
        third = std::move(other);
        expect_own_memory(third, expected);
        EXPECT_TRUE(other.empty());
        OrderedSet<std::uint64_t, Elements::move, std::pmr::polymorphic_allocator<>> fourth(
            third, &resource);
        expect_own_memory(fourth, expected);
        EXPECT_TRUE(fourth.is_valid());
    }
    slabs.collect();
    EXPECT_TRUE(slabs.is_valid());
    EXPECT_EQ(slabs.usage().large_acquired, slabs.usage().large_given_back);
}

/// Of one of two memories, which count the pieces that are not freed. It moves with its container,
/// but is not exchanged by swap().
template <class T>
struct MovingAllocator {
    using value_type = T;
    using propagate_on_container_copy_assignment = std::true_type;
    using propagate_on_container_move_assignment = std::true_type;
    explicit MovingAllocator(int& pieces) : held(&pieces) {}
    template <class Other>
    MovingAllocator(const MovingAllocator<Other>& other) noexcept  // NOLINT: implicit by intent
        : held(other.held) {}
    T* allocate(std::size_t count) {
        ++*held;
        return std::allocator<T>().allocate(count);
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        --*held;
        std::allocator<T>().deallocate(memory, count);
    }
    friend bool operator==(const MovingAllocator& one, const MovingAllocator& other) noexcept {
        return one.held == other.held;
    }
    int* held;
};

TEST(OrderedSet, FreesWithTheAllocatorThatAllocated) {
    int pieces = 0;
    int other_pieces = 0;
    using Memory = MovingAllocator<int>;
    {
        OrderedSet<int, Elements::move, Memory> set{Memory(pieces)};
        OrderedSet<int, Elements::move, Memory> other{Memory(other_pieces)};
        for (int i = 0; i != 1'000; ++i) {
            set.insert(i);
            other.insert(-i);
        }
        set = other;
        EXPECT_EQ(pieces, 0);  // all that was in it, the list of its chunks too
        EXPECT_TRUE(set == other);
        other = OrderedSet<int, Elements::move, Memory>({Memory(pieces)});
        EXPECT_EQ(other.get_allocator(), Memory(pieces));
        other.insert(5);
        set = std::move(other);
        EXPECT_EQ(other_pieces, 0);
        EXPECT_TRUE(set.contains(5) && set.size() == 1);
        set.clear();
        EXPECT_EQ(pieces, 0);
    }
    EXPECT_EQ(pieces, 0);
    EXPECT_EQ(other_pieces, 0);
}

/// Allocations and copies that go well before one fails; negative: all do.
int until_failure = -1;
void may_fail() {
    if (until_failure == 0) throw std::bad_alloc{};
    if (until_failure > 0) --until_failure;
}
template <class T>
struct FailingAllocator {
    using value_type = T;
    FailingAllocator() = default;
    template <class Other>
    FailingAllocator(const FailingAllocator<Other>&) noexcept {}  // NOLINT: implicit by intent
    T* allocate(std::size_t count) {
        may_fail();
        return std::allocator<T>().allocate(count);
    }
    void deallocate(T* memory, std::size_t count) noexcept {
        std::allocator<T>().deallocate(memory, count);
    }
    friend bool operator==(const FailingAllocator&, const FailingAllocator&) noexcept {
        return true;
    }
};
/// A key whose copies may fail, and which a leak or a second destruction shows.
struct FailingKey {
    explicit FailingKey(int value) : number(std::make_unique<int>(value)) {}
    FailingKey(const FailingKey& other) : number(nullptr) {
        may_fail();
        number = std::make_unique<int>(*other.number);
    }
    FailingKey(FailingKey&&) noexcept = default;
    FailingKey& operator=(const FailingKey& other) { return *this = FailingKey(other); }
    FailingKey& operator=(FailingKey&&) noexcept = default;
    friend bool operator<(const FailingKey& one, const FailingKey& other) {
        return *one.number < *other.number;
    }
    friend bool operator==(const FailingKey& one, const FailingKey& other) {
        return *one.number == *other.number;
    }
    std::unique_ptr<int> number;
};

/// Each change of a set fails at its first, second, ... allocation or copy, and leaves it alone.
template <class Set>
void expect_failures_change_nothing(std::size_t count, int numbers) {
    using Key = typename Set::key_type;
    std::mt19937 random{21};
    Set set;
    std::multiset<int> oracle;
    std::size_t failures = 0;
    const auto changes = [&](const auto& change) {
        for (int at = 0;; ++at) {
            until_failure = at;
            try {
                change();
                until_failure = -1;
                return;
            } catch (const std::bad_alloc&) {
                until_failure = -1;
                ++failures;
            }
            ASSERT_EQ(set.size(), oracle.size());
            if (failures % 16 != 0) continue;
            auto mine = set.begin();
            bool is_same = set.is_valid();
            for (const int number : oracle) is_same = is_same && *mine++ == Key(number);
            ASSERT_TRUE(is_same);
        }
    };
    for (std::size_t i = 0; i != count; ++i) {
        const int number = static_cast<int>(random()) % numbers;
        const Key key(number);
        const bool is_new = !set.contains(key);
        ASSERT_NO_FATAL_FAILURE(changes([&] { set.insert(key); }));
        if (is_new || set.size() != oracle.size()) oracle.insert(number);
        if (i % (count / 5) == 0) {
            ASSERT_NO_FATAL_FAILURE(changes([&] { set.rebuild(); }));
            ASSERT_NO_FATAL_FAILURE(changes([&] { set.defragment(); }));
            ASSERT_NO_FATAL_FAILURE(changes([&] { const Set copy(set); }));
        }
    }
    ASSERT_TRUE(set.is_valid());
    ASSERT_EQ(set.size(), oracle.size());
    EXPECT_GT(failures, 50U);
}

TEST(OrderedSet, IsUnchangedWhereAnAllocationOrACopyFails) {
    expect_failures_change_nothing<
        OrderedSet<FailingKey, Elements::move, FailingAllocator<FailingKey>>>(600, 2'000);
    expect_failures_change_nothing<
        OrderedMultiset<FailingKey, Elements::stay, FailingAllocator<FailingKey>>>(400, 120);
}

TEST(OrderedMap, KeepsTheRoomOfAValueThatCannotBeMoved) {
    struct Value {
        Value() = default;
        Value(const Value& /*other*/) { may_fail(); }
    };
    OrderedMap<int, Value, Elements::stay> map;
    const Value value;
    for (int i = 0; i != 6; ++i) map.emplace(-i, value);
    const std::size_t before = map.bytes();
    for (int i = 0; i != 1'000; ++i) {
        until_failure = 1;  // the first copy is that of the argument, the second that to its place
        EXPECT_THROW(map.emplace(2, value), std::bad_alloc);
    }
    until_failure = -1;
    EXPECT_EQ(map.bytes(), before);
    EXPECT_EQ(map.size(), 6U);
}

}  // namespace
}  // namespace strid::memory
