// SPDX-License-Identifier: Apache-2.0
//
// The operator of the global window with a trigger (window/global_windows.hpp).
//
// Threads: only the task of the node.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/engine/window/aggregates/add_record.hpp>
#include <strid/engine/window/aggregates/function_kind.hpp>
#include <strid/engine/window/result_of.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/window/global_windows.hpp>
#include <strid/window/result.hpp>

namespace strid::window {

template <class T, class KeyOf, class K, class F, class A>
class KeyedGlobalWindows
    : public OperatorTypes<message::Hashed<T>,
                           WindowResult<K, ResultOf<A, K, CountBounds>, CountBounds>> {
  public:
    using Result = WindowResult<K, ResultOf<A, K, CountBounds>, CountBounds>;
    static constexpr OperatorTraits traits{
        .kind = "window", .emits = Emits::any_number, .hears = events<Ended>, .only_reads = true};

    KeyedGlobalWindows(GlobalWindows<F> windows, KeyOf key_of, A aggregate,
                       const WindowOptions& options)
        : trigger_(std::move(windows.trigger)),
          key_of_(std::move(key_of)),
          aggregate_(std::move(aggregate)),
          at_end_(options.at_end) {}

    auto state() {
        return state_with(aggregate_, std::make_tuple(operators::states_by_key(table_, fresh())));
    }

    void process(const message::Hashed<T>& arrived, auto& emit) {
        const T& record = arrived.record;
        auto& [hash, key, state] =
            table_.find_or_make(std::invoke(key_of_, record), arrived.hash, fresh());
        add_record(aggregate_, state.sum, record);
        ++state.bounds.end;
        const Trigger wanted = state.trigger(record);
        if (wanted == Trigger::wait) return;
        give(key, state, emit);
        if (wanted == Trigger::fire) return;
        state.sum = aggregate_.identity();
        state.bounds.start = state.bounds.end;
    }

    /// Fires the windows that have not fired since their last record.
    bool on(Ended, auto& emit) {
        if (at_end_ == OpenWindows::drop) return true;
        if (!finishing_) finishing_ = table_.begin();
        for (; *finishing_ != table_.end(); ++*finishing_) {
            auto& [hash, key, state] = **finishing_;
            if (state.bounds.end == state.reported) continue;
            if (!emit.room()) return false;
            give(key, state, emit);
        }
        return true;
    }

  private:
    struct KeyState {
        typename A::State sum;
        F trigger;
        CountBounds bounds;          // positions of the records in the window
        std::uint64_t reported = 0;  // the end of the window that fired last
    };
    using Table = KeyedState<K, KeyState, KeyLife{.in_slices = true}>;

    [[nodiscard]] auto fresh() {
        return [this] { return KeyState{aggregate_.identity(), trigger_, {0, 0}}; };
    }

    void give(const K& key, KeyState& state, auto& emit) {
        state.reported = state.bounds.end;
        give_values(aggregate_, key, state.bounds, state.sum, [&](auto&& value) {
            Result result{key, state.bounds, std::move(value)};
            emit(result);
        });
    }

    F trigger_;
    [[no_unique_address]] KeyOf key_of_;
    [[no_unique_address]] A aggregate_;
    OpenWindows at_end_;
    Table table_;
    std::optional<decltype(std::declval<Table&>().begin())> finishing_;
};

}  // namespace strid::window
