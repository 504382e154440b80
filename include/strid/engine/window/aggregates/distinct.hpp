// SPDX-License-Identifier: Apache-2.0
//
// The classes of the aggregates of different values (window/aggregates/distinct.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include <strid/base/hash.hpp>
#include <strid/engine/base/member_pointer.hpp>
#include <strid/engine/window/aggregates/field_types.hpp>
#include <strid/engine/window/aggregates/lifts_by_adding.hpp>
#include <strid/memory/recycling.hpp>
#include <strid/window/aggregates/hyper_log_log.hpp>

namespace strid::window {

namespace detail {

/// Text is looked up as the record has it, without a copy.
struct ValueHash {
    using is_avalanching = void;
    using is_transparent = void;
    template <class Value>
    [[nodiscard]] std::uint64_t operator()(const Value& value) const noexcept {
        return hash_of(value);
    }
};

/// A value as a set keeps it: a text that is looked up by what it is, whatever string it came in.
template <class Value>
struct KeptValue {
    using type = Value;
    [[nodiscard]] static const Value& seen(const Value& value) noexcept { return value; }
};
template <>
struct KeptValue<std::string> {
    using type = std::basic_string<char, std::char_traits<char>, memory::RecyclingAllocator<char>>;
    [[nodiscard]] static std::string_view seen(std::string_view text) noexcept { return text; }
};

}  // namespace detail

/// The number of different values, exactly. O(1) per record, O(values) per combination.
template <class Field, Hashable Value>
    requires(!detail::is_borrowed<Value>)
struct Distinct : LiftsByAdding<Distinct<Field, Value>> {
    using Kept = typename detail::KeptValue<Value>::type;
    using State = boost::unordered_flat_set<Kept, detail::ValueHash, std::equal_to<>,
                                            memory::RecyclingAllocator<Kept>>;
    static constexpr bool commutative = true;

    [[no_unique_address]] Field field;

    template <class T>
        requires std::invocable<const Field&, const T&>
    void add(State& state, const T& record) const {
        const auto& given = std::invoke(field, record);
        const auto& value = detail::KeptValue<Value>::seen(given);
        if (value == value && !state.contains(value)) state.emplace(value);
    }
    [[nodiscard]] State combine(const State& a, const State& b) const {
        const auto& [fewer, more] = a.size() < b.size() ? std::tie(a, b) : std::tie(b, a);
        const std::size_t size_max = a.size() + b.size();
        State both;
        // A copy of the table where that has room. Values come in the order of their hashes: a
        // table that had to grow on the way would have them all in one corner until then, at
        // several times the cost.
        if (more.max_load() >= size_max) both = more;
        both.reserve(size_max);
        if (both.empty()) both.insert(more.begin(), more.end());
        both.insert(fewer.begin(), fewer.end());
        return both;
    }
    [[nodiscard]] std::uint64_t lower(const State& state) const noexcept { return state.size(); }
};

/// The different values, as a std::vector in rising order. O(values log values) per result.
template <class Field, class Value>
struct DistinctValues : Distinct<Field, Value> {
    [[nodiscard]] std::vector<Value> lower(
        const typename Distinct<Field, Value>::State& state) const {
        std::vector<Value> values(state.begin(), state.end());
        std::sort(values.begin(), values.end());
        return values;
    }
};

/// The approximate number of different values: exact up to 2^precision / 8 of them, above that with
/// a relative standard error of 1.04 / sqrt(2^precision) (see HyperLogLog). O(1) per record,
/// O(2^precision) per combination and result.
template <class Field, unsigned precision>
struct DistinctApproximately : LiftsByAdding<DistinctApproximately<Field, precision>> {
    static_assert((refuse_member_pointer<Field>(), true));
    using State = HyperLogLog<precision>;
    static constexpr bool commutative = true;

    [[no_unique_address]] Field field;

    template <class T>
        requires std::invocable<const Field&, const T&>
    void add(State& state, const T& record) const {
        const auto& value = std::invoke(field, record);
        if (value == value) state.add(value);
    }
    [[nodiscard]] State combine(const State& a, const State& b) const {
        State both = a;
        both.merge(b);
        return both;
    }
    [[nodiscard]] std::uint64_t lower(const State& state) const {
        return static_cast<std::uint64_t>(std::llround(state.estimate()));
    }
};

}  // namespace strid::window
