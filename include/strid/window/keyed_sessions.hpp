// SPDX-License-Identifier: Apache-2.0
//
// Sessions by key: records of a key that follow each other by at most the gap are one window, from
// the first of them to the gap after the last. A session fires when the watermark passes its end;
// sessions fire in the order of their ends, those of the same end in the order in which their keys
// were first due. A record between two sessions makes them one.
//
// With lateness, a session that has fired still takes records until its end and the lateness have
// passed, and fires again as what it became: at once, or when its new end has passed. A record
// whose session would be closed at once is late. By the promise of its own input (LateBy) it is
// late where it breaks that by more than the lateness: the sessions that it may touch are then open
// for sure, whatever the other inputs say.
//
// O(log live keys) per session and O(1) per record that extends the newest session of its key.
//
// Threads: only the task of the node. The law, per key: sessions rise, and lie further apart than
// the gap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <strid/message/batch.hpp>
#include <strid/operator/late_output.hpp>
#include <strid/operator/stage.hpp>
#include <strid/window/deadlines.hpp>
#include <strid/window/key_states.hpp>
#include <strid/window/result.hpp>

namespace strid::window {

/// A function as sessions take it: two of them may become one, so that a fold has to keep its
/// records (window/fold.hpp).
template <class A>
[[nodiscard]] auto of_sessions(A function) {
    if constexpr (requires { function.of_content(); }) {
        return function.of_content();
    } else {
        return function;
    }
}

template <class T, class KeyOf, class K, class TimeOf, class A, bool keeps_late>
class KeyedSessions {
  public:
    using Result = WindowResult<K, ResultOf<A, K, TimeBounds>>;
    using Out = operators::LateOutput<Result, T, keeps_late>;
    static constexpr bool selective = true;
    static constexpr bool only_reads = true;
    static constexpr bool forgets_input = !keeps_late;

    KeyedSessions(SessionWindows windows, KeyOf key_of, TimeOf time_of, A aggregate,
                  const WindowOptions& options)
        : windows_(windows),
          key_of_(std::move(key_of)),
          time_of_(std::move(time_of)),
          aggregate_(std::move(aggregate)),
          lateness_(options.lateness),
          at_end_(options.at_end),
          late_by_(options.late_by) {}

    /// What the sender of the records that follow has promised.
    void begin_batch(EventTime promised, std::size_t) noexcept {
        if (late_by_ == LateBy::own_input) taken_from_ = promised - lateness_;
    }

    [[nodiscard]] std::size_t look_ahead(const message::Hashed<T>* arrived, std::size_t count) {
        return keys_.look_ahead(arrived, count, key_of_, [](const KeyState& state) {
            prefetch_object(state.sessions.data());
        });
    }

    template <class Next>
    void operator()(message::Hashed<T>& arrived, Next&& next) {
        const T& record = arrived.record;
        const EventTime time = std::invoke(time_of_, record);
        if (time < taken_from_) [[unlikely]] {
            ++late_;
            Out::late(next, record);
            return;
        }
        Entry& key = keys_.find_or_make(std::invoke(key_of_, record), arrived.hash,
                                        [] { return KeyState{}; });
        Session* session = join(key.state.sessions, time);
        if (session == nullptr) [[unlikely]] {
            ++late_;
            if (key.state.sessions.empty()) keys_.expire(key);
            Out::late(next, record);
            return;
        }
        add_record(aggregate_, session->state, record);
        session->fired = false;
        if (over(*session) > watermark_) [[likely]] {
            deadlines_.await(key, over(*session));
        } else {
            fire(key, *session, next);
            deadlines_.await(key, closing(*session));
        }
    }

    template <class Next, class Ready>
    bool advance(EventTime watermark, Next&& next, Ready&& ready) {
        if (!fire_up_to(watermark, next, ready)) return false;
        watermark_ = watermark;
        return true;
    }

    template <class Next, class Ready>
    bool finish(Next&& next, Ready&& ready) {
        if (at_end_ == OpenWindows::drop) return true;
        return fire_up_to(EventTime::latest(), next, ready);
    }

    [[nodiscard]] std::uint64_t take_late() noexcept { return std::exchange(late_, 0); }
    [[nodiscard]] auto& texts() noexcept
        requires operators::key_holds_text<K>
    {
        return keys_.texts();
    }

  private:
    struct Session {
        EventTime start;
        EventTime end;  // the last record's time and the gap
        typename A::State state{};
        bool fired = false;
    };
    struct KeyState {
        void clear() {
            sessions.clear();
            deadline = {};
        }
        std::vector<Session> sessions;
        Deadline deadline;
    };
    using Keys = KeyStates<K, KeyState>;
    using Entry = typename Keys::Entry;

    /// When the watermark says that no record can extend it: one at its very end still would.
    [[nodiscard]] static EventTime over(const Session& session) noexcept {
        return session.end + Duration{1};
    }
    [[nodiscard]] EventTime closing(const Session& session) const noexcept {
        return over(session) + lateness_;
    }

    /// The session that a record of this time belongs to, made or made one as need be. Null where
    /// it would be closed at once.
    Session* join(std::vector<Session>& sessions, EventTime time) {
        auto [start, end] = windows_.of(time);
        if (!sessions.empty() && time >= sessions.back().start && time <= sessions.back().end) {
            sessions.back().end = std::max(sessions.back().end, end);
            return &sessions.back();
        }
        // Those it touches: the first that ends at or behind its time, up to the last that begins
        // before its own end.
        const auto first =
            std::find_if(sessions.begin(), sessions.end(),
                         [time](const Session& session) { return session.end >= time; });
        const auto last = std::find_if(
            first, sessions.end(), [&end](const Session& session) { return session.start > end; });
        if (first == last) {
            Session alone{start, end, aggregate_.identity()};
            if (closing(alone) <= watermark_) return nullptr;
            return &*sessions.insert(first, std::move(alone));
        }
        first->start = std::min(first->start, start);
        first->end = std::max(end, (last - 1)->end);
        for (auto other = first + 1; other != last; ++other) {
            first->state = aggregate_.combine(first->state, other->state);
        }
        const auto at = first - sessions.begin();
        sessions.erase(first + 1, last);
        return &sessions[static_cast<std::size_t>(at)];
    }

    template <class Next, class Ready>
    bool fire_up_to(EventTime watermark, Next& next, Ready& ready) {
        while (deadlines_.is_due(watermark)) {
            if (!ready()) return false;
            if (Entry* const key = deadlines_.pop()) look_at(*key, key->state.deadline.at, next);
        }
        return true;
    }

    /// Fires the session that is over at `now`, drops what is closed by then, and says when to look
    /// again.
    template <class Next>
    void look_at(Entry& key, EventTime now, Next& next) {
        auto& sessions = key.state.sessions;
        for (Session& session : sessions) {
            if (!session.fired && over(session) == now) fire(key, session, next);
        }
        std::erase_if(sessions, [&](const Session& session) {
            return session.fired && closing(session) <= now;
        });
        if (sessions.empty()) {
            keys_.expire(key);
            return;
        }
        EventTime soonest = EventTime::latest();
        for (const Session& session : sessions) {
            soonest = std::min(soonest, session.fired ? closing(session) : over(session));
        }
        deadlines_.await(key, soonest);
    }

    template <class Next>
    void fire(const Entry& key, Session& session, Next& next) {
        session.fired = true;
        const TimeBounds bounds{session.start, session.end};
        give_values(aggregate_, key.key, bounds, session.state, [&](auto&& value) {
            Out::result(next, {key.key, bounds, std::move(value)});
        });
    }

    SessionWindows windows_;
    [[no_unique_address]] KeyOf key_of_;
    [[no_unique_address]] TimeOf time_of_;
    [[no_unique_address]] A aggregate_;
    Duration lateness_;
    OpenWindows at_end_;
    LateBy late_by_;
    EventTime taken_from_ = EventTime::earliest();
    EventTime watermark_ = EventTime::earliest();
    std::uint64_t late_ = 0;
    Keys keys_;
    Deadlines<Entry> deadlines_;
};

}  // namespace strid::window
