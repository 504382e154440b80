// SPDX-License-Identifier: Apache-2.0
//
// Paper 5, "move rarely used members out of the hot class": the surface of the visible rectangles
// of class_layouts.cpp in records of 128 bytes, by records, by columns (Columns), and with the
// members that the loop reads apart from the others. In order, and of rows in random order.
#include <array>
#include <cstdlib>
#include <vector>

#include <strid/memory/columns.hpp>

#include "tables.hpp"

namespace strid::bench {

namespace {

struct HotShape {
    bool visible;
    std::int32_t left, top, right, bottom;
};
struct WholeShape {
    bool visible;
    std::int32_t left, top, right, bottom;
    std::array<std::int32_t, 27> others;
};
static_assert(sizeof(WholeShape) == 128);

WholeShape whole_shape_of(std::size_t i) {
    const std::uint64_t number = mixed(i);
    const auto below = [number](std::uint64_t limit) {
        return static_cast<std::int32_t>(number % limit);
    };
    return {number >> 63 != 0, below(257), below(709), below(311), below(237), {}};
}
std::uint64_t surface_of(bool visible, std::int32_t left, std::int32_t top, std::int32_t right,
                         std::int32_t bottom) {
    if (!visible) return 0;
    return static_cast<std::uint64_t>(std::abs(left - right)) *
           static_cast<std::uint64_t>(std::abs(top - bottom));
}

/// `row(i)`: which row is the i-th.
template <class Shape, class RowOf>
[[gnu::noinline]] std::uint64_t surfaces_of_records(const std::vector<Shape>& shapes, RowOf row) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i != shapes.size(); ++i) {
        const Shape& one = shapes[row(i)];
        sum += surface_of(one.visible, one.left, one.top, one.right, one.bottom);
    }
    return sum;
}
template <class RowOf>
[[gnu::noinline]] std::uint64_t surfaces_of_columns(const memory::Columns<WholeShape>& shapes,
                                                    RowOf row) {
    const auto visible = shapes.column<&WholeShape::visible>();
    const auto left = shapes.column<&WholeShape::left>();
    const auto top = shapes.column<&WholeShape::top>();
    const auto right = shapes.column<&WholeShape::right>();
    const auto bottom = shapes.column<&WholeShape::bottom>();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i != shapes.size(); ++i) {
        const std::size_t at = row(i);
        sum += surface_of(visible[at], left[at], top[at], right[at], bottom[at]);
    }
    return sum;
}

}  // namespace

void hot_members(const TableOptions& options) {
    const std::size_t count = options.quick
                                  ? 10'000
                                  : std::min(options.elements(2'000'000, 20),
                                             options.machine.memory_bytes / 8 / sizeof(WholeShape));
    std::uint64_t expected = 0;
    std::uint64_t expected_anywhere = 0;
    std::vector<std::uint32_t> anywhere(count);
    for (std::size_t i = 0; i != count; ++i) {
        anywhere[i] = static_cast<std::uint32_t>(mixed_below(i, count));
        for (const bool is_random : {false, true}) {
            const WholeShape one = whole_shape_of(is_random ? anywhere[i] : i);
            (is_random ? expected_anywhere : expected) +=
                surface_of(one.visible, one.left, one.top, one.right, one.bottom);
        }
    }
    const auto in_order = [](std::size_t i) { return i; };
    const auto at_random = [&anywhere](std::size_t i) { return std::size_t{anywhere[i]}; };
    const auto both = [&](const char* row, const auto& surfaces) {
        measure(options, {"hot_members", row, "in order", count, 0}, expected,
                [&] { return surfaces(in_order); });
        measure(options, {"hot_members", row, "at random", count, 0}, expected_anywhere,
                [&] { return surfaces(at_random); });
    };
    {
        std::vector<WholeShape> whole(count);
        for (std::size_t i = 0; i != count; ++i) whole[i] = whole_shape_of(i);
        both("records", [&](auto row) { return surfaces_of_records(whole, row); });
    }
    {
        std::vector<HotShape> hot;
        hot.reserve(count);
        for (std::size_t i = 0; i != count; ++i) {
            const WholeShape one = whole_shape_of(i);
            hot.push_back({one.visible, one.left, one.top, one.right, one.bottom});
        }
        both("hot members apart", [&](auto row) { return surfaces_of_records(hot, row); });
    }
    memory::Columns<WholeShape> columns;
    columns.reserve(count);
    for (std::size_t i = 0; i != count; ++i) columns.push_back(whole_shape_of(i));
    both("columns", [&](auto row) { return surfaces_of_columns(columns, row); });
}

}  // namespace strid::bench
