// SPDX-License-Identifier: Apache-2.0
//
// The k largest (or smallest) values of a field in a window, each with another field of its record
// that the user chooses: `top_k<3>(field<&Trip::fare>, field<&Trip::driver>)`. A state is the list
// of them, in place, so that it allocates nothing and is copied as a block where its parts are. It
// is as long as k elements whatever is in it: k should be small.
//
// Equal values stand, and are dropped, in the order of the stream: the older first. The list is
// what a stable sort of the window's records would begin with. For an answer that does not depend
// on the order of equal values, rank by a pair: the value and an identifier. A NaN is passed over.
//
// Each record has a place of its own: a driver with three of the highest fares stands there three
// times. Text is copied into the list (std::string), so that a result may outlive its batch.
//
// Nothing can be taken back out of a list, for what it displaced is forgotten: a window that slides
// keeps lists by DABA Lite.
//
// Without a kept field the aggregate is commutative, and the replicas may combine panes. With one
// it is not, since equal values keep the order of the stream: `share::automatic` farms its windows,
// or leaves them by key where a state is trivially copyable and at most 64 bytes large.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include <strid/engine/window/aggregates/field_types.hpp>
#include <strid/engine/window/aggregates/top_k.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/top_list.hpp>

namespace strid::window {

/// The k largest values: `top_k<3>(field<&Trip::fare>)`, `top_k<3, Trip>(function)`. The result is
/// a TopList of Ranked, largest first. `by` and `kept` are functions of the record; `kept` names
/// what else of the record is in the list.
template <std::size_t k, class T, class By, class Kept = detail::KeepNothing>
[[nodiscard]] auto top_k(By by, Kept kept = {}) {
    return detail::ranked<k, T, std::greater>(std::move(by), std::move(kept));
}
/// The same, of a function that names its record.
template <std::size_t k, detail::NamesRecord By, class Kept = detail::KeepNothing>
[[nodiscard]] auto top_k(By by, Kept kept = {}) {
    return top_k<k, detail::NamedRecord<By>>(std::move(by), std::move(kept));
}
/// The k smallest, smallest first.
template <std::size_t k, class T, class By, class Kept = detail::KeepNothing>
[[nodiscard]] auto bottom_k(By by, Kept kept = {}) {
    return detail::ranked<k, T, std::less>(std::move(by), std::move(kept));
}
/// The same, of a function that names its record.
template <std::size_t k, detail::NamesRecord By, class Kept = detail::KeepNothing>
[[nodiscard]] auto bottom_k(By by, Kept kept = {}) {
    return bottom_k<k, detail::NamedRecord<By>>(std::move(by), std::move(kept));
}

}  // namespace strid::window
