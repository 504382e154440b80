// SPDX-License-Identifier: Apache-2.0
//
// The stages of a chain, each of its own type, in order. An aggregate: the constructors and helpers
// of std::tuple took a fifth of a graph's compile time (design note 0002).
//
// A value; threads: as those of its stages. Every function is O(stages), at compile time.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace strid::operators {

/// The stage number I: a base, so that stages of one type are distinct. An empty one, such as a
/// lambda without captures, takes no room. Any other is a member of its own size, so that it may be
/// constructed anew in its place (engine/kernel/passage.hpp).
template <std::size_t I, class Stage>
struct StageAt {
    Stage stage;
};
template <std::size_t I, class Stage>
    requires std::is_empty_v<Stage>
struct StageAt<I, Stage> {
    [[no_unique_address]] Stage stage;
};

template <class Indices, class... Stages>
struct StagesAt;

template <class... Stages>
using StageList = StagesAt<std::index_sequence_for<Stages...>, Stages...>;

template <std::size_t... I, class... Stages>
struct StagesAt<std::index_sequence<I...>, Stages...> : StageAt<I, Stages>... {
    /// Calls `visit.operator()<I>(stage)` for each, first to last.
    template <class Visit>
    constexpr void each([[maybe_unused]] Visit&& visit) {
        (visit.template operator()<I>(StageAt<I, Stages>::stage), ...);
    }
    template <class Visit>
    constexpr void each([[maybe_unused]] Visit&& visit) const {
        (visit.template operator()<I>(StageAt<I, Stages>::stage), ...);
    }
    /// True if `test(stage)` is true for any stage.
    template <class Test>
    [[nodiscard]] constexpr bool any([[maybe_unused]] const Test& test) const {
        return (test(StageAt<I, Stages>::stage) || ...);
    }
    /// These stages, moved from, and one more.
    template <class Stage>
    [[nodiscard]] constexpr StageList<Stages..., Stage> followed_by(Stage stage) && {
        return {{std::move(StageAt<I, Stages>::stage)}..., {std::move(stage)}};
    }
    /// A list of `Held...` made from these, each a copy or a reference.
    template <class... Held>
    [[nodiscard]] constexpr StageList<Held...> held_as() {
        return {{StageAt<I, Stages>::stage}...};
    }
};

/// The stage number I of a list, which the compiler finds by its base.
template <std::size_t I, class Stage>
[[nodiscard]] constexpr Stage& stage_at(StageAt<I, Stage>& at) noexcept {
    return at.stage;
}
template <std::size_t I, class Stage>
[[nodiscard]] constexpr const Stage& stage_at(const StageAt<I, Stage>& at) noexcept {
    return at.stage;
}

namespace detail {
template <std::size_t I, class Stage>
std::type_identity<Stage> stage_type_at(const StageAt<I, Stage>*);
}  // namespace detail

/// The type of the stage number I of a StageList.
template <std::size_t I, class List>
using StageTypeAt =
    typename decltype(detail::stage_type_at<I>(static_cast<const List*>(nullptr)))::type;

}  // namespace strid::operators
