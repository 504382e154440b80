// SPDX-License-Identifier: Apache-2.0
//
// Several nodes as one (paper 2, table 2: Comb): the first node calls the second with each result.
// For stages that are too short to pay for a transfer between cores, and for the workers of an
// ordered farm.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/state_size.hpp>
#include <strid/operator/contract.hpp>
#include <strid/pattern/node_work.hpp>

namespace strid::pattern {

namespace detail {

template <class... Nodes>
struct Fused {
    std::tuple<Nodes...> nodes;
};

/// The emits of two operators in a row.
[[nodiscard]] consteval Emits emits_of_both(Emits first, Emits second) {
    if (second == Emits::nothing) return Emits::nothing;
    if (first == Emits::any_number || second == Emits::any_number) return Emits::any_number;
    return first == Emits::one ? second : Emits::at_most_one;
}

template <class First, class Second>
class Comb : public OperatorTypes<typename First::Arrived, typename Second::Emitted> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "node",
        .emits = emits_of_both(First::traits.emits, Second::traits.emits),
        .hears =
            (First::traits.hears | Second::traits.hears).template among<Opened, Ended, Closed>(),
        .has = has_if(operators::has<First, Has::resource> || operators::has<Second, Has::resource>,
                      Has::resource)};

    Comb(First first, Second second) : first_(std::move(first)), second_(std::move(second)) {}

    void on(const Opened& opened)
        requires(operators::Hears<First, Opened> || operators::Hears<Second, Opened>)
    {
        if constexpr (operators::Hears<First, Opened>) first_.on(opened);
        if constexpr (operators::Hears<Second, Opened>) second_.on(opened);
    }
    [[gnu::always_inline]] void process(typename First::Arrived& task, auto& emit) {
        ToSecond to_second{second_, emit};
        first_.process(task, to_second);
    }
    /// The second node takes the last tasks of the first before its own end.
    bool on(Ended ended, auto& emit)
        requires(operators::Hears<First, Ended> || operators::Hears<Second, Ended>)
    {
        if constexpr (operators::Hears<First, Ended>) {
            ToSecond to_second{second_, emit};
            if (!first_ended_ && !is_all_out(first_, ended, to_second)) return false;
        }
        first_ended_ = true;
        if constexpr (operators::Hears<Second, Ended>) return is_all_out(second_, ended, emit);
        return true;
    }
    /// Of the one that uses one (pattern/resource.hpp); it is used for both.
    [[nodiscard]] auto& resource()
        requires(operators::has<First, Has::resource> || operators::has<Second, Has::resource>)
    {
        constexpr bool of_first = operators::has<First, Has::resource>;
        static_assert(!of_first || !operators::has<Second, Has::resource>,
                      "a node uses one resource: two could wait for each other");
        if constexpr (of_first) {
            return first_.resource();
        } else {
            return second_.resource();
        }
    }
    void on(Closed closed)
        requires(operators::Hears<First, Closed> || operators::Hears<Second, Closed>)
    {
        if constexpr (operators::Hears<First, Closed>) first_.on(closed);
        if constexpr (operators::Hears<Second, Closed>) second_.on(closed);
    }
    auto state() {
        return std::tuple_cat(operators::state_of(first_), operators::state_of(second_));
    }

  private:
    template <class Emit>
    struct ToSecond {
        Second& second;
        Emit& emit;

        template <class Made>
        [[gnu::always_inline]] void operator()(Made&& made) {
            if constexpr (std::same_as<Made, typename Second::Arrived&>) {
                second.process(made, emit);
            } else {
                typename Second::Arrived arrived(std::forward<Made>(made));
                second.process(arrived, emit);
            }
        }
        [[nodiscard]] bool room() const noexcept { return emit.room(); }
    };
    template <class Emit>
    ToSecond(Second&, Emit&) -> ToSecond<Emit>;

    template <class Operator, class Emit>
    static bool is_all_out(Operator& one, Ended ended, Emit& emit) {
        if constexpr (std::is_void_v<decltype(one.on(ended, emit))>) {
            one.on(ended, emit);
            return true;
        } else {
            return one.on(ended, emit);
        }
    }

    [[no_unique_address]] First first_;
    [[no_unique_address]] Second second_;
    bool first_ended_ = false;
};

template <class... Nodes>
inline constexpr bool is_fused<Fused<Nodes...>> = true;

/// The operator of the nodes from the `I`-th on, for tasks of `T`.
template <class T, std::size_t I, class... Nodes>
[[nodiscard]] auto fuse(std::tuple<Nodes...>& nodes) {
    static_assert(is_node_for<std::tuple_element_t<I, std::tuple<Nodes...>>, T>());
    auto first = make_operator<T>(std::move(std::get<I>(nodes)));
    if constexpr (I + 1 == sizeof...(Nodes)) {
        return first;
    } else {
        using U = typename decltype(first)::Emitted;
        static_assert(!std::is_void_v<U>, "a node that makes nothing is the last of those fused");
        auto rest = fuse<U, I + 1>(nodes);
        return Comb<decltype(first), decltype(rest)>(std::move(first), std::move(rest));
    }
}

}  // namespace detail

/// `fused(parse, check)`: one node that does what these do one after the other.
template <class... Nodes>
    requires(sizeof...(Nodes) > 0)
[[nodiscard]] auto fused(Nodes... nodes) {
    return detail::Fused<Nodes...>{{std::move(nodes)...}};
}

}  // namespace strid::pattern
