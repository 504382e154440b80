// SPDX-License-Identifier: Apache-2.0
//
// A row of columns (columns.hpp) and the iterator over rows. Values that refer to the columns;
// threads: those of the columns.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <utility>

namespace strid::memory {

/// A row of columns, in the place of a reference to a record: assigned to, it changes the columns;
/// it converts to a record. Valid until the columns grow or shrink.
template <class Record, class Owner>
class Row {
  public:
    /// The row at `index` of `owner`.
    Row(Owner& owner, std::size_t index) noexcept : owner_(&owner), index_(index) {}
    /// Another row stands for another place: see operator= for its content.
    Row(const Row&) = default;

    /// A member of the record, by reference.
    template <auto member>
    [[nodiscard]] auto& get() const noexcept {
        return owner_->template column<member>()[index_];
    }
    /// A copy of the record.
    operator Record() const  // NOLINT: implicit by intent, as of a reference
        requires std::copy_constructible<Record>
    {
        return owner_->record(index_);
    }
    /// Moves the record out; its members stay as a move leaves them.
    [[nodiscard]] Record take() const noexcept { return owner_->take(index_); }

    /// Changes the record, not the place.
    const Row& operator=(Record record) const noexcept {
        owner_->assign(index_, std::move(record));
        return *this;
    }
    Row& operator=(const Row& other) {
        *this = static_cast<Record>(other);
        return *this;
    }
    friend void swap(const Row& one, const Row& other) noexcept {
        Record held = one.take();
        one = other.take();
        other = std::move(held);
    }

  private:
    Owner* owner_;
    std::size_t index_;
};

namespace detail {

/// Random access; yields rows. Algorithms of std::ranges take it, sort() among them.
template <class Record, class Owner>
class RowIterator {
  public:
    using value_type = Record;
    using reference = Row<Record, Owner>;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::input_iterator_tag;

    RowIterator() = default;
    RowIterator(Owner& owner, std::size_t index) noexcept : owner_(&owner), index_(index) {}
    [[nodiscard]] reference operator*() const noexcept { return {*owner_, index_}; }
    [[nodiscard]] reference operator[](difference_type by) const noexcept { return *(*this + by); }
    RowIterator& operator+=(difference_type by) noexcept {
        index_ += static_cast<std::size_t>(by);
        return *this;
    }
    RowIterator& operator-=(difference_type by) noexcept { return *this += -by; }
    RowIterator& operator++() noexcept { return *this += 1; }
    RowIterator& operator--() noexcept { return *this += -1; }
    RowIterator operator++(int) noexcept { return std::exchange(*this, *this + 1); }
    RowIterator operator--(int) noexcept { return std::exchange(*this, *this - 1); }
    friend RowIterator operator+(RowIterator at, difference_type by) noexcept { return at += by; }
    friend RowIterator operator+(difference_type by, RowIterator at) noexcept { return at += by; }
    friend RowIterator operator-(RowIterator at, difference_type by) noexcept { return at -= by; }
    friend difference_type operator-(const RowIterator& one, const RowIterator& other) noexcept {
        return static_cast<difference_type>(one.index_) -
               static_cast<difference_type>(other.index_);
    }
    friend bool operator==(const RowIterator& one, const RowIterator& other) noexcept {
        return one.index_ == other.index_;
    }
    friend auto operator<=>(const RowIterator& one, const RowIterator& other) noexcept {
        return one.index_ <=> other.index_;
    }
    friend Record iter_move(const RowIterator& at) noexcept { return (*at).take(); }
    friend void iter_swap(const RowIterator& one, const RowIterator& other) noexcept {
        swap(*one, *other);
    }

  private:
    Owner* owner_ = nullptr;
    std::size_t index_ = 0;
};

}  // namespace detail

}  // namespace strid::memory
