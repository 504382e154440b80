// SPDX-License-Identifier: Apache-2.0
//
// The states of aggregates. Each is that of no row when all its bytes are zero, takes a value by
// add(), another state by combine(), and has its value by value(). Those that own memory have
// release(), save() and load(). Threads: one at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include <strid/state/codec.hpp>

#include "aggregates.hpp"
#include "decimal.hpp"
#include "key_rows.hpp"

namespace strid::table::aggregate {

__extension__ using Wide = __int128;

template <class T>
std::uint64_t word(T value) noexcept {
    if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<std::uint64_t>(value);
    } else {
        return static_cast<std::uint64_t>(value);
    }
}

inline AggregateValue float_value(double value) noexcept {
    return {.word = word(value)};
}

struct Rows {
    using Value = void;
    static constexpr bool is_timed = false;

    void combine(const Rows& from) noexcept { count += from.count; }
    [[nodiscard]] AggregateValue value(Type /*type*/, double /*fraction*/) const noexcept {
        return {.word = count};
    }

    std::uint64_t count;
};

template <class T>
struct Values : Rows {
    using Value = T;

    void add(const T& /*value*/) noexcept { ++count; }
};

/// Exact, in 128 bits.
struct WholeSum {
    using Value = std::int64_t;
    static constexpr bool is_timed = false;

    void add(std::int64_t value) noexcept {
        const bool carry = __builtin_add_overflow(low, static_cast<std::uint64_t>(value), &low);
        high += (value >> 63) + static_cast<std::int64_t>(carry);
        ++count;
    }
    void combine(const WholeSum& from) noexcept {
        const bool carry = __builtin_add_overflow(low, from.low, &low);
        high += from.high + static_cast<std::int64_t>(carry);
        count += from.count;
    }
    [[nodiscard]] Wide sum() const noexcept {
        return static_cast<Wide>(static_cast<unsigned __int128>(high) << 64 | low);
    }
    [[nodiscard]] AggregateValue of(Wide value) const noexcept {
        const auto whole = static_cast<std::int64_t>(value);
        return {.is_null = count == 0, .is_beyond = whole != value, .word = word(whole)};
    }
    [[nodiscard]] AggregateValue value(Type /*type*/, double /*fraction*/) const noexcept {
        return of(sum());
    }

    std::uint64_t low;
    std::int64_t high;
    std::uint64_t count;
};

struct WholeMean : WholeSum {
    void combine(const WholeMean& from) noexcept { WholeSum::combine(from); }
    [[nodiscard]] AggregateValue value(Type type, double /*fraction*/) const noexcept {
        if (count == 0) return {.is_null = true};
        if (type.kind == Kind::interval) return of(sum() / static_cast<Wide>(count));
        const double units = static_cast<double>(powers_of_ten[type.scale]);
        return float_value(static_cast<double>(sum()) / (units * static_cast<double>(count)));
    }
};

struct FloatSum {
    using Value = double;
    static constexpr bool is_timed = false;

    void add(double value) noexcept {
        sum += value;
        ++count;
    }
    void combine(const FloatSum& from) noexcept {
        sum += from.sum;
        count += from.count;
    }
    [[nodiscard]] AggregateValue value(Type /*type*/, double /*fraction*/) const noexcept {
        return {.is_null = count == 0, .word = word(sum)};
    }

    double sum;
    std::uint64_t count;
};

struct FloatMean : FloatSum {
    void combine(const FloatMean& from) noexcept { FloatSum::combine(from); }
    [[nodiscard]] AggregateValue value(Type /*type*/, double /*fraction*/) const noexcept {
        if (count == 0) return {.is_null = true};
        return float_value(sum / static_cast<double>(count));
    }
};

/// The value that a state keeps.
template <class T>
struct Kept {
    static constexpr bool owns = false;

    [[nodiscard]] T get() const noexcept { return static_cast<T>(kept); }
    void set(const T& value) noexcept { kept = value; }
    void put(AggregateValue& to) const noexcept { to.word = word(kept); }

    std::conditional_t<std::is_same_v<T, double>, double, std::int64_t> kept;
};
template <>
struct Kept<std::string_view> {
    static constexpr bool owns = true;

    [[nodiscard]] std::string_view get() const noexcept { return text.text(); }
    void set(std::string_view value) {
        const TextWords copy = TextWords::owned(value);
        text.release();
        text = copy;
    }
    void put(AggregateValue& to) const noexcept { to.text = text.text(); }
    void release() noexcept { text.release(); }
    void save(StateWriter& writer) const { writer.text(text.text()); }
    void load(StateReader& reader) { text = TextWords::owned(reader.text()); }

    TextWords text;
};

template <class T, bool is_max>
struct Extreme {
    using Value = T;
    static constexpr bool is_timed = false;

    void add(const T& value) {
        if (has != 0) {
            const T& mine = kept.get();
            bool replaces = is_max ? mine < value : value < mine;
            if constexpr (std::is_same_v<T, double>) replaces = replaces || mine != mine;
            if (!replaces) return;
        }
        has = 1;
        kept.set(value);
    }
    void combine(const Extreme& from) {
        if (from.has != 0) add(from.kept.get());
    }
    [[nodiscard]] AggregateValue value(Type /*type*/, double /*fraction*/) const noexcept {
        AggregateValue found{.is_null = has == 0};
        kept.put(found);
        return found;
    }

    std::uint64_t has;
    Kept<T> kept;
};

template <class T, bool is_last>
struct ByTime {
    using Value = T;
    static constexpr bool is_timed = true;

    void add(const T& value, std::int64_t when) {
        if (has != 0 && (is_last ? when < time : when >= time)) return;
        has = 1;
        time = when;
        kept.set(value);
    }
    void combine(const ByTime& from) {
        if (from.has != 0) add(from.kept.get(), from.time);
    }
    [[nodiscard]] AggregateValue value(Type /*type*/, double /*fraction*/) const noexcept {
        AggregateValue found{.is_null = has == 0};
        kept.put(found);
        return found;
    }

    std::uint64_t has;
    std::int64_t time;
    Kept<T> kept;
};

/// A state that has what it owns behind a pointer.
template <class Owned>
struct Owner {
    static constexpr bool is_timed = false;

    Owned& own() {
        if (owned == nullptr) owned = std::make_unique<Owned>().release();
        return *owned;
    }
    void combine(const Owner& from) {
        if (from.owned == nullptr) return;
        own().insert(*from.owned);
    }
    void release() noexcept {
        const std::unique_ptr<Owned> freed(owned);
        owned = nullptr;
    }
    void save(StateWriter& writer) const {
        const Owned none{};
        state::save(writer, owned == nullptr ? none.values : owned->values);
    }
    void load(StateReader& reader) {
        if (reader.left() < sizeof(std::uint64_t)) reader.refuse("is cut");
        state::load(reader, own().values);
    }

    Owned* owned;
};

template <class T>
struct Set {
    using Element = std::conditional_t<std::is_same_v<T, std::string_view>, std::string, T>;

    void insert(const Set& other) { values.insert(other.values.begin(), other.values.end()); }

    std::unordered_set<Element> values;
};

template <class T>
struct Distinct : Owner<Set<T>> {
    using Value = T;

    void add(const T& value) { this->own().values.emplace(value); }
    [[nodiscard]] AggregateValue value(Type /*type*/, double /*fraction*/) const noexcept {
        return {.word = this->owned == nullptr ? 0 : this->owned->values.size()};
    }
};
// NaNs are equal as bits only.
template <>
struct Distinct<double> : Owner<Set<std::uint64_t>> {
    using Value = double;

    void add(double value) { own().values.insert(word_of(value)); }
    [[nodiscard]] AggregateValue value(Type /*type*/, double /*fraction*/) const noexcept {
        return {.word = owned == nullptr ? 0 : owned->values.size()};
    }
};

template <class T>
struct List {
    void insert(const List& other) {
        values.insert(values.end(), other.values.begin(), other.values.end());
    }

    std::vector<T> values;
};

template <class T>
struct Quantile : Owner<List<T>> {
    using Value = T;

    void add(const T& value) {
        if (value == value) this->own().values.push_back(value);
    }
    [[nodiscard]] AggregateValue value(Type type, double fraction) const {
        if (this->owned == nullptr || this->owned->values.empty()) return {.is_null = true};
        // The order of the values means nothing.
        auto& values = this->owned->values;
        const double place = fraction * static_cast<double>(values.size() - 1);
        const auto below = static_cast<std::ptrdiff_t>(place);
        std::nth_element(values.begin(), values.begin() + below, values.end());
        const double units = static_cast<double>(powers_of_ten[type.scale]);
        const double low = static_cast<double>(values[static_cast<std::size_t>(below)]) / units;
        const double part = place - static_cast<double>(below);
        if (part == 0) return float_value(low);
        const auto next = std::min_element(values.begin() + below + 1, values.end());
        const double high = static_cast<double>(*next) / units;
        if (high == low) return float_value(low);  // infinite, perhaps
        return float_value(low + (high - low) * part);
    }
};

}  // namespace strid::table::aggregate
