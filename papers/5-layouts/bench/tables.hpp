// SPDX-License-Identifier: Apache-2.0
//
// The tables of paper 5 that one program measures, a function each. A cell is a line of JSON: its
// table, row and column, how many elements were visited, the bytes of the data, and the seconds
// of its thread for every repetition. Each answer is compared with one that is computed without the
// data structure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "clocks.hpp"
#include "machine.hpp"

namespace strid::bench {

struct TableOptions {
    bool quick = false;
    std::size_t repeat = 3;
    Machine machine;

    /// How many elements: the paper's number, or more where `bytes_each` times that is less than
    /// four last-level caches; never more than a quarter of the memory holds. A thousandth of the
    /// paper's in quick mode.
    [[nodiscard]] std::size_t elements(std::size_t paper, std::size_t bytes_each) const {
        if (quick) return std::max<std::size_t>(paper / 1000, 1000);
        const std::size_t past_caches = 4 * machine.last_cache_bytes / bytes_each;
        return std::min(std::max(paper, past_caches), machine.memory_bytes / 4 / bytes_each);
    }
};

struct Cell {
    std::string table;
    std::string row;
    std::string column;
    std::size_t elements;  ///< Visited in one repetition.
    std::size_t bytes;     ///< Of the data structure; 0 where it is not known.
};

/// Runs `visit`, which gives its answer, as often as the options say, and prints the cell. Throws
/// where an answer is not `expected`. `now`: a clock of clocks.hpp. `prepare` is called before each
/// run and not measured.
template <class Visit, class Clock = decltype(&thread_seconds), class Prepare = decltype([] {})>
void measure(const TableOptions& options, const Cell& cell, std::uint64_t expected, Visit&& visit,
             Clock now = &thread_seconds, Prepare prepare = {}) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i != options.repeat; ++i) {
        prepare();
        asm volatile("" : : : "memory");  // no repetition is taken for the one before
        const double begin = now();
        const std::uint64_t answer = visit();
        asm volatile("" : : : "memory");
        seconds.push_back(now() - begin);
        if (answer != expected) {
            throw std::runtime_error(fmt::format("wrong answer of {}, {}, {}: {}, not {}",
                                                 cell.table, cell.row, cell.column, answer,
                                                 expected));
        }
    }
    fmt::print(
        "{{\"table\": \"{}\", \"row\": \"{}\", \"column\": \"{}\", \"elements\": {}, "
        "\"bytes\": {}, \"seconds\": [{:.9f}]}}\n",
        cell.table, cell.row, cell.column, cell.elements, cell.bytes, fmt::join(seconds, ", "));
    std::fflush(stdout);
}

/// Mixes a number (splitmix64, Steele, Lea, Flood: public domain): what data and queries are made
/// of, so that every answer is known without them.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t number) noexcept {
    number += 0x9e3779b97f4a7c15;
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
    number = (number ^ number >> 27) * 0x94d049bb133111eb;
    return number ^ number >> 31;
}
/// A number below `limit` that depends on `number` alone.
[[nodiscard]] constexpr std::uint64_t mixed_below(std::uint64_t number,
                                                  std::uint64_t limit) noexcept {
    return (mixed(number) >> 32) * limit >> 32;
}

void access_patterns(const TableOptions& options);  ///< Sequential, strided, random; the stride.
void class_layouts(const TableOptions& options);    ///< Size of the class, place of its members.
void object_pointers(const TableOptions& options);  ///< Vectors of pointers and of values.
void tree_layouts(const TableOptions& options);     ///< Order of nodes by allocator; offsets.
void hash_sets(const TableOptions& options);        ///< Small, medium and large.
void changing_trees(const TableOptions& options);   ///< Ordered sets that change.
void hot_members(const TableOptions& options);      ///< Records, columns, hot members apart.
void minimum_maximum(const TableOptions& options);  ///< In two loops or in one.

}  // namespace strid::bench
