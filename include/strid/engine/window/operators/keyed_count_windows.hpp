// SPDX-License-Identifier: Apache-2.0
//
// Windows of a number of records by key (paper 1, the trading operator's w and s; paper 2, keyed
// windows): window k of a key covers the positions [k * slide, k * slide + length) in its stream. A
// window fires with the record that completes it, so it needs no watermark and no schedule.
//
// The state of a key is described in engine/window/structures/count_panes.hpp: a record of an
// aggregate costs one addition, whatever the length. A key lives as long as the run, because its
// positions do.
//
// Threads: only the task of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/engine/window/aggregates/function_kind.hpp>
#include <strid/engine/window/aggregates/partial.hpp>
#include <strid/engine/window/result_of.hpp>
#include <strid/engine/window/structures/count_panes.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/window/result.hpp>

namespace strid::window {

/// Records of a pane that are worth what is done for a pane.
inline constexpr std::uint64_t pane_worth_sending = 8;

/// A record is hardly ever more than an addition to a small state.
template <class A>
[[nodiscard]] bool is_light(const CountWindows& windows) noexcept {
    using State = typename A::State;
    if (only_goes_forward<A> && windows.slide() < windows.length()) return false;
    return windows.pane() >= pane_worth_sending && std::is_trivially_copyable_v<State> &&
           sizeof(State) <= 64;
}

/// The output of a replica for its windows.
enum class CountWindowOutput : std::uint8_t {
    values,
    values_and_ends,  ///< Several values of a window, or none, and then its end.
    parts             ///< Of n replicas that have every record each adds up every n-th: map-reduce.
};

/// The records that these windows emit.
template <class K, class A, CountWindowOutput output>
struct CountResultOf {
    using Value = WindowResult<K, ResultOf<A, K, CountBounds>, CountBounds>;
    using type = std::conditional_t<
        output == CountWindowOutput::parts, CountPart<K, typename A::State>,
        std::conditional_t<output == CountWindowOutput::values, Value, ValueOrEnd<Value>>>;
};

template <class T, class KeyOf, class K, class A,
          CountWindowOutput output = CountWindowOutput::values>
class KeyedCountWindows
    : public OperatorTypes<message::Hashed<T>, typename CountResultOf<K, A, output>::type> {
    static constexpr bool in_turns = output == CountWindowOutput::parts;
    using Value = typename CountResultOf<K, A, output>::Value;

  public:
    using Result = typename CountResultOf<K, A, output>::type;
    static constexpr OperatorTraits traits{
        .kind = "window",
        .emits = Emits::any_number,
        .hears = events<Opened, Coming<message::Hashed<T>>, Ended>,
        .has = Has::facts,
        .only_reads = true};

    KeyedCountWindows(CountWindows windows, KeyOf key_of, A aggregate, const WindowOptions& options)
        : windows_(windows),
          key_of_(std::move(key_of)),
          aggregate_(std::move(aggregate)),
          at_end_(options.at_end) {}

    /// The replicas have every record, and each fires every n-th window: window farming.
    void farm() noexcept { farmed_ = true; }
    [[nodiscard]] OperatorFacts facts() const {
        constexpr bool adds_parts =
            requires(const A& aggregate, const T& record) { aggregate.positions_of(record); };
        return {.shares_broadcast = farmed_ || in_turns,
                .light = !farmed_ && output == CountWindowOutput::values && !adds_parts &&
                         is_light<A>(windows_)};
    }
    auto state() {
        return state_with(aggregate_, std::make_tuple(operators::states_by_key(
                                          table_, [this] { return KeyState(aggregate_, 0); })));
    }

    void on(const Opened& opened) {
        context_ = opened.context;
        if (!farmed_) return;
        slide_of_all_ = windows_.slide();
        windows_ = windows_.share(0, context_.parallelism);
    }
    [[nodiscard]] std::size_t on(Coming<message::Hashed<T>> coming) {
        return table_.look_ahead(coming.records);
    }

    void process(const message::Hashed<T>& arrived, auto& emit) {
        const T& record = arrived.record;
        auto& [hash, key, state] =
            table_.find_or_make(std::invoke(key_of_, record), arrived.hash,
                                [&] { return KeyState(aggregate_, first_start(arrived.hash)); });
        if (state.skip != 0) {  // between two windows
            --state.skip;
            return;
        }
        if (!in_turns || is_mine(state)) {
            state.panes.add(aggregate_, windows_, state.in_pane == 0, record);
        }
        if constexpr (requires { aggregate_.positions_of(record); }) {
            state.in_pane += aggregate_.positions_of(record);
        } else {
            ++state.in_pane;
        }
        if (state.in_pane == windows_.pane()) end_pane(key, state, emit);
    }

    /// The windows that the end of the stream cuts short, each with the records that it has.
    bool on(Ended, auto& emit) {
        if (at_end_ == OpenWindows::drop) return true;
        if (!finishing_) finishing_ = table_.begin();
        for (; *finishing_ != table_.end(); ++*finishing_) {
            const K& key = (*finishing_)->key;
            KeyState& state = (*finishing_)->state;
            if (!end_) {
                end_ = position(state);
                if (state.in_pane != 0) state.panes.end_pane(aggregate_);
            }
            while (state.skip == 0 && state.start < *end_) {
                if (!emit.room()) return false;
                give(key, {state.start, *end_}, state.panes.query(), emit);
                slide(state);
            }
            end_.reset();
        }
        return true;
    }

  private:
    struct KeyState {
        KeyState(const A& aggregate, std::uint64_t first_start)
            : panes(aggregate), skip(first_start), start(first_start) {}
        auto state() { return std::tie(panes, in_pane, skip, start); }

        CountPanesOf<A> panes;
        std::uint64_t in_pane = 0;  // records in the one that has not ended
        std::uint64_t skip;         // records until the next window begins
        std::uint64_t start;        // of the window that fires next
    };
    using Table = KeyedState<K, KeyState, KeyLife{.in_slices = true}>;

    /// Of the key's next record.
    [[nodiscard]] std::uint64_t position(const KeyState& state) const noexcept {
        return state.start + state.panes.size() * windows_.pane() + state.in_pane;
    }
    [[nodiscard]] bool is_mine(const KeyState& state) const noexcept {
        return position(state) % context_.parallelism == context_.replica;
    }
    /// How many of the first `positions` are the replica's to add.
    [[nodiscard]] std::uint64_t mine_of(std::uint64_t positions) const noexcept {
        return (positions + context_.parallelism - 1 - context_.replica) / context_.parallelism;
    }

    void end_pane(const K& key, KeyState& state, auto& emit) {
        state.panes.end_pane(aggregate_);
        state.in_pane = 0;
        if (state.panes.size() * windows_.pane() != windows_.length()) return;
        give(key, {state.start, state.start + windows_.length()}, state.panes.query(), emit);
        slide(state);
        if (windows_.slide() > windows_.length()) {
            state.skip = windows_.slide() - windows_.length();
        }
    }

    /// Where the first window of a key begins. Of keys that come in step the replicas take turns,
    /// too: each key's first window is another one's.
    [[nodiscard]] std::uint64_t first_start(std::uint64_t hash) const noexcept {
        if (!farmed_) return 0;
        const std::size_t replicas = context_.parallelism;
        const std::uint64_t first = (context_.replica + hash % replicas) % replicas;
        constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
        return first > never / slide_of_all_ ? never : first * slide_of_all_;
    }

    /// Goes on to the next window.
    void slide(KeyState& state) {
        state.panes.slide(windows_);
        state.start += windows_.slide();
    }

    template <class Sum>
    void give(const K& key, CountBounds bounds, const Sum& sum, auto& emit) {
        if constexpr (in_turns) {
            const std::uint64_t records = mine_of(bounds.end) - mine_of(bounds.start);
            if (records == 0) return;
            Result part{key, bounds, value_of(aggregate_, key, bounds, sum), records};
            emit(part);
        } else {
            give_values(aggregate_, key, bounds, sum, [&](auto&& value) {
                Value result{key, bounds, std::move(value)};
                if constexpr (output == CountWindowOutput::values) {
                    emit(result);
                } else {
                    Result one{key, bounds.start, std::move(result)};
                    emit(one);
                }
            });
            if constexpr (output == CountWindowOutput::values_and_ends) {
                Result end{key, bounds.start, std::nullopt};
                emit(end);
            }
        }
    }

    CountWindows windows_;
    [[no_unique_address]] KeyOf key_of_;
    [[no_unique_address]] A aggregate_;
    OpenWindows at_end_;
    bool farmed_ = false;
    std::uint64_t slide_of_all_ = 0;  // where the replicas share them
    Context context_;
    Table table_;
    std::optional<decltype(std::declval<Table&>().begin())> finishing_;
    std::optional<std::uint64_t> end_;  // of the stream of the key that is finished
};

}  // namespace strid::window
