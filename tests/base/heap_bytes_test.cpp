// SPDX-License-Identifier: Apache-2.0
//
// The heap memory that records own, beside the counts of an allocator.
#include <any>
#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/heap_bytes.hpp>
#include <strid/base/time.hpp>
#include <strid/engine/base/members.hpp>

namespace strid {
namespace {

struct Plain {
    int number;
    std::array<char, 16> name;
    std::string_view text;
    EventTime time;
};
struct Nested {
    Plain plain;
    std::optional<std::string> text;
    int numbers[3];
};
struct Tree {
    std::string name;
    std::vector<Tree> children;
};
struct Unknown {
    std::any any;
    std::shared_ptr<std::string> shared;
};
class Picture {
  public:
    explicit Picture(std::size_t bytes) : bytes_(bytes) {}
    [[nodiscard]] std::size_t heap_bytes() const { return bytes_; }

  private:
    std::size_t bytes_;
};
struct Handle {
    ~Handle() {}
};
[[maybe_unused]] std::size_t heap_bytes(const Handle&) {
    return 9;
}

/// Members without a default: first, last, and several in a row.
class Roll {
  public:
    explicit Roll(std::string frames) : frames_(std::move(frames)) {}
    [[nodiscard]] std::size_t heap_bytes() const { return frames_.size(); }

  private:
    std::string frames_;
};
struct FirstHasNoDefault {
    Roll roll;
    int number;
};
struct LastHasNoDefault {
    int numbers[2];
    Roll roll;
};
struct ArrayHasNoDefault {
    Roll rolls[2];
    int number;
};
struct Titled : Plain {
    Roll roll;
};
static_assert(owns_heap<FirstHasNoDefault> && owns_heap<LastHasNoDefault>);
static_assert(detail::member_count<FirstHasNoDefault>() == 2);
static_assert(detail::member_count<LastHasNoDefault>() == 2);
static_assert(!owns_heap<ArrayHasNoDefault> && !owns_heap<Titled>);  // not decomposed, no error

static_assert(!owns_heap<int> && !owns_heap<Plain> && !owns_heap<Unknown>);
static_assert(!owns_heap<std::pair<int, Plain>>);
static_assert(owns_heap<std::string> && owns_heap<Nested> && owns_heap<Tree> && owns_heap<Picture>);
static_assert(owns_heap<std::pair<int, Nested>> && owns_heap<std::variant<int, Handle>>);
static_assert(owns_heap<std::unique_ptr<int>> && owns_heap<std::map<int, int>>);

/// Counts the allocations of the containers that use it.
template <class T>
struct Counting {
    using value_type = T;
    Counting() = default;
    template <class U>
    Counting(const Counting<U>&) {}  // NOLINT: allocators convert
    static inline std::size_t bytes = 0;
    T* allocate(std::size_t count) {
        bytes += count * sizeof(T);
        return std::allocator<T>{}.allocate(count);
    }
    void deallocate(T* pointer, std::size_t count) {
        bytes -= count * sizeof(T);
        std::allocator<T>{}.deallocate(pointer, count);
    }
    friend bool operator==(const Counting&, const Counting&) { return true; }
};
using Text = std::basic_string<char, std::char_traits<char>, Counting<char>>;
using Texts = std::vector<Text, Counting<Text>>;

TEST(HeapBytes, OfTextsAreWhatAnAllocatorCounts) {
    EXPECT_EQ(heap_bytes_of(Text("short")), 0U);
    for (const std::size_t size : {16U, 100U, 5000U}) {
        const Text text(size, 'x');
        // A string has allocated one character more than it has room for.
        EXPECT_EQ(heap_bytes_of(text) + 1, Counting<char>::bytes);
    }
    const Texts texts{Text(100, 'a'), Text(3, 'b'), Text(1000, 'c')};
    EXPECT_EQ(heap_bytes_of(texts) + 2, Counting<char>::bytes + Counting<Text>::bytes);
    EXPECT_EQ(heap_bytes_of(std::pair{1, std::optional{texts}}), heap_bytes_of(texts));
}

TEST(HeapBytes, OfWhatIsNestedAddUp) {
    const std::string big(1000, 'x');
    EXPECT_EQ(heap_bytes_of(Nested{{}, big, {}}), big.size());
    EXPECT_EQ(heap_bytes_of(Nested{{}, std::nullopt, {}}), 0U);
    const std::vector<Tree> two{{big, {}}, {"short", {}}};
    EXPECT_EQ(heap_bytes_of(Tree{big, two}), 2 * big.size() + 2 * sizeof(Tree));
    EXPECT_EQ(heap_bytes_of(std::variant<int, std::string>{big}), big.size());
    EXPECT_EQ(heap_bytes_of(std::variant<int, std::string>{1}), 0U);
    EXPECT_EQ(heap_bytes_of(std::array{big, big}), 2 * big.size());
    EXPECT_EQ(heap_bytes_of(std::make_unique<std::string>(big)), sizeof(std::string) + big.size());
    EXPECT_EQ(heap_bytes_of(std::deque<int>(10)), 10 * sizeof(int));
}

TEST(HeapBytes, AreWhatATypeReports) {
    EXPECT_EQ(heap_bytes_of(Picture{7}), 7U);
    EXPECT_EQ(heap_bytes_of(Handle{}), 9U);
    EXPECT_EQ(heap_bytes_of(std::tuple{Picture{7}, Handle{}, 1}), 16U);
}

}  // namespace
}  // namespace strid
