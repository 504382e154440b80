// SPDX-License-Identifier: Apache-2.0
//
// Sessions, as engine/window/operators/keyed_sessions.hpp has them: a list of sessions for each
// key, in the order of time, which lie further apart than the gap; and a heap of the times at which
// one fires or is dropped. A session that has become part of another stays as a record until the
// heap lets go of it, and points to the other, so that rows of the chunk find it.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include <strid/state/codec.hpp>

#include "window_operator.hpp"

namespace strid::table {

namespace {

struct Session {
    std::int64_t start;
    std::int64_t end;       // the last row's time and the gap
    std::int64_t looks_at;  // the time of the entry of the heap that counts
    Session* next;          // of the key
    Session* part_of;       // it has become part of another; or it is gone, and this is itself
    Group* key;
    std::uint32_t number;
    std::uint32_t entries;  // of the heap; each change of a session that has fired adds one
    bool has_fired;
};
static_assert(sizeof(Session) % 8 == 0);

class SessionWindowed final : public WindowOperator {
  public:
    SessionWindowed(const WindowSpec& spec, const Schema& schema, OnFault on_fault)
        : WindowOperator(spec, schema, on_fault),
          windows_(std::get<window::SessionWindows>(spec.windows)),
          table_(keys_, sizeof(Session*)),
          pool_(sizeof(Session) + aggregates_.bytes()),
          sessions_(chunk_rows_max) {}
    ~SessionWindowed() override {
        for (const Due& due : heap_) {
            if (due.session->part_of == nullptr) aggregates_.release(state(due.session));
        }
    }

    void process(Chunk&& arrived, ChunkOutput& output) override {
        Chunk chunk = std::move(arrived);
        require_times(chunk, time_, on_fault_, memory_);
        if (chunk.rows() == 0) return;
        read_keys(chunk);
        std::fill_n(places_.begin(), chunk.rows(), std::int64_t{0});
        table_.find_rows(row_keys_.data(), hashes_.data(), places_.data(), chunk.rows(),
                         groups_.data(), [](std::size_t, Group*) {});
        join_rows(chunk);
        LateRows::part(chunk, late_, kept_, memory_, output);
        if (!kept_.empty()) {
            for (std::size_t i = 0; i != kept_.size(); ++i) {
                sessions_[i] = whole(sessions_[i]);
                states_[i] = state(sessions_[i]);
            }
            aggregates_.add({chunk, 0, kept_.size(), states_.data(),
                             chunk.column(time_).values<std::int64_t>()});
        }
        fire_again(output);
        send(output);
    }

    bool watermark(EventTime watermark, ChunkOutput& output) override {
        if (!fire(watermark.ns(), output)) return false;
        watermark_ = std::max(watermark_, watermark.ns());
        return true;
    }
    bool ended(ChunkOutput& output) override { return fire(EventTime::latest().ns(), output); }

    void save(StateWriter& writer) const override {
        state::save(writer, watermark_);
        std::vector<Due> in_order = heap_;
        std::ranges::sort(in_order, [](const Due& a, const Due& b) { return b.is_behind(a); });
        std::vector<const Session*> saved;
        std::unordered_set<const Session*> seen;
        for (const Due& due : in_order) {
            if (due.session->part_of != nullptr || !seen.insert(due.session).second) continue;
            saved.push_back(due.session);
        }
        writer.length(saved.size());
        for (const Session* session : saved) {
            keys_->save(writer, session->key->key());
            state::save(writer, session->start);
            state::save(writer, session->end);
            state::save(writer, session->has_fired);
            aggregates_.save(writer, state(session));
        }
    }
    void load(StateReader& reader) override {
        state::load(reader, watermark_);
        std::vector<std::uint64_t> key(keys_->words());
        for (std::size_t left = reader.length(2 * sizeof(std::int64_t)); left != 0; --left) {
            const std::uint64_t hash = keys_->load(reader, key.data());
            Group* group = table_.find(hash, 0, key.data());
            if (group == nullptr) {
                group = table_.adopt(hash, 0, key.data());
            } else {
                keys_->release(key.data());
            }
            std::int64_t start = 0;
            std::int64_t end = 0;
            state::load(reader, start);
            state::load(reader, end);
            Session** place = &first_of(group);
            const Session* before = nullptr;
            while (*place != nullptr && (*place)->start < start) {
                before = *place;
                place = &(*place)->next;
            }
            if (end <= start || (*place != nullptr && (*place)->start <= end) ||
                (before != nullptr && start <= before->end)) {
                reader.refuse("has sessions that overlap");
            }
            Session* const session = make(group, start, end, place);
            state::load(reader, session->has_fired);
            await(session);
            aggregates_.load(reader, state(session));
        }
    }

  private:
    /// A session fires or is dropped at this time.
    struct Due {
        std::int64_t at;
        std::uint64_t order;
        Session* session;

        [[nodiscard]] bool is_behind(const Due& other) const noexcept {
            return at != other.at ? at > other.at : order > other.order;
        }
    };

    [[nodiscard]] static std::byte* state(Session* session) noexcept {
        return reinterpret_cast<std::byte*>(session + 1);
    }
    [[nodiscard]] static const std::byte* state(const Session* session) noexcept {
        return reinterpret_cast<const std::byte*>(session + 1);
    }
    [[nodiscard]] Session*& first_of(Group* group) noexcept {
        return *reinterpret_cast<Session**>(table_.state(group));
    }
    static Session* whole(Session* session) noexcept {
        while (session->part_of != nullptr) session = session->part_of;
        return session;
    }
    [[nodiscard]] static std::int64_t added(std::int64_t time, std::int64_t by) noexcept {
        return strid::detail::saturating_add(time, by);
    }
    /// When the watermark shows that no row can extend it: a row at its very end still would.
    [[nodiscard]] static std::int64_t over(std::int64_t end) noexcept { return added(end, 1); }
    [[nodiscard]] std::int64_t closing(std::int64_t end) const noexcept {
        return added(over(end), spec_.lateness.count());
    }
    /// When it fires, or behind that is dropped: nothing in time can touch it then.
    [[nodiscard]] std::int64_t next_look(const Session& session) const noexcept {
        if (!session.has_fired) return over(session.end);
        return added(closing(session.end), windows_.gap().count());
    }

    /// The session of each row that is not late.
    void join_rows(const Chunk& chunk) {
        late_.clear();
        kept_.clear();
        const auto* const times = chunk.column(time_).values<std::int64_t>();
        const bool has_own = chunk.watermarks().capacity() != 0;
        const auto* const own = chunk.watermarks().values<std::int64_t>();
        std::int64_t met = watermark_;
        for (std::size_t row = 0; row != chunk.rows(); ++row) {
            if (has_own) met = own[row];
            Session* const session = join(groups_[row], times[row], met);
            if (session == nullptr) [[unlikely]] {
                late_.push_back(static_cast<std::uint16_t>(row));
                if (first_of(groups_[row]) == nullptr) empty_.push_back(groups_[row]);
                continue;
            }
            sessions_[kept_.size()] = session;
            kept_.push_back(static_cast<std::uint16_t>(row));
        }
        // Keys that only late rows have. One may have got a session, or be there twice.
        std::ranges::sort(empty_);
        empty_.erase(std::unique(empty_.begin(), empty_.end()), empty_.end());
        for (Group* group : empty_) {
            if (first_of(group) == nullptr) table_.erase(group);
        }
        empty_.clear();
    }
    /// Null: the row is late.
    Session* join(Group* group, std::int64_t time, std::int64_t met) {
        const window::TimeBounds own = windows_.of(EventTime::of_ns(time));
        std::int64_t start = own.start.ns();
        std::int64_t end = own.end.ns();
        Session** place = &first_of(group);
        while (*place != nullptr && (*place)->end < time) place = &(*place)->next;
        Session* const first = *place;
        const bool touches = first != nullptr && first->start <= end;
        const bool is_within = touches && time >= first->start;
        if (is_within && closing(first->end) <= met) return nullptr;
        if (closing(end) <= met) {
            if (!is_within) return nullptr;
            reopen(first);
            return first;
        }
        if (!touches) {
            Session* const made = make(group, start, end, place);
            await(made);
            return made;
        }
        Session* behind = first;
        for (; behind != nullptr && behind->start <= end; behind = behind->next) {
            if (closing(behind->end) <= met) return nullptr;
        }
        start = std::min(start, first->start);
        for (Session* other = first->next; other != behind; other = other->next) {
            end = std::max(end, other->end);
            aggregates_.combine(state(first), state(other));
            aggregates_.release(state(other));
            other->part_of = first;
        }
        first->next = behind;
        first->start = start;
        first->end = std::max(first->end, end);
        reopen(first);
        return first;
    }
    /// It has got a row: it fires once more.
    void reopen(Session* session) {
        if (!session->has_fired) return;
        session->has_fired = false;
        await(session);
    }
    Session* make(Group* group, std::int64_t start, std::int64_t end, Session** place) {
        std::uint32_t number = 0;
        auto* const session = reinterpret_cast<Session*>(pool_.make(number));
        session->start = start;
        session->end = end;
        session->next = *place;
        session->key = group;
        session->number = number;
        *place = session;
        return session;
    }
    void await(Session* session) {
        ++session->entries;
        session->looks_at = next_look(*session);
        heap_.push_back({session->looks_at, orders_++, session});
        std::ranges::push_heap(heap_, later);
    }
    [[nodiscard]] static bool later(const Due& a, const Due& b) noexcept { return a.is_behind(b); }

    /// Looks at the sessions that are due. False: there is no room for more.
    bool fire(std::int64_t watermark, ChunkOutput& output) {
        while (!heap_.empty() && heap_.front().at <= watermark) {
            if (!output.room()) {
                send(output);
                return false;
            }
            std::ranges::pop_heap(heap_, later);
            const Due due = heap_.back();
            heap_.pop_back();
            look_at(due, output);
        }
        send(output);
        return true;
    }
    void look_at(const Due& due, ChunkOutput& output) {
        Session* const session = due.session;
        --session->entries;
        if (session->part_of != nullptr) {
            if (session->entries == 0) pool_.free(session->number);
            return;
        }
        if (due.at != session->looks_at) return;  // another entry counts
        if (next_look(*session) == due.at) {
            if (session->has_fired) return drop(session);
            give(session, output);
            session->has_fired = true;
        }
        await(session);
    }
    void give(Session* session, ChunkOutput& output) {
        WindowOperator::give(session->key->key(), session->start, session->end, state(session),
                             output);
    }
    void drop(Session* session) {
        Session** place = &first_of(session->key);
        while (*place != session) place = &(*place)->next;
        *place = session->next;
        if (first_of(session->key) == nullptr) table_.erase(session->key);
        aggregates_.release(state(session));
        session->part_of = session;
        if (session->entries == 0) pool_.free(session->number);
    }
    /// Sessions that were complete when their rows came fire with them.
    void fire_again(ChunkOutput& output) { (void)fire(watermark_, output); }

    window::SessionWindows windows_;
    GroupTable table_;  // by key: the first session
    RecordPool pool_;
    std::vector<Session*> sessions_;  // of the rows that are kept
    std::vector<Group*> empty_;
    std::vector<Due> heap_;
    std::uint64_t orders_ = 0;
    std::int64_t watermark_ = EventTime::earliest().ns();
};

}  // namespace

std::unique_ptr<TableOperator> session_windowed(const WindowSpec& spec, const Schema& schema,
                                                OnFault on_fault) {
    return std::make_unique<SessionWindowed>(spec, schema, on_fault);
}

}  // namespace strid::table
