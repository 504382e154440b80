// SPDX-License-Identifier: Apache-2.0
//
// The second level of map-reduce windows of counts (paper 2): the parts of a window, each of the
// records that one replica added, become its value. A window is whole once its parts have as many
// records as it has positions; windows of a key go on in their order.
//
// Threads: only the task of the node. O(1) combinations a part.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/engine/window/aggregates/partial.hpp>
#include <strid/engine/window/result_of.hpp>
#include <strid/engine/window/structures/flat_ring.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/result.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {

template <class K, Aggregate A>
class GatheredParts
    : public OperatorTypes<message::Hashed<CountPart<K, typename A::State>>,
                           WindowResult<K, ResultOf<A, K, CountBounds>, CountBounds>> {
  public:
    using Part = CountPart<K, typename A::State>;
    using Result = WindowResult<K, ResultOf<A, K, CountBounds>, CountBounds>;
    static constexpr OperatorTraits traits{
        .kind = "window", .emits = Emits::any_number, .hears = events<>, .only_reads = true};

    GatheredParts(std::uint64_t slide, A aggregate)
        : slide_(slide), aggregate_(std::move(aggregate)) {}

    auto state() { return std::make_tuple(operators::states_by_key(table_)); }

    void process(const message::Hashed<Part>& arrived, auto& emit) {
        const Part& part = arrived.record;
        auto& [hash, key, state] =
            table_.find_or_make(part.key, arrived.hash, [] { return KeyState{}; });
        add(state.open, part);
        while (!state.open.empty() && state.open.front().is_whole()) {
            give(key, state.open.front(), emit);
            state.open.pop_front();
        }
    }

  private:
    using State = typename A::State;
    struct Open {
        CountBounds window = {};
        State value = {};
        std::uint64_t records = 0;  // that came

        [[nodiscard]] bool is_whole() const noexcept {
            return records != 0 && records == window.end - window.start;
        }
    };
    using Windows = FlatRing<Open>;
    struct KeyState {
        Windows open;  // by the number of the window
    };

    void add(Windows& windows, const Part& part) {
        const std::uint64_t number = part.window.start / slide_;
        while (windows.end_position() <= number) windows.push_back({{}, aggregate_.identity(), 0});
        Open& open = windows[number];
        open.window = part.window;
        open.value = aggregate_.combine(open.value, part.value);
        open.records += part.records;
    }

    void give(const K& key, const Open& open, auto& emit) {
        give_values(aggregate_, key, open.window, open.value, [&](auto&& value) {
            Result result{key, open.window, std::move(value)};
            emit(result);
        });
    }

    std::uint64_t slide_;
    [[no_unique_address]] A aggregate_;
    KeyedState<K, KeyState, KeyLife{.in_slices = true}> table_;
};

}  // namespace strid::window
