// SPDX-License-Identifier: Apache-2.0
//
// The global window with a trigger of the user's: one window for each key, over all of its records
// since it was last cleared. The trigger sees every record and decides whether the window fires,
// and whether it is cleared after that.
//
// O(1) combinations per record. A key lives as long as the run, because its positions do.
//
// Threads: only the task of the node.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include <strid/engine/message/batch.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/window/result.hpp>

namespace strid::window {

/// The decision of a trigger after a record.
enum class Trigger : std::uint8_t {
    wait,           ///< Nothing.
    fire,           ///< The value of the window as it is; the window goes on.
    fire_and_clear  ///< The same, and the next record starts a new window.
};

/// A trigger is called as `Trigger f(const T& record)` with each record once that is in the window.
/// Each key has its own copy, which may count or remember.
template <class F, class T>
concept TriggerOf = std::copy_constructible<F> && requires(F& trigger, const T& record) {
    { trigger(record) } -> std::same_as<Trigger>;
};

/// The window of everything: `window(global(trigger), aggregate)`.
template <class F>
struct GlobalWindows {
    F trigger;  ///< Copied for each key.
};
/// The window of everything, which fires and is cleared when `trigger` says so.
template <class F>
[[nodiscard]] GlobalWindows<F> global(F trigger) {
    return {std::move(trigger)};
}

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

    auto state() { return state_with(aggregate_, table_); }

    void process(const message::Hashed<T>& arrived, auto& emit) {
        const T& record = arrived.record;
        auto& [hash, key, state] =
            table_.find_or_make(std::invoke(key_of_, record), arrived.hash, [this] {
                return KeyState{aggregate_.identity(), trigger_, {0, 0}};
            });
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
    using Table = KeyedState<K, KeyState>;

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
