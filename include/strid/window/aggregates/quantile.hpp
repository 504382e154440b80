// SPDX-License-Identifier: Apache-2.0
//
// Quantiles of a field: `quantile(field<&Reading::value>, 0.99)`, or several of one pass,
// `quantiles(field<&Reading::value>, 0.5, 0.9, 0.99)`. The state is a t-digest
// (window/aggregates/t_digest.hpp): exact up to 512 values in a window, sketched above, with an
// error of rank that is least near both ends.
//
// The quantile q of n values in order is the one at the place q * (n - 1), counted from 0; between
// two places it is interpolated, as numpy does by default. Above 512 values the result is off by
// about n * 4 q (1 - q) / 200 places: 0.5 % of n for the median, 0.02 % for q = 0.99.
//
// Values are taken as double; a NaN is passed over. A window without values gives NaN.
//
// A sketch has memory of its own, 16 bytes for each of the first values and a few kilobytes at
// most, for each key and pane. The next sketch uses it again (memory/recycling.hpp): in the long
// run neither a pane nor a result asks the heap for any.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/base/field.hpp>
#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/aggregates/t_digest.hpp>

namespace strid::window {

/// The shares `q` of a field, as a std::array<double, count>. A sketch depends on the order in
/// which it was put together, so this aggregate is not commutative: `share::automatic` farms its
/// windows.
template <class Field, std::size_t count>
class Quantiles {
    static_assert((refuse_member_pointer<Field>(), true));

  public:
    using State = TDigest;

    /// Throws Error for a share that is not from 0 to 1.
    Quantiles(Field field, const std::array<double, count>& shares)
        : field_(std::move(field)), shares_(shares) {
        for (const double share : shares_) {
            if (!(share >= 0 && share <= 1)) throw Error("a quantile's share is from 0 to 1");
        }
    }

    template <class T>
        requires std::invocable<const Field&, const T&>
    [[nodiscard]] State lift(const T& record) const {
        State state;
        add(state, record);
        return state;
    }
    /// O(log 512) amortised.
    template <class T>
        requires std::invocable<const Field&, const T&>
    void add(State& state, const T& record) const {
        state.add(static_cast<double>(std::invoke(field_, record)));
    }
    [[nodiscard]] State identity() const { return {}; }
    [[nodiscard]] State combine(const State& a, const State& b) const {
        State both = a;
        both.merge(b);
        return both;
    }
    /// Sorts a copy of what the state has: 512 values or centroids, hardly more.
    [[nodiscard]] std::array<double, count> lower(const State& state) const {
        return state.quantiles(shares_);
    }

  private:
    [[no_unique_address]] Field field_;
    std::array<double, count> shares_;
};

/// One of them, as a double.
template <class Field>
class Quantile : public Quantiles<Field, 1> {
  public:
    Quantile(Field field, double share) : Quantiles<Field, 1>(std::move(field), {share}) {}

    [[nodiscard]] double lower(const TDigest& state) const {
        return Quantiles<Field, 1>::lower(state).front();
    }
};

/// The value below which the share `q` of the values lies, between two of them interpolated; a
/// double. `field` is a function of the record, `field<&Reading::value>` for a member. Throws Error
/// for a `q` that is not from 0 to 1.
template <class Field>
[[nodiscard]] auto quantile(Field field, double q) {
    return Quantile<Field>{std::move(field), q};
}
/// The quantile 0.5.
template <class Field>
[[nodiscard]] auto median(Field field) {
    return Quantile<Field>{std::move(field), 0.5};
}
/// Several quantiles of one pass: a std::array<double, n>, in the order of the n `shares`. Throws
/// Error for a share that is not from 0 to 1.
template <class Field, std::convertible_to<double>... Shares>
[[nodiscard]] auto quantiles(Field field, Shares... shares) {
    return Quantiles<Field, sizeof...(Shares)>{std::move(field), {static_cast<double>(shares)...}};
}

}  // namespace strid::window
