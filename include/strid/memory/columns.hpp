// SPDX-License-Identifier: Apache-2.0
//
// Records by columns: an array for each member in the place of an array of records (a struct of
// arrays). A loop over one member of many records then reads that member alone (paper 5, "data
// members that are used together should be kept together, everything else should be part of another
// class").
//
//     Columns<Quote> quotes;
//     quotes.push_back({.symbol = 7, .price = 101.5, .volume = 300});
//     for (const double price : quotes.column<&Quote::price>()) ...     // a std::span
//     quotes[0].get<&Quote::volume>() += 100;          // a row stands for a record
//     const Quote quote = quotes[0];
//
// A record is an aggregate of up to 20 members, without a base, a C array, a bit-field or a
// reference; its members may be move-only, and are moved without exceptions. Each column begins at
// a cache line. Where a loop uses all members of a record, or records are read in random order, an
// array of records is better: one line, not one for each member.
//
// Threads: one changes the columns; any number read them while none does.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/base/members.hpp>
#include <strid/engine/memory/member_index.hpp>
#include <strid/memory/row.hpp>
#include <strid/memory/table_allocator.hpp>

namespace strid::memory {

namespace detail {

/// The types of the columns of a record, and their places in a block of memory.
template <class List>
struct ColumnTypes;
template <class... Members>
struct ColumnTypes<strid::detail::MemberList<Members...>> {
    static_assert(!(std::is_array_v<Members> || ...), "a column is a std::array, not a C array");
    static_assert((std::is_nothrow_move_constructible_v<Members> && ...),
                  "members of columns are moved without exceptions");
    static constexpr std::size_t count = sizeof...(Members);
    static constexpr std::array<std::size_t, count> bytes{sizeof(Members)...};
    template <std::size_t index>
    using At = std::tuple_element_t<index, std::tuple<Members...>>;
};

/// Memory is asked for in these.
struct alignas(cache_line_bytes) ColumnLine {
    std::byte bytes[cache_line_bytes];
};

}  // namespace detail

/// Records by columns; see above. As std::vector where it has the same names: push_back() is
/// amortised O(1), erase() O(n), and an exception changes nothing.
template <class Record, class Allocator = TableAllocator<Record>>
class Columns {
    static_assert(strid::detail::has_members<Record>,
                  "a record of columns is an aggregate of up to 20 members, without a base");
    using Types = detail::ColumnTypes<strid::detail::MembersOf<Record>>;
    using Memory =
        typename std::allocator_traits<Allocator>::template rebind_traits<detail::ColumnLine>;
    using Lines = typename Memory::allocator_type;

  public:
    /// The type of the records.
    using value_type = Record;
    /// Of numbers of rows.
    using size_type = std::size_t;
    /// Of distances between rows.
    using difference_type = std::ptrdiff_t;
    /// Of the one block of all columns.
    using allocator_type = Allocator;
    /// A row that may be changed.
    using reference = Row<Record, Columns>;
    /// A row that is read.
    using const_reference = Row<Record, const Columns>;
    /// Over rows; random access.
    using iterator = detail::RowIterator<Record, Columns>;
    /// Over rows that are read.
    using const_iterator = detail::RowIterator<Record, const Columns>;
    /// How many columns.
    static constexpr std::size_t columns_count = Types::count;

    Columns()
        requires std::default_initializable<Allocator>
        : Columns(Allocator()) {}
    /// No rows; allocates nothing.
    explicit Columns(const Allocator& allocator) noexcept : lines_(allocator) {}
    /// Copies of records.
    explicit Columns(std::span<const Record> records, const Allocator& allocator = Allocator())
        : Columns(allocator) {
        append(records);
    }
    /// Copies of all records.
    Columns(const Columns& other)
        : Columns(other, Allocator(Memory::select_on_container_copy_construction(other.lines_))) {}
    /// The same in other memory.
    Columns(const Columns& other, const Allocator& allocator) : Columns(allocator) {
        reserve(other.size_);
        for (std::size_t i = 0; i != other.size_; ++i) push_back(other.record(i));
    }
    /// Takes the memory of the other, which is empty then.
    Columns(Columns&& other) noexcept : lines_(other.lines_) { exchange(other); }
    Columns& operator=(const Columns& other) {
        if (this != &other) {
            Columns copy(other, get_allocator());
            exchange(copy);
        }
        return *this;
    }
    /// Moves records where the allocators are not equal.
    Columns& operator=(Columns&& other) {
        if (this == &other) return *this;
        if (lines_ == other.lines_) {
            Columns moved(std::move(other));
            exchange(moved);
            return *this;
        }
        Columns moved(get_allocator());
        moved.reserve(other.size_);
        for (std::size_t i = 0; i != other.size_; ++i) moved.push_back(other.take(i));
        other.clear();
        exchange(moved);
        return *this;
    }
    ~Columns() {
        clear();
        give_back();
    }

    /// A copy.
    [[nodiscard]] Allocator get_allocator() const noexcept { return Allocator(lines_); }
    /// How many rows.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Whether there is no row.
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// Rows that there is memory for.
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    /// Of all columns, with room that is not used; without what members own.
    [[nodiscard]] std::size_t bytes() const noexcept {
        return lines_for(capacity_) * sizeof(detail::ColumnLine);
    }
    /// The same, for what a record or a state weighs (base/heap_bytes.hpp).
    [[nodiscard]] std::size_t heap_bytes() const noexcept { return bytes(); }

    /// All values of a member, in the order of the rows; from the beginning of a cache line on.
    /// Valid until the columns grow or shrink.
    template <auto member>
        requires std::is_member_object_pointer_v<decltype(member)>
    [[nodiscard]] auto column() noexcept {
        return column_at<detail::index_of<Record>(member)>();
    }
    /// The same to read.
    template <auto member>
        requires std::is_member_object_pointer_v<decltype(member)>
    [[nodiscard]] auto column() const noexcept {
        return column_at<detail::index_of<Record>(member)>();
    }
    /// The same by the number of the member, from 0 on.
    template <std::size_t index>
    [[nodiscard]] std::span<typename Types::template At<index>> column_at() noexcept {
        return {values<index>(), size_};
    }
    /// The same to read.
    template <std::size_t index>
    [[nodiscard]] std::span<const typename Types::template At<index>> column_at() const noexcept {
        return {values<index>(), size_};
    }

    /// The row at `index`, below size().
    [[nodiscard]] reference operator[](std::size_t index) noexcept { return {*this, index}; }
    /// The same to read.
    [[nodiscard]] const_reference operator[](std::size_t index) const noexcept {
        return {*this, index};
    }
    /// The row at `index`. Throws std::out_of_range.
    [[nodiscard]] reference at(std::size_t index) { return {*this, checked(index)}; }
    /// The same to read. Throws std::out_of_range.
    [[nodiscard]] const_reference at(std::size_t index) const { return {*this, checked(index)}; }
    /// The first row.
    [[nodiscard]] iterator begin() noexcept { return {*this, 0}; }
    /// Behind the last row.
    [[nodiscard]] iterator end() noexcept { return {*this, size_}; }
    /// The first row, to read.
    [[nodiscard]] const_iterator begin() const noexcept { return {*this, 0}; }
    /// Behind the last row.
    [[nodiscard]] const_iterator end() const noexcept { return {*this, size_}; }

    /// A copy of a record.
    [[nodiscard]] Record record(std::size_t index) const {
        STRID_ASSERT(index < size_);
        return each_index([&]<std::size_t... i>() { return Record{values<i>()[index]...}; });
    }
    /// Moves a record out; its members stay as a move leaves them.
    [[nodiscard]] Record take(std::size_t index) noexcept {
        STRID_ASSERT(index < size_);
        return each_index(
            [&]<std::size_t... i>() { return Record{std::move(values<i>()[index])...}; });
    }
    /// Moves a record into a row that is there.
    void assign(std::size_t index, Record&& record) noexcept {
        STRID_ASSERT(index < size_);
        with_members(record, [&]<std::size_t i>(auto& member) {
            std::destroy_at(values<i>() + index);
            std::construct_at(values<i>() + index, std::move(member));
        });
    }
    /// Copies of all records.
    [[nodiscard]] std::vector<Record> to_vector() const {
        std::vector<Record> records;
        records.reserve(size_);
        for (std::size_t i = 0; i != size_; ++i) records.push_back(record(i));
        return records;
    }

    /// Throws what the allocator throws, and the copy or move that makes the argument.
    void push_back(Record record) {
        if (size_ == capacity_) move_to(std::max<std::size_t>(2 * capacity_, 16));
        with_members(record, [&]<std::size_t i>(auto& member) {
            std::construct_at(values<i>() + size_, std::move(member));
        });
        ++size_;
    }
    /// A record of these members; its row. As push_back().
    template <class... Members>
    reference emplace_back(Members&&... members) {
        push_back(Record{std::forward<Members>(members)...});
        return (*this)[size_ - 1];
    }
    /// Copies of several. After an exception those before it are there.
    void append(std::span<const Record> records) {
        if (capacity_ - size_ < records.size()) {
            move_to(std::max(2 * capacity_, size_ + records.size()));
        }
        for (const Record& record : records) push_back(record);
    }
    /// Erases the last row.
    void pop_back() noexcept { erase(size_ - 1); }
    /// The rows behind it move up. O(n).
    void erase(std::size_t index) noexcept { erase(index, index + 1); }
    /// Rows from `first` to `last` - 1. O(n).
    void erase(std::size_t first, std::size_t last) noexcept {
        STRID_ASSERT(first <= last && last <= size_);
        each_column([&]<std::size_t i>() {
            auto* const all = values<i>();
            std::destroy(all + first, all + last);
            relocate_up(all + last, size_ - last, all + first);
        });
        size_ -= last - first;
    }
    /// The last row takes the place of this one: O(1), and another order.
    void erase_unordered(std::size_t index) noexcept {
        STRID_ASSERT(index < size_);
        if (index + 1 != size_) assign(index, take(size_ - 1));
        pop_back();
    }
    /// Keeps the memory.
    void clear() noexcept { erase(0, size_); }
    /// Memory for so many rows. Throws what the allocator throws.
    void reserve(std::size_t rows) {
        if (rows > capacity_) move_to(rows);
    }
    /// Gives memory that is not used back.
    void shrink_to_fit() {
        if (size_ != capacity_) move_to(size_);
    }

  private:
    template <class F>
    static decltype(auto) each_index(F&& f) {
        return [&]<std::size_t... i>(std::index_sequence<i...>) -> decltype(auto) {
            return f.template operator()<i...>();
        }(std::make_index_sequence<columns_count>{});
    }
    template <class F>
    static void each_column(F&& f) {
        each_index([&]<std::size_t... i>() { (f.template operator()<i>(), ...); });
    }
    template <class F>
    static void with_members(Record& record, F&& f) {
        strid::detail::visit_members(record, [&f](auto&... members) {
            each_index([&]<std::size_t... i>() { (f.template operator()<i>(members), ...); });
        });
    }
    template <std::size_t index>
    [[nodiscard]] auto* values() const noexcept {
        return reinterpret_cast<typename Types::template At<index>*>(places_[index]);
    }
    [[nodiscard]] std::size_t checked(std::size_t index) const {
        if (index >= size_) throw std::out_of_range("there is no such row");
        return index;
    }
    [[nodiscard]] static std::size_t lines_for(std::size_t rows) noexcept {
        std::size_t lines = 0;
        for (const std::size_t bytes : Types::bytes) {
            lines += (rows * bytes + cache_line_bytes - 1) / cache_line_bytes;
        }
        return lines;
    }
    template <class T>
    static void relocate_up(T* from, std::size_t count, T* to) noexcept {
        if constexpr (std::is_trivially_copyable_v<T>) {
            if (count != 0) std::memmove(static_cast<void*>(to), from, count * sizeof(T));
        } else if (from != to) {
            for (std::size_t i = 0; i != count; ++i) {
                std::construct_at(to + i, std::move(from[i]));
                std::destroy_at(from + i);
            }
        }
    }
    /// To a block for so many rows.
    void move_to(std::size_t rows) {
        static_assert(alignof(Record) <= cache_line_bytes, "a column begins at a cache line");
        if (rows > static_cast<std::size_t>(-1) / 2 / sizeof(Record)) {
            throw std::bad_array_new_length{};
        }
        detail::ColumnLine* block = rows == 0 ? nullptr : Memory::allocate(lines_, lines_for(rows));
        detail::ColumnLine* const begin = block;
        each_column([&]<std::size_t i>() {
            using Member = typename Types::template At<i>;
            relocate_up(values<i>(), size_, reinterpret_cast<Member*>(block));
            places_[i] = block;
            block += (rows * sizeof(Member) + cache_line_bytes - 1) / cache_line_bytes;
        });
        give_back();
        block_ = begin;
        capacity_ = rows;
    }
    void give_back() noexcept {
        if (block_ != nullptr) Memory::deallocate(lines_, block_, lines_for(capacity_));
        block_ = nullptr;
    }
    void exchange(Columns& other) noexcept {
        std::swap(block_, other.block_);
        std::swap(places_, other.places_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

    [[no_unique_address]] Lines lines_;
    detail::ColumnLine* block_ = nullptr;
    std::array<void*, Types::count> places_{};  // of each column in the block
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace strid::memory
