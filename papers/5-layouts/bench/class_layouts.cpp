// SPDX-License-Identifier: Apache-2.0
//
// Paper 5, "Experiment with class size and member layout": the surface of the visible rectangles of
// a vector, by the size of the class and by the distance of its first member from the others. All
// cells visit as many rectangles.
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "tables.hpp"

namespace strid::bench {

namespace {

struct Point {
    std::int32_t x;
    std::int32_t y;
};

/// `place` makes different classes of two: members of one class have different addresses, even
/// where they are empty.
template <std::size_t size, int place>
struct Padding {
    std::array<std::int32_t, size> words;
};
template <int place>
struct Padding<0, place> {};

/// Words between the member that is read first and the others, and words behind them.
template <std::size_t between, std::size_t behind>
struct Rectangle {
    bool visible;
    [[no_unique_address]] Padding<between, 0> gap;
    Point from;
    Point to;
    [[no_unique_address]] Padding<behind, 1> rest;
};

struct Shape {
    bool visible;
    Point from;
    Point to;
};
/// As the paper's program draws them: half are visible.
Shape shape_of(std::size_t i) {
    const std::uint64_t number = mixed(i);
    return {number >> 63 != 0,
            {static_cast<std::int32_t>(number % 257), static_cast<std::int32_t>(number % 709)},
            {static_cast<std::int32_t>(number % 311), static_cast<std::int32_t>(number % 237)}};
}

template <class R>
[[gnu::noinline]] std::uint64_t visible_surface(const std::vector<R>& rectangles) {
    std::uint64_t sum = 0;
    for (const R& one : rectangles) {
        if (one.visible) {
            sum += static_cast<std::uint64_t>(std::abs(one.from.x - one.to.x)) *
                   static_cast<std::uint64_t>(std::abs(one.from.y - one.to.y));
        }
    }
    return sum;
}

template <std::size_t between, std::size_t behind>
void one_class(const TableOptions& options, const char* table, const std::string& row,
               std::size_t column, std::size_t count, std::uint64_t expected) {
    using R = Rectangle<between, behind>;
    std::vector<R> rectangles(count);
    for (std::size_t i = 0; i != count; ++i) {
        const Shape shape = shape_of(i);
        rectangles[i].visible = shape.visible;
        rectangles[i].from = shape.from;
        rectangles[i].to = shape.to;
    }
    measure(options, {table, row, std::to_string(column), count, count * sizeof(R)}, expected,
            [&] { return visible_surface(rectangles); });
}

/// A class of so many words, all padding behind its members.
template <std::size_t... words>
void by_size(const TableOptions& options, std::size_t count, std::uint64_t expected) {
    static_assert(((sizeof(Rectangle<0, words - 5>) == 4 * words) && ...));
    (one_class<0, words - 5>(options, "class_size", "visible", 4 * words, count, expected), ...);
}
/// A class of `words` words, so many of them in the gap.
template <std::size_t words, std::size_t... gaps>
void by_gap(const TableOptions& options, std::size_t count, std::uint64_t expected) {
    const std::string row = std::to_string(4 * words) + " bytes";
    (one_class<gaps, words - 5 - gaps>(options, "member_layout", row, 4 * gaps, count, expected),
     ...);
}

}  // namespace

void class_layouts(const TableOptions& options) {
    constexpr std::size_t largest_bytes = 512;
    // The smallest class has to be past the caches, the largest has to fit the memory.
    const std::size_t count =
        options.quick ? 20'000
                      : std::min(std::max<std::size_t>(4'000'000, options.elements(0, 20)),
                                 options.machine.memory_bytes / 4 / largest_bytes);
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i != count; ++i) {
        const Shape shape = shape_of(i);
        if (!shape.visible) continue;
        const std::int64_t width = shape.from.x - shape.to.x;
        const std::int64_t height = shape.from.y - shape.to.y;
        const std::int64_t surface = width * height;
        expected += static_cast<std::uint64_t>(surface < 0 ? -surface : surface);
    }
    by_size<5, 6, 8, 10, 12, 14, 16, 22, 30, 46, 62, 94, 126>(options, count, expected);
    by_gap<14, 0, 2, 4, 8>(options, count, expected);
    by_gap<30, 0, 4, 8, 16, 24>(options, count, expected);
    by_gap<62, 0, 4, 8, 16, 24, 32, 48>(options, count, expected);
    by_gap<126, 0, 4, 8, 16, 32, 64, 96>(options, count, expected);
}

}  // namespace strid::bench
