// SPDX-License-Identifier: Apache-2.0
//
// The result of window::top_k and window::bottom_k.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include <strid/engine/base/assert.hpp>
#include <strid/state/codec.hpp>

namespace strid::window {

/// A value in the list. If nothing else of the record is kept, `item` is std::monostate.
template <class Value, class Item>
struct Ranked {
    Value value{};                      ///< The value by which the record was ranked.
    [[no_unique_address]] Item item{};  ///< The part of its record that is kept.
    friend bool operator==(const Ranked&, const Ranked&) = default;
};

/// Up to k elements in place, in the order of their rank: the first is the largest of `top_k`, the
/// smallest of `bottom_k`. A window with fewer values has a shorter list.
template <class Element, std::size_t k>
class TopList {
  public:
    /// For generic code.
    using value_type = Element;

    /// How many there are, at most k.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Whether the list is empty.
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// The first in rank.
    [[nodiscard]] const Element* begin() const noexcept { return elements_.data(); }
    /// Behind the last.
    [[nodiscard]] const Element* end() const noexcept { return elements_.data() + size_; }
    /// The element at `rank`, from 0, below size().
    [[nodiscard]] const Element& operator[](std::size_t rank) const noexcept {
        STRID_ASSERT(rank < size_);
        return elements_[rank];
    }

    /// Puts an element before the one at `rank`, which may be size(); of a full list the last one
    /// makes room. `rank` < k.
    void insert(std::size_t rank, Element element) {
        STRID_ASSERT(rank <= size_ && rank < k);
        if (size_ < k) ++size_;
        Element* const first = elements_.data();
        std::move_backward(first + rank, first + size_ - 1, first + size_);
        elements_[rank] = std::move(element);
    }

    friend bool operator==(const TopList& a, const TopList& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

    /// As strid/state/codec.hpp says.
    void save(StateWriter& writer) const
        requires(state::has_codec<Element>())
    {
        writer.length(size_);
        for (std::size_t i = 0; i != size_; ++i) state::save(writer, elements_[i]);
    }
    /// Throws StateError.
    void load(StateReader& reader)
        requires(state::has_codec<Element>())
    {
        size_ = reader.choice(k + 1);
        for (std::size_t i = 0; i != size_; ++i) state::load(reader, elements_[i]);
    }

  private:
    std::array<Element, k> elements_{};
    std::size_t size_ = 0;
};

}  // namespace strid::window
