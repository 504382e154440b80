// SPDX-License-Identifier: Apache-2.0
//
// The classes of the common aggregates (window/aggregates.hpp): count, sum, mean, variance,
// extremes. Values without state of their own.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

#include <strid/engine/base/member_pointer.hpp>
#include <strid/engine/window/aggregates/field_types.hpp>
#include <strid/engine/window/aggregates/mean_parts.hpp>
#include <strid/window/aggregates/moments.hpp>

namespace strid::window {

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

/// The base of aggregates of a field whose numbers are kept as `Parts`: made of a double, and added
/// to each other.
template <class Field, class Parts>
struct PartsOfNumbers {
    using State = Parts;

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
};

/// The arithmetic mean of a field, as a double, also where the sum would be beyond the largest one.
template <class Field>
struct Mean : PartsOfNumbers<Field, MeanParts> {
    [[nodiscard]] double lower(const MeanParts& state) const noexcept { return state.mean(); }
};

/// The sample variance of a field (the sum of squared distances from the mean over count - 1), as a
/// double; not a number for fewer than two records, infinite where it is beyond the largest double.
/// It neither cancels where the mean is large nor overflows on the way
/// (window/aggregates/moments.hpp).
template <class Field>
struct Variance : PartsOfNumbers<Field, Moments> {
    static_assert((refuse_member_pointer<Field>(), true));

    [[nodiscard]] double lower(const Moments& state) const noexcept { return state.variance(); }
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

}  // namespace strid::window
