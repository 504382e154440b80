// SPDX-License-Identifier: Apache-2.0
//
// The classes of the aggregates of quantiles (window/aggregates/quantile.hpp).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/engine/base/member_pointer.hpp>
#include <strid/engine/window/aggregates/lifts_by_adding.hpp>
#include <strid/window/aggregates/t_digest.hpp>

namespace strid::window {

/// The shares `q` of a field, as a std::array<double, count>. A sketch depends on the order in
/// which it was put together, so this aggregate is not commutative: `share::automatic` farms its
/// windows.
template <class Field, std::size_t count>
class Quantiles : public LiftsByAdding<Quantiles<Field, count>> {
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

    /// O(1) amortised; of a sketch O(log 1024).
    template <class T>
        requires std::invocable<const Field&, const T&>
    void add(State& state, const T& record) const {
        state.add(static_cast<double>(std::invoke(field_, record)));
    }
    [[nodiscard]] State combine(const State& a, const State& b) const {
        State both = a;
        both.merge(b);
        return both;
    }
    /// O(values), by selection in a copy; a sketch sorts its newest 1,024 at most.
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

}  // namespace strid::window
