// SPDX-License-Identifier: Apache-2.0
//
// The common aggregates. Each is of a member of the record, `sum<&Quote::volume>()`, or of a
// function of it, `sum(spread)`, with the record's type where that is a template:
// `sum<Quote>(any)`. A pointer to a member will do too (slower, base/field.hpp says why). They are
// values without state of their own; the state is what a window holds. A window without records
// gives 0 for counts and sums, and not a number, or the type's own zero, for a mean, a variance, a
// minimum and a maximum.
//
// NaN: a sum, a mean and a variance that a NaN entered are NaN for as long as it is in the window;
// a minimum and a maximum pass over it, as quantiles do (window/aggregates/quantile.hpp), and are
// NaN only where nothing else is there.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/base/field.hpp>
#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/aggregates/moments.hpp>

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
using RecordOf = typename RecordNamed<Field>::type;

}  // namespace detail

/// The number of records.
struct Count {
    using State = std::uint64_t;
    static constexpr bool commutative = true;

    template <class T>
    [[nodiscard]] State lift(const T&) const noexcept {
        return 1;
    }
    [[nodiscard]] State identity() const noexcept { return 0; }
    [[nodiscard]] State combine(const State& a, const State& b) const noexcept { return a + b; }
    [[nodiscard]] State without(const State& a, const State& b) const noexcept { return a - b; }
    [[nodiscard]] std::uint64_t lower(const State& state) const noexcept { return state; }
};

/// The sum of a field of type `Number`, as std::int64_t, std::uint64_t or double.
template <class Field, class Number>
struct Sum {
    using State = detail::SumType<Number>;
    static constexpr bool commutative = std::integral<State>;

    [[no_unique_address]] Field field;

    template <class T>
        requires std::invocable<const Field&, const T&>
    [[nodiscard]] State lift(const T& record) const {
        return static_cast<State>(std::invoke(field, record));
    }
    [[nodiscard]] State identity() const noexcept { return 0; }
    [[nodiscard]] State combine(const State& a, const State& b) const noexcept { return add(a, b); }
    /// Of integers only: a rounded sum cannot be taken back.
    [[nodiscard]] State without(const State& a, const State& b) const noexcept
        requires std::integral<State>
    {
        return add(a, static_cast<State>(0 - static_cast<std::uint64_t>(b)));
    }
    [[nodiscard]] State lower(const State& state) const noexcept { return state; }

  private:
    // Signed sums wrap as unsigned ones do: overflow is a wrong sum, not undefined behaviour.
    [[nodiscard]] static State add(State a, State b) noexcept {
        if constexpr (std::integral<State>) {
            return static_cast<State>(static_cast<std::uint64_t>(a) +
                                      static_cast<std::uint64_t>(b));
        } else {
            return a + b;
        }
    }
};

/// A sum of integers that has room for 2^63 of them.
class WideSum {
  public:
    WideSum() = default;
    template <std::integral Number>
    explicit WideSum(Number number) noexcept : WideSum(static_cast<Wide>(number)) {}

    [[nodiscard]] friend WideSum operator+(const WideSum& a, const WideSum& b) noexcept {
        return WideSum(a.value() + b.value());
    }
    [[nodiscard]] friend WideSum operator-(const WideSum& a, const WideSum& b) noexcept {
        return WideSum(a.value() - b.value());
    }
    [[nodiscard]] explicit operator double() const noexcept { return static_cast<double>(value()); }
    friend bool operator==(const WideSum&, const WideSum&) = default;

  private:
    __extension__ using Wide = __int128;
    explicit WideSum(Wide value) noexcept
        : low_(static_cast<std::uint64_t>(value)), high_(static_cast<std::int64_t>(value >> 64)) {}
    [[nodiscard]] Wide value() const noexcept {
        return static_cast<Wide>(high_) * (static_cast<Wide>(1) << 64) + low_;
    }

    std::uint64_t low_ = 0;  // in halves: a state is no larger for its alignment
    std::int64_t high_ = 0;
};

/// The arithmetic mean of a field of integers, as a double: the sum is exact, so that the order of
/// its parts does not matter.
template <class Field>
struct IntegerMean {
    struct State {
        WideSum sum;
        std::uint64_t count = 0;
        friend bool operator==(const State&, const State&) = default;
    };
    static constexpr bool commutative = true;

    [[no_unique_address]] Field field;

    template <class T>
        requires std::integral<detail::FieldType<Field, T>>
    [[nodiscard]] State lift(const T& record) const {
        return {WideSum(std::invoke(field, record)), 1};
    }
    [[nodiscard]] State identity() const noexcept { return {}; }
    [[nodiscard]] State combine(const State& a, const State& b) const noexcept {
        return {a.sum + b.sum, a.count + b.count};
    }
    [[nodiscard]] State without(const State& a, const State& b) const noexcept {
        return {a.sum - b.sum, a.count - b.count};
    }
    [[nodiscard]] double lower(const State& state) const noexcept {
        return state.count == 0 ? std::numeric_limits<double>::quiet_NaN()
                                : static_cast<double>(state.sum) / static_cast<double>(state.count);
    }
};

/// The arithmetic mean of a field, as a double, also where the sum would be beyond the largest one.
template <class Field>
struct Mean {
    using State = MeanParts;

    [[no_unique_address]] Field field;

    template <class T>
        requires std::invocable<const Field&, const T&>
    [[nodiscard]] State lift(const T& record) const {
        return State(static_cast<double>(std::invoke(field, record)));
    }
    [[nodiscard]] State identity() const noexcept { return {}; }
    [[nodiscard]] State combine(State a, const State& b) const noexcept {
        a.add(b);
        return a;
    }
    [[nodiscard]] double lower(const State& state) const noexcept { return state.mean(); }
};

/// The sample variance of a field (the sum of squared distances from the mean over count - 1), as a
/// double; not a number for fewer than two records, infinite where it is beyond the largest double.
/// It neither cancels where the mean is large nor overflows on the way
/// (window/aggregates/moments.hpp).
template <class Field>
struct Variance {
    static_assert((refuse_member_pointer<Field>(), true));
    using State = Moments;

    [[no_unique_address]] Field field;

    template <class T>
        requires std::invocable<const Field&, const T&>
    [[nodiscard]] State lift(const T& record) const {
        return State(static_cast<double>(std::invoke(field, record)));
    }
    [[nodiscard]] State identity() const noexcept { return {}; }
    [[nodiscard]] State combine(State a, const State& b) const noexcept {
        a.add(b);
        return a;
    }
    [[nodiscard]] double lower(const State& state) const noexcept { return state.variance(); }
};

/// The standard deviation of a field: the root of its sample variance, also where that is not
/// representable.
template <class Field>
struct StandardDeviation : Variance<Field> {
    [[nodiscard]] double lower(const Moments& state) const noexcept { return state.deviation(); }
};

/// The smallest or largest value of a field of type `Number`; of equal values the newer one.
/// `Before` is std::less for a minimum, std::greater for a maximum.
template <class Field, class Number, class Before>
struct Extreme {
    struct State {
        Number value{};  ///< zero where no value is present
        bool present = false;
        friend bool operator==(const State&, const State&) = default;
    };
    static constexpr bool commutative = true;

    [[no_unique_address]] Field field;

    template <class T>
        requires std::invocable<const Field&, const T&>
    [[nodiscard]] State lift(const T& record) const {
        const Number value = std::invoke(field, record);
        return value == value ? State{value, true} : State{};  // a NaN is not present
    }
    [[nodiscard]] State identity() const noexcept { return {}; }
    [[nodiscard]] State combine(const State& older, const State& newer) const noexcept {
        return covers(newer, older) ? newer : older;
    }
    [[nodiscard]] bool covers(const State& newer, const State& older) const noexcept {
        return !older.present || (newer.present && !Before{}(older.value, newer.value));
    }
    [[nodiscard]] Number lower(const State& state) const noexcept {
        return state.present || !std::floating_point<Number>
                   ? state.value
                   : std::numeric_limits<Number>::quiet_NaN();
    }
};

/// Builders: `count()`, `sum<&Quote::volume>()`, `sum([](const Quote& quote) { ... })`. Give the
/// record's type where the function does not name it: `sum<Quote>([](const auto& quote) { ... })`.
[[nodiscard]] inline Count count() noexcept {
    return {};
}
/// The sum of a field as std::int64_t, std::uint64_t or double; 0 without records. Integers wrap.
template <class T, class Field>
[[nodiscard]] auto sum(Field field) {
    return Sum<Field, detail::FieldType<Field, T>>{std::move(field)};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto sum(Field field) {
    return sum<detail::RecordOf<Field>>(std::move(field));
}
/// Of integers an IntegerMean.
template <class T, class Field>
[[nodiscard]] auto mean(Field field) {
    if constexpr (std::integral<detail::FieldType<Field, T>>) {
        return IntegerMean<Field>{std::move(field)};
    } else {
        return Mean<Field>{std::move(field)};
    }
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto mean(Field field) {
    return mean<detail::RecordOf<Field>>(std::move(field));
}
/// The variance of a sample; not a number for fewer than two records. One pass, stable.
template <class Field>
[[nodiscard]] auto variance(Field field) {
    return Variance<Field>{std::move(field)};
}
/// The square root of the variance.
template <class Field>
[[nodiscard]] auto standard_deviation(Field field) {
    return StandardDeviation<Field>{{std::move(field)}};
}
/// The least value; NaN is passed over. O(1) a record, amortised.
template <class T, class Field>
[[nodiscard]] auto minimum(Field field) {
    using Number = detail::FieldType<Field, T>;
    return Extreme<Field, Number, std::less<Number>>{std::move(field)};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto minimum(Field field) {
    return minimum<detail::RecordOf<Field>>(std::move(field));
}
/// The greatest value; NaN is passed over. O(1) a record, amortised.
template <class T, class Field>
[[nodiscard]] auto maximum(Field field) {
    using Number = detail::FieldType<Field, T>;
    return Extreme<Field, Number, std::greater<Number>>{std::move(field)};
}
/// The same, of a function that names its record.
template <detail::NamesRecord Field>
[[nodiscard]] auto maximum(Field field) {
    return maximum<detail::RecordOf<Field>>(std::move(field));
}

/// The same of a member, `mean<&Trip::delay>()`: the faster way (base/field.hpp).
template <auto Member>
[[nodiscard]] auto sum() {
    return sum(field<Member>);
}
/// The mean of a member.
template <auto Member>
[[nodiscard]] auto mean() {
    return mean(field<Member>);
}
/// The variance of a member.
template <auto Member>
[[nodiscard]] auto variance() {
    return variance(field<Member>);
}
/// The standard deviation of a member.
template <auto Member>
[[nodiscard]] auto standard_deviation() {
    return standard_deviation(field<Member>);
}
/// The least value of a member.
template <auto Member>
[[nodiscard]] auto minimum() {
    return minimum(field<Member>);
}
/// The greatest value of a member.
template <auto Member>
[[nodiscard]] auto maximum() {
    return maximum(field<Member>);
}

}  // namespace strid::window
