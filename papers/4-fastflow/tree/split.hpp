// SPDX-License-Identifier: Apache-2.0
//
// The gain of a test of one attribute at a node, as C4.5 release 8 computes it (Quinlan, C4.5,
// 1993, chapter 2; Quinlan, Improved use of continuous attributes in C4.5, 1996). Pure functions of
// the cases; a Scratch is for one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "training.hpp"

namespace strid::tree {

/// The training cases at a node, by row. An item is the place of a case in these vectors.
struct Cases {
    std::vector<std::uint32_t> rows = {};
    std::vector<ClassCode> classes = {};
    std::vector<double> weights = {};            // empty: all are 1
    std::vector<std::uint32_t> attributes = {};  // that may still be tested
    /// By place in `attributes`: the items whose number is known in the order of the numbers; empty
    /// for a categorical attribute.
    std::vector<std::span<const Entry>> orders = {};
    std::unique_ptr<Entry[]> entries = {};  // what `orders` shows, but for a root: one allocation

    [[nodiscard]] std::size_t size() const noexcept { return rows.size(); }
    [[nodiscard]] bool is_weighted() const noexcept { return !weights.empty(); }
};

/// A test that an attribute offers.
struct Candidate {
    bool is_possible = false;
    bool is_constant = false;  // all cases whose value is known have one
    double gain = 0;
    double split_info = 0;
    std::uint32_t code = 0;       // numeric: the greatest on the lower side
    std::uint32_t next_code = 0;  // and the least on the upper one
};

/// Memory that is used again from one attribute to the next.
struct Scratch {
    std::vector<std::uint32_t> counts = {};
    std::vector<double> weights = {};
    std::vector<std::uint64_t> items = {};
};

/// `total` is the weight of all cases.
[[nodiscard]] Candidate evaluate(const Training& training, const Cases& cases, double total,
                                 std::size_t place, Scratch& scratch);

}  // namespace strid::tree
