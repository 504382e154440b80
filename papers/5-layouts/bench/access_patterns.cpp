// SPDX-License-Identifier: Apache-2.0
//
// Paper 5, "Cache memories: prefetcher" and "cache line": the sum of an array of integers that are
// visited through an array of indices, as in the paper's program, so that the loop is the same for
// every order. With stride s the array is gone through s times, from its first s elements on.
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tables.hpp"

namespace strid::bench {

namespace {

using Indices = std::vector<std::uint32_t>;

std::uint32_t element(std::size_t i) {
    return static_cast<std::uint32_t>(mixed(i) >> 48);
}

[[gnu::noinline]] std::uint64_t sum_of(const std::vector<std::uint32_t>& elements,
                                       const Indices& order) {
    std::uint64_t sum = 0;
    for (const std::uint32_t index : order) sum += elements[index];
    return sum;
}

void fill_strided(Indices& order, std::size_t stride) {
    std::size_t at = 0;
    for (std::size_t first = 0; first != stride; ++first) {
        for (std::size_t i = first; i < order.size(); i += stride) {
            order[at++] = static_cast<std::uint32_t>(i);
        }
    }
}

}  // namespace

void access_patterns(const TableOptions& options) {
    // An element and its index.
    const std::size_t count = std::min<std::size_t>(
        options.elements(100'000'000, 2 * sizeof(std::uint32_t)), std::size_t{1} << 31);
    std::vector<std::uint32_t> elements(count);
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i != count; ++i) {
        elements[i] = element(i);
        expected += element(i);
    }
    Indices order(count);
    const auto run = [&](const char* table, const std::string& column) {
        measure(options, {table, "sum", column, count, count * sizeof(std::uint32_t)}, expected,
                [&] { return sum_of(elements, order); });
    };
    for (const std::size_t stride : {1U, 2U, 3U, 4U, 8U, 16U, 32U}) {
        fill_strided(order, stride);
        if (stride == 1) run("access", "sequential");
        if (stride == 16) run("access", "strided");
        run("stride", std::to_string(stride));
    }
    std::iota(order.begin(), order.end(), 0);
    std::mt19937_64 generator{5};
    for (std::size_t i = count - 1; i != 0; --i) std::swap(order[i], order[generator() % (i + 1)]);
    run("access", "random");
}

}  // namespace strid::bench
