// SPDX-License-Identifier: Apache-2.0
//
// Sessions by key: records of a key that follow each other by at most the gap are one window, from
// the first of them to the gap after the last. A session fires when the watermark passes its end;
// sessions fire in the order of their ends, those of the same end in the order in which their keys
// were first due. A record between two sessions makes them one.
//
// With lateness, a session that has fired still takes records until the watermark passes its end
// and the lateness. It then fires again with its new bounds: at once, or when its new end has
// passed. The results of one key that do not replace each other never overlap: a record whose own
// session would be closed at once is late unless it lies in the bounds of an open one, and so is
// one that touches a closed session. For the latter a session is kept for one gap longer than it
// takes records. With LateBy::own_input a record is late if it lies behind the watermark of its own
// input by more than the lateness: the sessions that a record in time may touch are then open,
// whatever the watermarks of other inputs are.
//
// Where rows are marked (Firing::updates), an emitted session that grows, or is merged with
// another, is retracted first, with the value that was emitted last. A record in time that touches
// a closed session opens it again.
//
// O(log live keys) per session and O(1) per record that extends the newest session of its key.
//
// Threads: only the task of the node. Invariant of each key: sessions rise, and lie further apart
// than the gap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/engine/message/batch.hpp>
#include <strid/engine/operator/agreed_time.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/engine/window/aggregates/add_record.hpp>
#include <strid/engine/window/aggregates/function_kind.hpp>
#include <strid/engine/window/operators/early.hpp>
#include <strid/engine/window/operators/firing.hpp>
#include <strid/engine/window/result_of.hpp>
#include <strid/engine/window/structures/deadlines.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/keyed_state.hpp>
#include <strid/window/result.hpp>
#include <strid/window/update.hpp>

namespace strid::window {

/// A function as sessions take it: two of them may become one, so that a fold has to keep its
/// records (window/aggregates/fold.hpp).
template <class A>
[[nodiscard]] auto of_sessions(A function) {
    if constexpr (requires { function.of_content(); }) {
        return function.of_content();
    } else {
        return function;
    }
}

template <class T, class KeyOf, class K, class TimeOf, class A, Firing firing = Firing::totals>
class KeyedSessions
    : public OperatorTypes<message::Hashed<T>, RowOf<firing, K, ResultOf<A, K, TimeBounds>>> {
    static constexpr bool marks = firing == Firing::updates;

  public:
    using Result = RowOf<firing, K, ResultOf<A, K, TimeBounds>>;
    using Options = OptionsOf<firing>;
    static constexpr OperatorTraits traits{
        .kind = "window",
        .emits = Emits::any_number,
        .hears = events<Restored, BatchBegins, Coming<message::Hashed<T>>, Watermark, Ended>,
        .has = Has::time_of | has_if(marks, Has::wake_at_ns),
        .needs_watermarks = true,
        .only_reads = true,
        .forgets_input = true,
        .finds_late = true};

    KeyedSessions(SessionWindows windows, KeyOf key_of, TimeOf time_of, A aggregate,
                  const Options& options)
        : windows_(windows),
          key_of_(std::move(key_of)),
          time_of_(std::move(time_of)),
          aggregate_(std::move(aggregate)),
          lateness_(of_window(options).lateness),
          at_end_(of_window(options).at_end),
          late_by_(of_window(options).late_by),
          early_(options) {}

    /// For the engine (engine/operator/agreed_time.hpp).
    auto& time_of() noexcept { return time_of_; }
    auto state() {
        auto keys = std::make_tuple(operators::states_by_key(keys_));
        if constexpr (marks) {
            return std::tuple_cat(state_with(aggregate_, std::move(keys), watermark_),
                                  std::make_tuple(operators::GreatestOf(early_.due_ns())));
        } else {
            return state_with(aggregate_, std::move(keys), watermark_);
        }
    }

    void on(Restored) {
        deadlines_.restore(keys_);
        if constexpr (marks) early_.restore(keys_);
    }

    void on(const BatchBegins& batch) noexcept {
        if (late_by_ == LateBy::own_input) taken_from_ = batch.watermark - lateness_;
    }
    [[nodiscard]] std::size_t on(Coming<message::Hashed<T>> coming) {
        return keys_.look_ahead(
            coming.records, [](const KeyState& state) { prefetch_object(state.sessions.data()); });
    }

    void process(const message::Hashed<T>& arrived, auto& emit) {
        const T& record = arrived.record;
        const EventTime time = time_of_(record);
        if (time < taken_from_) [[unlikely]]
            return emit.late(record);
        Entry& key = keys_.find_or_make(std::invoke(key_of_, record), arrived.hash,
                                        [] { return KeyState{}; });
        Session* const session = [&] {
            if constexpr (marks) return join_marked(key, time, emit);
            return join(key.state.sessions, time);
        }();
        if (session == nullptr) [[unlikely]] {
            if (key.state.sessions.empty()) keys_.expire(key);
            return emit.late(record);
        }
        add_record(aggregate_, session->state, record);
        session->fired = false;
        if (over(*session) > watermark_) [[likely]] {
            deadlines_.await(key, over(*session));
            if constexpr (marks) note_change(key, *session);
        } else {
            fire(key, *session, emit);
            deadlines_.await(key, dropping(*session));
        }
    }

    bool on(Watermark watermark, auto& emit) {
        if (!fire_up_to(watermark.time, emit)) return false;
        watermark_ = watermark.time;
        if constexpr (marks) return give_early(emit);
        return true;
    }
    /// When open sessions are to be given early; 0: not before a record comes.
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept
        requires marks
    {
        return early_.wake_at_ns();
    }

    bool on(Ended, auto& emit) {
        if (at_end_ == OpenWindows::drop) return true;
        return fire_up_to(EventTime::latest(), emit);
    }

  private:
    using State = typename A::State;
    /// The state of a session. All behind `fired` changes only where rows are marked.
    struct Session {
        EventTime start;
        EventTime end;  // the last record's time and the gap
        State state{};
        bool fired = false;
        bool replaces = false;     // it, or one that it is made of, was given
        bool given_early = false;  // with its bounds
        bool changed = false;      // since then
        [[no_unique_address]] EarlyStateOf<marks, State> early{};  // as it was given early
    };
    struct KeyState {
        void clear() {
            sessions.clear();
            deadline = {};
            early = 0;
        }
        std::vector<Session> sessions;
        Deadline deadline;
        std::uint64_t early = 0;  // as EarlyKeys needs it
    };
    using Keys =
        KeyedState<K, KeyState, KeyLife{.expires = true, .clears = true, .in_slices = true}>;
    using Entry = typename Keys::Entry;

    /// When the watermark shows that no record can extend it: a record at its very end still would.
    [[nodiscard]] static EventTime over(const Session& session) noexcept {
        return session.end + Duration{1};
    }
    [[nodiscard]] EventTime closing(const Session& session) const noexcept {
        return closing(session.end);
    }
    [[nodiscard]] EventTime closing(EventTime end) const noexcept {
        return end + Duration{1} + lateness_;
    }
    [[nodiscard]] bool is_closed(const Session& session) const noexcept {
        return closing(session) <= watermark_;
    }
    /// When nothing that is in time can touch it.
    [[nodiscard]] EventTime dropping(const Session& session) const noexcept {
        const bool is_kept = marks || late_by_ == LateBy::slowest_input;
        return is_kept ? closing(session) + windows_.gap() : closing(session);
    }

    /// The session that a record of this time belongs to, made or made one as need be. Null where
    /// the record is late.
    Session* join(std::vector<Session>& sessions, EventTime time) {
        auto [start, end] = windows_.of(time);
        if (!sessions.empty() && time >= sessions.back().start && time <= sessions.back().end) {
            if (is_closed(sessions.back())) [[unlikely]]
                return nullptr;
            sessions.back().end = std::max(sessions.back().end, end);
            return &sessions.back();
        }
        const auto [first, last] = touched(sessions, time, end);
        if (closing(end) <= watermark_) return held_open(first, last, time);
        if (first == last) return add_alone(sessions, first, {start, end});
        const auto closed = [this](const Session& session) { return is_closed(session); };
        if (std::any_of(first, last, closed)) return nullptr;
        return make_one(sessions, first, last,
                        {std::min(first->start, start), std::max(end, (last - 1)->end)});
    }

    using Place = typename std::vector<Session>::iterator;

    /// Those that a record touches: the first that ends at or behind its time, up to the last that
    /// begins before its own end.
    static std::pair<Place, Place> touched(std::vector<Session>& sessions, EventTime time,
                                           EventTime end) {
        const auto first =
            std::find_if(sessions.begin(), sessions.end(),
                         [time](const Session& session) { return session.end >= time; });
        const auto last = std::find_if(
            first, sessions.end(), [end](const Session& session) { return session.start > end; });
        return {first, last};
    }
    /// Of those that a record touches whose own session would be closed: the open one in whose
    /// bounds it lies, or null.
    Session* held_open(Place first, Place last, EventTime time) const noexcept {
        const bool is_within = first != last && time >= first->start && !is_closed(*first);
        return is_within ? &*first : nullptr;
    }
    Session* add_alone(std::vector<Session>& sessions, Place at, const TimeBounds& bounds) {
        return &*sessions.insert(at, Session{bounds.start, bounds.end, aggregate_.identity()});
    }
    Session* make_one(std::vector<Session>& sessions, Place first, Place last,
                      const TimeBounds& bounds) {
        first->start = bounds.start;
        first->end = bounds.end;
        for (auto other = first + 1; other != last; ++other) {
            first->state = aggregate_.combine(first->state, other->state);
            first->replaces |= other->replaces;
        }
        const auto at = first - sessions.begin();
        sessions.erase(first + 1, last);
        return &sessions[static_cast<std::size_t>(at)];
    }

    bool fire_up_to(EventTime watermark, auto& emit) {
        while (deadlines_.is_due(watermark)) {
            if (!emit.room()) return false;
            if (Entry* const key = deadlines_.pop(keys_))
                look_at(*key, key->state.deadline.at, emit);
        }
        return true;
    }

    /// Fires the session that is over at `now`, drops what is closed by then, and says when to look
    /// again.
    void look_at(Entry& key, EventTime now, auto& emit) {
        auto& sessions = key.state.sessions;
        for (Session& session : sessions) {
            if (!session.fired && over(session) == now) fire(key, session, emit);
        }
        std::erase_if(sessions, [&](const Session& session) {
            return session.fired && dropping(session) <= now;
        });
        if (sessions.empty()) {
            keys_.expire(key);
            return;
        }
        EventTime soonest = EventTime::latest();
        for (const Session& session : sessions) {
            soonest = std::min(soonest, session.fired ? dropping(session) : over(session));
        }
        deadlines_.await(key, soonest);
    }

    void fire(const Entry& key, Session& session, auto& emit) {
        give(key, session, emit, session.replaces ? Revision::again : Revision::first);
        session.fired = true;
        session.replaces = true;
        forget_early(session);
    }
    void give(const Entry& key, const Session& session, auto& emit, Revision revision) {
        give(key, {session.start, session.end}, session.state, emit, revision);
    }
    void give(const Entry& key, const TimeBounds& bounds, const State& state, auto& emit,
              [[maybe_unused]] Revision revision) {
        give_values(aggregate_, key.key, bounds, state, [&](auto&& value) {
            if constexpr (marks) {
                emit(Result{key.key, bounds, std::move(value), revision});
            } else {
                emit(Result{key.key, bounds, std::move(value)});
            }
        });
    }

    // ---- marked rows: Firing::updates ----------------------------------------------------------

    /// As join(), with sessions that were given taken back before their bounds change.
    Session* join_marked(Entry& key, EventTime time, auto& emit) {
        auto& sessions = key.state.sessions;
        const auto [start, end] = windows_.of(time);
        const auto [first, last] = touched(sessions, time, end);
        if (closing(end) <= watermark_) return held_open(first, last, time);
        if (first == last) return add_alone(sessions, first, {start, end});
        const TimeBounds bounds{std::min(first->start, start), std::max(end, (last - 1)->end)};
        for (auto session = first; session != last; ++session) {
            if (TimeBounds{session->start, session->end} == bounds) continue;
            if (session->given_early) {
                give(key, {session->start, session->end}, session->early.state(), emit,
                     Revision::retracted);
            } else if (session->fired) {
                give(key, *session, emit, Revision::retracted);
            }
            forget_early(*session);
        }
        return make_one(sessions, first, last, bounds);
    }

    static void forget_early(Session& session) noexcept {
        session.given_early = false;
        if constexpr (marks) session.early.forget();
    }
    void note_change(Entry& key, Session& session) {
        if (!early_.on()) return;
        session.changed = true;
        early_.changed(key);
    }

    bool give_early(auto& emit) {
        return early_.write(emit, keys_, [&](Entry& key) {
            for (Session& session : key.state.sessions) {
                if (!std::exchange(session.changed, false) || session.fired) continue;
                give(key, session, emit, Revision::early);
                session.given_early = true;
                session.early.keep(session.state);
            }
        });
    }

    SessionWindows windows_;
    [[no_unique_address]] KeyOf key_of_;
    [[no_unique_address]] operators::AgreedTime<TimeOf> time_of_;
    [[no_unique_address]] A aggregate_;
    Duration lateness_;
    OpenWindows at_end_;
    LateBy late_by_;
    EventTime taken_from_ = EventTime::earliest();
    EventTime watermark_ = EventTime::earliest();
    Keys keys_;
    Deadlines<Entry> deadlines_;
    [[no_unique_address]] std::conditional_t<marks, EarlyKeys<Entry>, NoEarlyKeys> early_;
};

}  // namespace strid::window
