// SPDX-License-Identifier: Apache-2.0
//
// How the replicas of a window share its work; the call gives one of these ways (papers 1 and 2):
//
//     keyed.window(windows, f, share::farmed)
//     auto [results, late] = keyed.window(windows, f, share::farmed | late_apart);
//
//     by_key       each replica has the windows of its keys; the default behind `key_by`.
//     farmed       every replica has every record (one batch that all of them read) and computes
//                  every n-th window: window farming. For any function; best where the function is
//                  much and the records are few.
//     combined     every replica adds the records that it has to states of panes before anything is
//                  sent; a second level combines these to windows. For commutative aggregates with
//                  a small state and keys that are numbers.
//     paned        any replica takes any batch and computes states of panes; a second level
//                  combines them to windows. For commutative aggregates; best for states that are
//                  costly to add to. Of counts: every n-th pane, for any aggregate with parts.
//     map_reduce   any replica takes any batch and computes its part of each window; a second level
//                  combines the parts. As paned windows, but a window's state is computed by the
//                  first level. Of counts: every n-th record.
//     automatic    what suits the windows and the function; the default of whole streams.
//
// The choice is made when the program is compiled; engine/plan/window_table.hpp lists which ways
// are possible and which one `automatic` chooses. Plain values.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <strid/stream/options.hpp>

namespace strid {

/// The ways, as values of a type; `share::` has the constants that calls take.
enum class Share : std::uint8_t {
    by_key,     ///< share::by_key
    automatic,  ///< share::automatic
    farmed,     ///< share::farmed
    combined,   ///< share::combined
    paned,      ///< share::paned
    map_reduce  ///< share::map_reduce
};

/// The way of a window, and whether its late records are a stream of their own.
template <Share way, bool apart = false>
struct SharedBy {
    static constexpr Share share = way;  ///< The way.
    /// Whether late records are a stream of their own.
    static constexpr bool late_is_apart = apart;
};

namespace share {
/// Each key has one replica, which does all of its windows.
inline constexpr SharedBy<Share::by_key> by_key{};
/// The planner chooses by what the window and its function are.
inline constexpr SharedBy<Share::automatic> automatic{};
/// Windows are dealt out to the replicas in turn; each has every record.
inline constexpr SharedBy<Share::farmed> farmed{};
/// Records are added up where they are, by pane; states are sent.
inline constexpr SharedBy<Share::combined> combined{};
/// Panes are computed in parallel, and combined by a second level.
inline constexpr SharedBy<Share::paned> paned{};
/// The records of a window are spread over the replicas, and their parts combined.
inline constexpr SharedBy<Share::map_reduce> map_reduce{};
}  // namespace share

/// The way, with late records as a stream of their own.
template <Share way>
[[nodiscard]] constexpr SharedBy<way, true> operator|(SharedBy<way>, LateApart) noexcept {
    return {};
}
/// The same.
template <Share way>
[[nodiscard]] constexpr SharedBy<way, true> operator|(LateApart, SharedBy<way>) noexcept {
    return {};
}

namespace detail {

template <class Way>
inline constexpr bool is_way = std::same_as<Way, LateApart>;
template <Share way, bool apart>
inline constexpr bool is_way<SharedBy<way, apart>> = true;

}  // namespace detail

/// `share::farmed` and the like, `late_apart`, or both, `share::farmed | late_apart`.
template <class Way>
concept WindowWay = detail::is_way<Way>;

}  // namespace strid
