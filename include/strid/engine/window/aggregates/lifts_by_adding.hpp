// SPDX-License-Identifier: Apache-2.0
//
// The part that aggregates have in common whose states are lists, sets or sketches.
#pragma once

namespace strid::window {

/// A base of the aggregate `Self`, which has `add(state, record)`: the state of no record is the
/// empty one, and that of one record is the empty one with the record added.
template <class Self>
struct LiftsByAdding {
    template <class T>
        requires requires(const Self& self, typename Self::State& state, const T& record) {
            self.add(state, record);
        }
    [[nodiscard]] auto lift(const T& record) const {
        typename Self::State state;
        static_cast<const Self&>(*this).add(state, record);
        return state;
    }
    [[nodiscard]] auto identity() const { return typename Self::State{}; }
};

}  // namespace strid::window
