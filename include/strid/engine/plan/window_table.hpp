// SPDX-License-Identifier: Apache-2.0
//
// Which windows can share their work in which way, and which way is chosen where none is asked for
// (design note 0006):
//
//                 time      counts    sessions, global
//     by_key      yes       yes       yes
//     farmed      yes       yes       no: which replica has one is not known before
//     combined    (1)       no: a sender does not know the positions
//     paned       (2)       (3)       no: they have no panes
//     map_reduce  (2)       (2)       no: they have no panes
//     automatic   yes       yes       by_key
//
// (1) commutative aggregates with a small state, keys that are numbers; (2) commutative aggregates
// with parts; (3) aggregates with parts. Late records are apart by key and farmed, where they are
// whole. Compile time only.
#pragma once

#include <concepts>
#include <type_traits>

#include <strid/engine/operator/checks.hpp>
#include <strid/engine/window/aggregates/function_kind.hpp>
#include <strid/engine/window/operators/keyed_global_windows.hpp>
#include <strid/engine/window/operators/partial_panes.hpp>
#include <strid/operator/event_time.hpp>
#include <strid/operator/stream_time.hpp>
#include <strid/stream/share.hpp>
#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/spec.hpp>

namespace strid::graph {

template <class Windows>
inline constexpr bool goes_by_time =
    std::same_as<Windows, window::TimeWindows> || std::same_as<Windows, window::SessionWindows>;
template <class Windows>
inline constexpr bool has_turns =
    std::same_as<Windows, window::TimeWindows> || std::same_as<Windows, window::CountWindows>;
template <class Windows, class T>
inline constexpr bool is_global = false;
template <class F, class T>
inline constexpr bool is_global<window::GlobalWindows<F>, T> = window::TriggerOf<F, T>;
template <class T, class F>
consteval bool trigger_keeps_no_text(std::type_identity<window::GlobalWindows<F>>) {
    return operators::keeps_contract<F, const T&>();
}

/// The way of windows whose way is automatic.
template <class Windows, class A, class K, bool late_is_apart>
consteval Share chosen_share() {
    constexpr bool light = window::has_parts<A> && window::has_small_state<A>;
    if constexpr (!has_turns<Windows>) {
        return Share::by_key;
    } else if constexpr (late_is_apart || std::same_as<Windows, window::CountWindows>) {
        return light ? Share::by_key : Share::farmed;
    } else if constexpr (!window::has_parts<A>) {
        return Share::farmed;
    } else if constexpr (!window::is_commutative<A>) {
        return light ? Share::by_key : Share::farmed;
    } else if constexpr (window::combines_before_sending<A, K>) {
        return Share::combined;
    } else {
        return Share::paned;
    }
}

/// Why, for explain().
template <class Windows, class A, bool late_is_apart>
consteval const char* why_chosen(Share share) {
    constexpr bool counts = std::same_as<Windows, window::CountWindows>;
    switch (share) {
        case Share::by_key:
            if (!has_turns<Windows>) return "";
            if (late_is_apart) {
                return "not shared: a record is little work, and late ones are whole";
            }
            return counts || window::is_commutative<A>
                       ? "not shared: that would cost more"
                       : "not shared: a record is little work (any_order(...) would share it)";
        case Share::farmed:
            if (late_is_apart) return "farmed: late records are whole, the replicas take turns";
            if (counts) return "farmed: whole windows, the replicas take turns";
            return window::has_parts<A>
                       ? "farmed: parts combine in their order only, the replicas take turns"
                       : "farmed: the function needs whole windows, the replicas take turns";
        case Share::combined:
            return "combined: adding to a small state costs less than sending a record";
        default:
            return "paned: the aggregate is commutative, panes of any replica combine";
    }
}

/// The requested way, for explain().
consteval const char* note_of_requested_way(Share share, bool counts) {
    switch (share) {
        case Share::farmed:
            return "farmed: every replica has every record, they take turns with the windows";
        case Share::combined:
            return "combined: records are added up before they are sent";
        case Share::paned:
            return counts ? "paned: a pane by each replica in turn, windows by the owner of the "
                            "group"
                          : "paned: panes by any replica, windows by the owner of the group";
        case Share::map_reduce:
            return counts ? "map-reduce: every replica adds up the records whose turn is its own"
                          : "map-reduce: parts of windows by any replica, windows by the owner of "
                            "the group";
        default:
            return "";
    }
}

/// There are such windows of records of `T`: as the checks of engine/operator/checks.hpp.
template <class Windows, class A, class T, class Time>
consteval bool takes_window() {
    if constexpr (!has_turns<Windows> && !goes_by_time<Windows> && !is_global<Windows, T>) {
        static_assert(is_global<Windows, T>,
                      "a window needs windows (TimeWindows, CountWindows, SessionWindows, or "
                      "window::global(trigger) with a trigger of the records that arrive), a "
                      "function, and maybe share::..., late_apart and options");
        return false;
    } else if constexpr (window::lifts<A, T> && !window::FunctionOf<A, T>) {
        static_assert(window::FunctionOf<A, T>,
                      "an aggregate has a type State, State lift(const T&) const, State "
                      "combine(const State&, const State&) const and State identity() const, the "
                      "state without records");
        return false;
    } else if constexpr (!window::FunctionOf<A, T>) {
        static_assert(window::FunctionOf<A, T>,
                      "a window needs a function of the records T that arrive: an aggregate, or "
                      "window::fold or window::content of them");
        return false;
    } else if constexpr (goes_by_time<Windows>) {
        return operators::knows_time<Time, T>();
    } else if constexpr (is_global<Windows, T>) {
        return trigger_keeps_no_text<T>(std::type_identity<Windows>{});
    } else {
        return true;
    }
}

/// Their work can be shared so. `open`: the records are not sent by key yet.
template <class Windows, class A, class K, Share share, bool late_is_apart, bool open>
consteval bool can_share() {
    constexpr bool of_time = std::same_as<Windows, window::TimeWindows>;
    constexpr bool by_key = share == Share::by_key;
    constexpr bool levels =
        share == Share::combined || share == Share::paned || share == Share::map_reduce;
    constexpr bool turns = by_key || has_turns<Windows>;
    static_assert(turns,
                  "sessions and windows with a trigger are by key: nothing else says which replica "
                  "a record belongs to");
    constexpr bool sent = by_key || open;
    static_assert(sent, "records of a key_by that is sealed or merged are sent by key already");
    constexpr bool positions = share != Share::combined || of_time;
    static_assert(positions,
                  "windows of counts are not combined: a replica that adds up before it sends does "
                  "not know the positions (see share::paned)");
    constexpr bool parts = !levels || window::has_parts<A>;
    static_assert(parts,
                  "windows are put together from the states of their parts here: not those of full "
                  "content, of several values or of final aggregates (see share::farmed)");
    constexpr bool commutes =
        !levels || !parts || (share == Share::paned && !of_time) || window::is_commutative<A>;
    static_assert(commutes,
                  "what replicas computed is combined in any order: the aggregate has to be "
                  "commutative (see share::farmed, any_order)");
    constexpr bool small = share != Share::combined || !of_time || !parts || !commutes ||
                           window::combines_before_sending<A, K>;
    static_assert(small,
                  "combined windows are for commutative aggregates with a small plain state, and "
                  "for keys that are numbers (see share::paned, any_order)");
    constexpr bool whole = !late_is_apart || (!levels && goes_by_time<Windows>);
    static_assert(whole,
                  "late_apart is for windows of time and sessions, by key or share::farmed, where "
                  "late records are whole");
    return turns && sent && positions && parts && commutes && small && whole;
}

}  // namespace strid::graph
