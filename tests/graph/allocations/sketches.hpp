// SPDX-License-Identifier: Apache-2.0
//
// Sketches and sets whose states have memory of their own, and the memory that tests of allocations
// lay in for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <strid/memory/recycling.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/distinct.hpp>
#include <strid/window/aggregates/in_order.hpp>
#include <strid/window/aggregates/quantile.hpp>
#include <strid/window/aggregates/together.hpp>

#include "allocations.hpp"

namespace strid::test {

using namespace std::chrono_literals;

inline constexpr std::uint64_t keys = 7;
inline const auto key_of = [](const std::uint64_t& n) { return n % keys; };
inline const auto value_of = [](const std::uint64_t& n) { return n * n % 1'009; };

inline const auto quantile = window::quantile(value_of, 0.99);
inline const auto distinct = window::distinct<std::uint64_t>(value_of);
/// Too long to lie in their strings.
inline const auto distinct_texts = window::distinct<std::uint64_t>([](const std::uint64_t& n) {
    constexpr std::string_view text =
        "a text that is longer than what a string has room for, by far";
    return text.substr(n * n % 17);
});
inline const auto about = window::distinct_approximately(value_of);
/// With so few registers a pane of ten records has them all.
inline const auto roughly = window::distinct_approximately<6>(value_of);
inline const auto all = window::any_order(window::together(quantile, distinct, about, roughly));

inline const auto of_counts = window::CountWindows::sliding(50, 10);
// Ten records of each key are one slide.
inline const auto of_time = window::TimeWindows::sliding(350ns, 70ns);
inline const WindowOptions of_three{.parallelism = 3};

/// Free pieces of every size that states here ask for, as many as may ever be needed at once. The
/// scheduler decides which worker has the pieces that it keeps, and how many states are on their
/// way to another thread, so a new maximum may come at any time. A state that takes memory from
/// elsewhere, or does not give it back, is found all the same.
class Stock {
  public:
    explicit Stock(std::size_t pieces_of_a_size) {
        memory::RecyclingAllocator<std::byte> allocator;
        std::vector<std::byte*> pieces(pieces_of_a_size);
        for (std::size_t i = 0; i <= memory::detail::size_class_index(4'096); ++i) {
            const std::size_t bytes = memory::detail::size_class_bytes(i);
            for (auto& piece : pieces) piece = allocator.allocate(bytes);
            for (auto* piece : pieces) allocator.deallocate(piece, bytes);
        }
    }

  private:
    memory::RecyclingScope scope_;
};

}  // namespace strid::test
