// SPDX-License-Identifier: Apache-2.0
//
// The second level of map-reduce windows of counts (paper 2): the parts of a window, each of the
// records that one replica added, become its value. A window is whole once its parts have as many
// records as it has positions; windows of a key go on in their order.
//
// Threads: only the task of the node. O(1) combinations a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include <strid/base/assert.hpp>
#include <strid/message/batch.hpp>
#include <strid/operator/key_table.hpp>
#include <strid/window/aggregate.hpp>
#include <strid/window/partial.hpp>
#include <strid/window/result.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {

template <class K, Aggregate A>
class GatheredParts {
  public:
    using Part = CountPart<K, typename A::State>;
    using Out = WindowResult<K, ResultOf<A, K, CountBounds>, CountBounds>;
    static constexpr bool selective = true;
    static constexpr bool only_reads = true;

    GatheredParts(std::uint64_t slide, A aggregate)
        : slide_(slide), aggregate_(std::move(aggregate)) {}

    template <class Next>
    void operator()(message::Hashed<Part>& arrived, Next&& next) {
        const Part& part = arrived.record;
        const auto [key, state] =
            table_.find_or_make(part.key, arrived.hash, [] { return KeyState{}; });
        STRID_ASSERT(part.window.start >= state.next_start);
        add(state, part);
        while (!state.open.empty() && state.open.front().is_whole()) {
            emit(key, state.open.front(), next);
            state.open.pop_front();
            state.next_start += slide_;
        }
    }

  private:
    using State = typename A::State;
    struct Open {
        CountBounds window;
        State value;
        std::uint64_t records;  // that came

        [[nodiscard]] bool is_whole() const noexcept {
            return records != 0 && records == window.end - window.start;
        }
    };
    struct KeyState {
        std::uint64_t next_start = 0;  // of the first window in `open`
        std::deque<Open> open;
    };

    void add(KeyState& state, const Part& part) {
        const auto index =
            static_cast<std::size_t>((part.window.start - state.next_start) / slide_);
        while (state.open.size() <= index) {
            state.open.push_back({{}, aggregate_.identity(), 0});
        }
        Open& open = state.open[index];
        open.window = part.window;
        open.value = aggregate_.combine(open.value, part.value);
        open.records += part.records;
    }

    template <class Next>
    void emit(const K& key, const Open& open, Next& next) {
        give_values(aggregate_, key, open.window, open.value, [&](auto&& value) {
            Out result{key, open.window, std::move(value)};
            next(result);
        });
    }

    std::uint64_t slide_;
    [[no_unique_address]] A aggregate_;
    operators::KeyTable<K, KeyState> table_;
};

}  // namespace strid::window
