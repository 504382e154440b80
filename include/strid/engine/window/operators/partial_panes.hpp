// SPDX-License-Identifier: Apache-2.0
//
// Combining before sending: the first level of combined windows. The replicas that have the records
// add them to states of (key, pane) where they are; what leaves is a state with its number of
// records, when the watermark reaches the end of the pane's first window. Where a state is small it
// is cheaper to add a record to it than to send the record, so the edge behind carries next to
// nothing, whatever the keys' skew.
//
// The states stand in a table of fixed size, one place for each hash: a state whose place another
// one needs leaves early, and the second level combines the parts. So memory does not grow with the
// keys. Where there are so many keys that few records find their state, records go on one by one,
// as they would without this level, and now and then it is tried again.
//
// Invariant: every record is in exactly one part; a part of several records leaves before the
// watermark, or the notice that the stream is idle, that would make it late. A record that is late
// here goes on alone: the second level decides whether it is late for all.
//
// Threads: only the task of the node. O(1) a record, no allocation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/operator/agreed_time.hpp>
#include <strid/engine/window/aggregates/add_record.hpp>
#include <strid/engine/window/aggregates/function_kind.hpp>
#include <strid/engine/window/result_of.hpp>
#include <strid/operator/contract.hpp>
#include <strid/window/aggregates/aggregate.hpp>
#include <strid/window/spec.hpp>

namespace strid::window {

/// The combined state of some records of a key in a pane.
template <class K, class State>
struct PanePart {
    K key;
    EventTime time;  ///< The first moment of the pane.
    State value;
    std::uint64_t records;
};

template <class K, class State>
[[nodiscard]] constexpr std::uint64_t records_in(const PanePart<K, State>& part) noexcept {
    return part.records;
}

/// A state is small enough that adding to it costs less than sending a record, and a key is a plain
/// number: what combined windows are for.
template <class A, class K>
inline constexpr bool combines_before_sending =
    is_commutative<A> && has_small_state<A> && (std::is_integral_v<K> || std::is_enum_v<K>);

template <class T, class KeyOf, class K, class TimeOf, class A>
class PartialPanes : public OperatorTypes<T, PanePart<K, typename A::State>> {
    using State = typename A::State;
    using Index = TimeWindows::Index;

  public:
    using Part = PanePart<K, State>;
    static constexpr OperatorTraits traits{.kind = "combine",
                                           .emits = Emits::any_number,
                                           .hears = events<Opened, Watermark, Ended>,
                                           .has = Has::time_of,
                                           .needs_watermarks = true,
                                           .only_reads = true};

    PartialPanes(TimeWindows windows, KeyOf key_of, TimeOf time_of, A aggregate)
        : windows_(windows),
          key_of_(std::move(key_of)),
          time_of_(std::move(time_of)),
          aggregate_(std::move(aggregate)) {}

    /// For the engine (engine/operator/agreed_time.hpp).
    auto& time_of() noexcept { return time_of_; }
    auto state() {
        return std::tie(places_, taken_, watermark_, first_end_, alone_, judged_parts_,
                        judged_records_);
    }
    void on(const Opened&) {
        places_.assign(place_count, {});
        taken_.reserve(places_.size());
    }

    [[gnu::always_inline]] void process(const T& record, auto& emit) {
        const EventTime time = time_of_(record);
        if (time < at_pane_.start || time >= at_pane_.end) [[unlikely]] {
            go_to_pane(time);
            if (pane_ == no_pane) return send_alone(record, emit);
        }
        const K key = std::invoke(key_of_, record);
        Place& place = places_[place_of(key)];
        if (place.key == key && place.pane == pane_) [[likely]] {
            add_record(aggregate_, place.state, record);
            ++place.records;
            return;
        }
        begin(place, key, record, emit);
    }

    bool on(Watermark watermark, auto& emit) {
        if (watermark.idle) return send_due(EventTime::latest(), emit);
        if (watermark.time >= first_end_ && !send_due(watermark.time, emit)) return false;
        watermark_ = watermark.time;
        return true;
    }
    bool on(Ended, auto& emit) { return send_due(EventTime::latest(), emit); }

  private:
    /// The pane of free places. Records at the very beginning of time lie in this pane; they have
    /// no place and go on one by one.
    static constexpr Index no_pane = std::numeric_limits<Index>::min();
    struct Place {
        K key{};
        Index pane = no_pane;
        State state{};
        std::uint64_t records = 0;            // 0: the place is free
        EventTime end = EventTime::latest();  // of the first window that has the pane
    };
    static constexpr int place_bits = 12;
    static constexpr std::size_t place_count = std::size_t{1} << place_bits;
    // Parts that leave before it is seen what they save, and records that go alone where it is too
    // little.
    static constexpr std::uint32_t judged_together = 4'096;
    static constexpr std::uint32_t sent_alone = 16 * judged_together;

    /// Numbers that follow each other, as keys often do, have places of their own: two keys that
    /// want one place send a part for nearly every record. These places lie apart, by the golden
    /// section: side by side they are 8 % slower (`yahoo_bench`, one worker, from memory). Numbers
    /// that lie further apart are spread by what the bits above add.
    [[nodiscard]] static std::size_t place_of(K key) noexcept {
        constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;              // of 2^64
        constexpr std::uint64_t apart = golden_ratio >> (64 - place_bits) | 1;  // odd: 1 to 1
        const auto bits = static_cast<std::uint64_t>(key);
        const std::uint64_t above = (bits >> place_bits) * golden_ratio >> (64 - place_bits);
        return (bits * apart + above) & (place_count - 1);
    }

    /// Moves to the pane of this time; its values are kept as long as records lie in it.
    void go_to_pane(EventTime time) {
        pane_ = windows_.pane_of(time);
        at_pane_ = windows_.pane_bounds(pane_);
        const auto containing = windows_.with_pane(pane_);
        end_ = windows_.bounds(containing.first).end;
        in_gap_ = containing.size() <= 0 || pane_ >= windows_.panes(containing.end - 1).end;
    }

    /// A record that does not find its state.
    [[gnu::noinline]] void begin(Place& place, K key, const T& record, auto& emit) {
        if (in_gap_) return;
        Place one{key, pane_, aggregate_.lift(record), 1, end_};
        if (end_ <= watermark_ || alone_ != 0) {
            if (alone_ != 0) --alone_;
            send(one, emit);
            return;
        }
        first_end_ = std::min(first_end_, end_);
        std::swap(place, one);
        if (one.records == 0) {
            taken_.push_back(static_cast<std::uint32_t>(&place - places_.data()));
        } else {
            judge(one.records);
            send(one, emit);
        }
    }

    [[gnu::noinline]] void send_alone(const T& record, auto& emit) {
        at_pane_ = nowhen;  // so that the next one comes here too
        if (in_gap_) return;
        send({std::invoke(key_of_, record), pane_, aggregate_.lift(record), 1, end_}, emit);
    }

    void send(const Place& place, auto& emit) {
        Part part{place.key, windows_.pane_bounds(place.pane).start, place.state, place.records};
        emit(part);
    }

    /// Lets the states go of which a window ends by `watermark`, while there is room. True once all
    /// are gone.
    bool send_due(EventTime watermark, auto& emit) {
        while (looked_at_ != taken_.size()) {
            Place& place = places_[taken_[looked_at_]];
            if (place.end > watermark) {
                kept_end_ = std::min(kept_end_, place.end);
                taken_[kept_++] = taken_[looked_at_++];
                continue;
            }
            if (!emit.room()) return false;
            ++looked_at_;
            judge(place.records);
            send(std::exchange(place, {}), emit);
        }
        taken_.resize(std::exchange(kept_, 0));
        looked_at_ = 0;
        first_end_ = std::exchange(kept_end_, EventTime::latest());
        return true;
    }

    /// Counts what a part has saved; where parts of fewer than two records leave on the whole,
    /// records go on alone for a while.
    void judge(std::uint64_t records) noexcept {
        judged_records_ += records;
        if (++judged_parts_ != judged_together) return;
        if (judged_records_ < 2 * judged_together) alone_ = sent_alone;
        judged_parts_ = 0;
        judged_records_ = 0;
    }

    TimeWindows windows_;
    [[no_unique_address]] KeyOf key_of_;
    [[no_unique_address]] operators::AgreedTime<TimeOf> time_of_;
    [[no_unique_address]] A aggregate_;
    static constexpr TimeBounds nowhen{EventTime::latest(), EventTime::earliest()};
    TimeBounds at_pane_ = nowhen;  // of the last record's pane
    Index pane_ = 0;
    EventTime end_ = EventTime::earliest();  // of the first window that has it
    bool in_gap_ = false;                    // it lies between two windows
    EventTime watermark_ = EventTime::earliest();
    std::vector<Place> places_;
    std::vector<std::uint32_t> taken_;           // places in use
    EventTime first_end_ = EventTime::latest();  // of the windows that have their panes
    std::size_t looked_at_ = 0;                  // of `taken_`, while states are let go
    std::size_t kept_ = 0;                       // of these
    EventTime kept_end_ = EventTime::latest();   // and the first end of a window of theirs
    std::uint32_t alone_ = 0;                    // records to go on one by one
    std::uint32_t judged_parts_ = 0;
    std::uint64_t judged_records_ = 0;
};

}  // namespace strid::window
