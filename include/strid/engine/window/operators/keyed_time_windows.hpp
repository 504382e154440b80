// SPDX-License-Identifier: Apache-2.0
//
// Windows of event time by key (paper 2, keyed windows): tumbling, sliding, hopping. A record is
// lifted into the pane that it lies in, the longest piece of time that no window divides, so its
// cost does not depend on how many windows overlap. When the watermark passes the end of a window,
// its panes are combined to the result, reusing the combinations that the window before it made
// (engine/window/structures/panes.hpp). A fold cannot be combined: it goes on in each window.
//
// Every window in which a key has a record fires once, in the order of the ends; keys of the same
// end in the order in which their panes came. With lateness, a window fires again for each record
// that comes between its end and its closing; a function with `give_new` then gives what is new. A
// record all of whose windows are closed is late. With LateBy::own_input a record is late if one of
// its windows is over by the watermark of its own input: that window may still be open for other
// inputs, and shares its panes with later windows. Records of a pane are combined in the order in
// which they came, panes in the order of time. Where rows are marked (Firing::updates) see
// time_updates.hpp.
//
// Threads: only the task of the node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include <strid/engine/base/assert.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/agreed_time.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/engine/window/aggregates/function_kind.hpp>
#include <strid/engine/window/operators/firing.hpp>
#include <strid/engine/window/operators/time_updates.hpp>
#include <strid/engine/window/result_of.hpp>
#include <strid/engine/window/structures/panes.hpp>
#include <strid/engine/window/structures/turns.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/window/result.hpp>
#include <strid/window/update.hpp>

namespace strid::window {

template <class T, class KeyOf, class K, class TimeOf, class A, Firing firing = Firing::totals>
class KeyedTimeWindows
    : public OperatorTypes<message::Hashed<T>, RowOf<firing, K, ResultOf<A, K, TimeBounds>>> {
    static constexpr bool marks = firing == Firing::updates;

  public:
    using Result = RowOf<firing, K, ResultOf<A, K, TimeBounds>>;
    using Options = OptionsOf<firing>;
    static constexpr OperatorTraits traits{
        .kind = "window",
        .emits = Emits::any_number,
        .hears =
            events<Opened, Restored, BatchBegins, Coming<message::Hashed<T>>, Watermark, Ended>,
        .has = Has::time_of | has_if(marks, Has::wake_at_ns) | Has::facts,
        .needs_watermarks = true,
        .only_reads = true,
        // A part that comes late goes on with the key of its record.
        .forgets_input = firing != Firing::parts,
        .finds_late = true};

    KeyedTimeWindows(TimeWindows windows, KeyOf key_of, TimeOf time_of, A aggregate,
                     const Options& options)
        : windows_(windows),
          key_of_(std::move(key_of)),
          time_of_(std::move(time_of)),
          aggregate_(std::move(aggregate)),
          lateness_(of_window(options).lateness),
          at_end_(of_window(options).at_end),
          late_by_(of_window(options).late_by),
          updates_(options) {}

    /// For the engine (engine/operator/agreed_time.hpp).
    auto& time_of() noexcept { return time_of_; }
    /// The keys with their turns, and the watermark, from which follows what is closed. The engine
    /// counts keys of windows that were given once, with the others.
    auto state() {
        const auto fresh = [this] { return KeyState(aggregate_); };
        auto keys = std::make_tuple(operators::states_by_key(keys_, fresh, aggregate_));
        return std::tuple_cat(state_with(aggregate_, std::move(keys), watermark_),
                              updates_.state());
    }
    [[nodiscard]] OperatorFacts facts() const { return {.shares_broadcast = all_.has_value()}; }
    /// The replicas have every record, and each fires every n-th window: window farming.
    void farm() { all_ = windows_; }

    void on(const Opened& opened) {
        if (!all_) return;
        context_ = opened.context;
        windows_ = all_->share(context_.replica, context_.parallelism);
        // The collector keeps results for longer than their batches live.
        if constexpr (Keys::holds_text) keys_.texts().keep_for_good();
    }

    void on(Restored) {
        turns_.restore(keys_, windows_.end_over(watermark_));
        closed_ = windows_.end_over(watermark_ - lateness_);
        if constexpr (marks) updates_.early.restore(keys_);
    }
    void on(const BatchBegins& batch) noexcept {
        if (late_by_ == LateBy::own_input) {
            taken_from_ = windows_.end_over(batch.watermark - lateness_);
        }
    }
    [[nodiscard]] std::size_t on(Coming<message::Hashed<T>> coming) {
        return keys_.look_ahead(coming.records,
                                [](const KeyState& state) { state.panes.prefetch(); });
    }

    void process(const message::Hashed<T>& arrived, auto& emit) {
        const T& record = arrived.record;
        const EventTime time = time_of_(record);
        if (time < at_pane_.start || time >= at_pane_.end) [[unlikely]]
            go_to_pane(time);
        if (in_windows_.size() <= 0) [[unlikely]] {
            if (in_windows_ == beyond && emits_late(time)) emit.late(record, records_in(record));
            return;  // else between two windows
        }
        if (in_windows_.end <= closed_ || in_windows_.first < taken_from_) [[unlikely]] {
            if (emits_late(time)) emit.late(record, records_in(record));
            return;
        }
        if constexpr (firing == Firing::parts) {
            if (in_windows_.end <= turns_.position()) [[unlikely]] {
                fire_part(std::invoke(key_of_, record), in_windows_, record, emit);
                return;
            }
        }
        Entry& key = keys_.find_or_make(std::invoke(key_of_, record), arrived.hash,
                                        [this] { return KeyState(aggregate_); });
        const Index first = std::max(in_windows_.first, closed_);
        if constexpr (marks) {
            updates_.note(key, {first, in_windows_.end}, turns_.position(), has_record());
        }
        if constexpr (folds) {
            key.state.panes.add(aggregate_, {first, in_windows_.end}, record);
        } else {
            key.state.panes.add(aggregate_, pane_, record);
        }
        if (first < turns_.position()) [[unlikely]]
            fire_again(key, {first, std::min(in_windows_.end, turns_.position())}, record, emit);
        turns_.await(key, std::max(first, turns_.position()));
    }

    /// Fires what the watermark has passed while there is room. True once all has.
    bool on(Watermark watermark, auto& emit) {
        if (!fire_up_to(windows_.end_over(watermark.time), emit)) return false;
        watermark_ = watermark.time;
        closed_ = windows_.end_over(watermark.time - lateness_);
        if constexpr (marks) return give_early(emit);
        return true;
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept
        requires marks
    {
        return updates_.early.wake_at_ns();
    }

    bool on(Ended, auto& emit) {
        if (at_end_ == OpenWindows::drop) return true;
        return fire_up_to(std::numeric_limits<Index>::max(), emit);
    }

  private:
    using Index = TimeWindows::Index;
    using Panes = PanesOf<A>;
    /// A fold has a state for each window, any other function for each pane.
    static constexpr bool folds = only_goes_forward<A>;

    struct KeyState : ChangedWindowsOf<firing> {
        explicit KeyState(const A& aggregate) : panes(aggregate) {}
        void clear() {
            panes.clear();
            turn = {};
            this->forget_changes();
        }
        auto state() {
            return std::tie(static_cast<ChangedWindowsOf<firing>&>(*this), panes, turn);
        }

        Panes panes;  // of windows that are not closed
        Turn turn;
    };
    using Keys =
        KeyedState<K, KeyState, KeyLife{.expires = true, .clears = true, .in_slices = true}>;
    using Entry = typename Keys::Entry;

    /// The window that is firing, for one key after another.
    struct FiringWindow {
        Index window;
        TimeBounds bounds;
        WindowRange<Index> panes;
        WindowRange<Index> next_panes;  // of the window behind it
        Index first_kept;               // pane, of those that windows behind it may need
    };
    /// The windows of a time that lies beyond their numbers.
    static constexpr WindowRange<Index> beyond{1, 0};

    void go_to_pane(EventTime time) {
        pane_ = windows_.pane_of(time);
        at_pane_ = windows_.pane_bounds(pane_);
        in_windows_ = windows_.with_pane(pane_);
        const auto panes = windows_.panes(in_windows_.end - 1);
        if (pane_ >= panes.end) in_windows_.first = in_windows_.end;  // in a gap
        if (!windows_.has_number(time)) in_windows_ = beyond;
    }

    [[nodiscard]] WindowRange<Index> panes_of(Index window) const noexcept {
        if constexpr (folds) return {window, strid::detail::saturating_add(window, 1)};
        return windows_.panes(window);
    }
    [[nodiscard]] WindowRange<Index> with_pane(Index pane) const noexcept {
        if constexpr (folds) return {pane, strid::detail::saturating_add(pane, 1)};
        return windows_.with_pane(pane);
    }

    bool fire_up_to(Index end, auto& emit) {
        for (;;) {
            if (!emit.room()) return false;
            Entry* key = nullptr;
            if constexpr (marks) {
                if (updates_.gives_of_gap(
                        [&](const K& of, Index window) { give_empty(of, window, emit); })) {
                    continue;
                }
                key = updates_.take_held();
            }
            if (key == nullptr) {
                Index window = 0;
                if (!turns_.pop(end, keys_, window, key)) return true;
                if (looked_ahead_ == 0) looked_ahead_ = 1 + look_ahead_of_firing();
                --looked_ahead_;
                if (key == nullptr) continue;  // put forward, or another key's now
                if (!firing_ || firing_->window != window) firing_ = at_window(window);
                if constexpr (marks) {
                    if (updates_.waits_for_gap(*key, window, has_record())) continue;
                }
            }
            fire(*key, emit);
            await_next(*key);
        }
    }

    /// Brings near what the next keys that fire need; returns how many keys.
    [[nodiscard]] std::size_t look_ahead_of_firing() {
        const bool tumbles = windows_.length() == windows_.slide();
        return keys_.look_ahead_in(turns_.at_hand(), tumbles,
                                   [](const KeyState& state) { state.panes.prefetch_all(); });
    }

    [[nodiscard]] FiringWindow at_window(Index window) const noexcept {
        return {window, windows_.bounds(window), panes_of(window), panes_of(window + 1),
                panes_of(closed_by(window + 1)).first};
    }

    void fire(Entry& entry, auto& emit) {
        entry.state.panes.slide_to(aggregate_, firing_->panes, [&](const auto& sum) {
            give_sum(entry.key, firing_->bounds, sum, emit);
        });
    }

    template <class Sum>
    void give_sum(const K& key, const TimeBounds& bounds, const Sum& sum, auto& emit,
                  [[maybe_unused]] Revision revision = Revision::first) {
        give_values(aggregate_, key, bounds, sum, [&](auto&& value) {
            if constexpr (marks) {
                emit(Result{key, bounds, std::move(value), revision});
            } else {
                emit(Result{key, bounds, std::move(value)});
            }
        });
    }

    /// Lets go of the panes that no window needs that may still change, and of the key when it has
    /// none; else says when to look at it next.
    void await_next(Entry& entry) {
        Panes& panes = entry.state.panes;
        panes.drop_before(firing_->first_kept);
        if (panes.empty()) {
            keys_.expire(entry);
            return;
        }
        // The next window that has a pane which the last one had, or one that came behind it.
        const Index window = firing_->window + 1;
        const auto needed = firing_->next_panes;
        if (panes.newest() >= needed.first) {
            const Index pane = panes.first_from(needed.first);
            turns_.await(entry,
                         pane < needed.end ? window : std::max(window, with_pane(pane).first));
        } else {
            turns_.await(entry, closing_of(with_pane(panes.oldest()).end - 1));
        }
    }

    /// Windows before this one are closed when those before `window` have fired, or may be.
    [[nodiscard]] Index closed_by(Index window) const noexcept {
        return strid::detail::saturating_subtract(window, late_windows());
    }
    /// Once the returned window has fired, `window` is certainly closed.
    [[nodiscard]] Index closing_of(Index window) const noexcept {
        return strid::detail::saturating_add(window, late_windows() + 1);
    }
    [[nodiscard]] Index late_windows() const noexcept {
        if (firing == Firing::parts || lateness_ == Duration::zero()) return 0;
        return windows_.windows_within(lateness_);
    }

    /// Of replicas that share the windows the one that has the last window of a time.
    [[nodiscard]] bool emits_late(EventTime time) const noexcept {
        if (!all_) return true;
        const auto replicas = static_cast<Index>(context_.parallelism);
        const Index turn = (all_->containing(time).end - 1) % replicas;
        return (turn < 0 ? turn + replicas : turn) == static_cast<Index>(context_.replica);
    }

    void fire_part(const K& key, WindowRange<Index> fired, const T& record, auto& emit) {
        const auto part = aggregate_.lift(record);
        for (Index window = std::max(fired.first, closed_); window < fired.end; ++window) {
            give_sum(key, windows_.bounds(window), part, emit);
        }
    }

    /// A late record changed windows that have fired.
    void fire_again(const Entry& entry, WindowRange<Index> fired, const T& record, auto& emit) {
        if constexpr (firing == Firing::parts) return fire_part(entry.key, fired, record, emit);
        if constexpr (marks) {
            return updates_.give_again(
                entry, fired,
                [&](Index window, Revision revision) { give(entry, window, revision, emit); },
                [&](const K& key, Index window) { give_empty(key, window, emit); });
        }
        const auto& panes = entry.state.panes;
        for (Index window = fired.first; window < fired.end; ++window) {
            const auto bounds = windows_.bounds(window);
            const auto& sum = panes.sum(aggregate_, panes_of(window));
            if constexpr (requires { aggregate_.give_new(record, sum, [](auto&&) {}); }) {
                aggregate_.give_new(record, sum, [&](auto&& value) {
                    emit(Result{entry.key, bounds, std::move(value)});
                });
            } else {
                give_sum(entry.key, bounds, sum, emit);
            }
        }
    }

    // ---- marked rows: Firing::updates ----------------------------------------------------------

    /// Gives a window of a key as it is now, or with the value of no record.
    void give(const Entry& entry, Index window, Revision revision, auto& emit) {
        give_sum(entry.key, windows_.bounds(window),
                 entry.state.panes.sum(aggregate_, panes_of(window)), emit, revision);
    }
    /// Not one without length: a day that the clocks of the zone skipped.
    void give_empty(const K& key, Index window, auto& emit) {
        const TimeBounds bounds = windows_.bounds(window);
        if (bounds.start != bounds.end) give_sum(key, bounds, aggregate_.identity(), emit);
    }
    /// Says whether a key has a record in a window.
    [[nodiscard]] auto has_record() const {
        return [this](const Entry& entry, Index window) {
            return has_pane(entry.state.panes, panes_of(window));
        };
    }

    bool give_early(auto& emit) {
        return updates_.early.write(emit, keys_, [&](Entry& entry) {
            for (const Index window : entry.state.take_changes(turns_.position())) {
                if (has_record()(entry, window)) give(entry, window, Revision::early, emit);
            }
        });
    }

    TimeWindows windows_;
    std::optional<TimeWindows> all_;  // of all replicas, where these share them
    Context context_;
    [[no_unique_address]] KeyOf key_of_;
    [[no_unique_address]] operators::AgreedTime<TimeOf> time_of_;
    [[no_unique_address]] A aggregate_;
    Duration lateness_;
    OpenWindows at_end_;
    LateBy late_by_;
    TimeBounds at_pane_{EventTime::latest(), EventTime::earliest()};  // of the last record's pane
    Index pane_ = 0;
    WindowRange<Index> in_windows_{};  // and the windows that have it
    std::optional<FiringWindow> firing_;
    std::size_t looked_ahead_ = 0;  // of the keys that fire
    EventTime watermark_ = EventTime::earliest();
    Index closed_ = std::numeric_limits<Index>::min();
    Index taken_from_ = std::numeric_limits<Index>::min();  // for the records of this batch
    Keys keys_;
    Turns<Entry> turns_;
    [[no_unique_address]] TimeUpdatesOf<firing, K, Entry> updates_;
};

}  // namespace strid::window
