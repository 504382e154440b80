// SPDX-License-Identifier: Apache-2.0
//
// The types of the fields that aggregates are of, and of the records that have them.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/field.hpp>
#include <strid/engine/base/member_pointer.hpp>

namespace strid::window {

namespace detail {

template <class Field, class T>
struct FieldOf {
    static_assert((refuse_member_pointer<Field>(), true));
    using type = std::remove_cvref_t<std::invoke_result_t<const Field&, const T&>>;
};
template <class Field, class T>
using FieldType = typename FieldOf<Field, T>::type;

/// The type in which a state keeps the value of a field: text that lies in the record's batch is
/// copied.
template <class Value>
using OwnedType =
    std::conditional_t<std::is_convertible_v<const Value&, std::string_view>, std::string, Value>;
/// Whether it would still point into the batch: text in a pair or a tuple must be std::string.
template <class Value>
inline constexpr bool is_borrowed = std::is_same_v<Value, std::string_view>;
template <class... Parts>
inline constexpr bool is_borrowed<std::tuple<Parts...>> = (is_borrowed<Parts> || ...);
template <class First, class Second>
inline constexpr bool is_borrowed<std::pair<First, Second>> =
    is_borrowed<First> || is_borrowed<Second>;

/// The type that a sum of numbers is kept in: the widest of its kind. Integers wrap.
template <class Number>
using SumType = std::conditional_t<
    std::floating_point<Number>, double,
    std::conditional_t<std::signed_integral<Number>, std::int64_t, std::uint64_t>>;

/// The record that a member is one of, or that a function takes which is not a template.
template <class Field>
struct RecordNamed;
template <class F>
    requires requires { &F::operator(); }
struct RecordNamed<F> : RecordNamed<decltype(&F::operator())> {};
template <class R, class F, class T>
struct RecordNamed<R (F::*)(T) const> {
    using type = std::remove_cvref_t<T>;
};
template <class R, class F, class T>
struct RecordNamed<R (F::*)(T) const noexcept> {
    using type = std::remove_cvref_t<T>;
};
template <class R, class T>
struct RecordNamed<R (*)(T)> {
    using type = std::remove_cvref_t<T>;
};
template <class Member, class T>
struct RecordNamed<Member T::*> {
    using type = T;
};
template <auto Member>
struct RecordNamed<strid::Field<Member>> : RecordNamed<decltype(Member)> {};
template <class Field>
concept NamesRecord = requires { typename RecordNamed<Field>::type; };
template <NamesRecord Field>
using NamedRecord = typename RecordNamed<Field>::type;

}  // namespace detail

}  // namespace strid::window
