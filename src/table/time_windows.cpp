// SPDX-License-Identifier: Apache-2.0
//
// Windows of time over panes: a group for each key and pane, and a list of the groups of each pane.
// A window of one pane is that list; one of several is put together when it is complete.
//
// Chunk by chunk, and yet as if row by row: a row that lies behind the watermark that it met is
// asked which of its windows were closed then. Where one of them shares the row's pane, and has not
// fired yet or has changed, it fires before the row is added.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <strid/state/codec.hpp>

#include "window_operator.hpp"

namespace strid::table {

namespace {

using Index = window::TimeWindows::Index;

class TimeWindowed final : public WindowOperator {
  public:
    TimeWindowed(const WindowSpec& spec, const Schema& schema, OnFault on_fault)
        : WindowOperator(spec, schema, on_fault),
          windows_(std::get<window::TimeWindows>(spec.windows)),
          table_(keys_, aggregates_.bytes()),
          parts_(keys_, aggregates_.bytes(), true),
          apart_(aggregates_.bytes()) {}
    ~TimeWindowed() override {
        for (auto& [number, pane] : panes_) release(pane);
    }

    void process(Chunk&& arrived, ChunkOutput& output) override {
        Chunk chunk = std::move(arrived);
        require_times(chunk, time_, on_fault_, memory_);
        place_rows(chunk);
        LateRows::part(chunk, late_, kept_, memory_, output);
        if (late_.empty() && kept_.size() != chunk.rows()) chunk.keep_rows(kept_, memory_);
        if (kept_.empty()) return;
        read_keys(chunk);
        std::size_t first = 0;
        bool may_change = false;  // windows that have fired, by rows from `first` on
        for (const Behind& row : behind_) {
            // Windows that were closed when the row came, and would get it with their pane.
            const bool is_partly_late = row.closed > row.windows.first;
            if (is_partly_late && (row.closed > next_ || may_change)) {
                add_rows(chunk, first, row.row);
                first = row.row;
                fire_again(output);
                (void)fire(row.closed, output, false);
                may_change = false;
            }
            may_change = may_change || spec_.lateness != Duration::zero();
        }
        add_rows(chunk, first, chunk.rows());
        fire_again(output);
        send(output);
    }

    bool watermark(EventTime watermark, ChunkOutput& output) override {
        if (!fire(windows_.end_over(watermark), output, true)) return false;
        watermark_ = std::max(watermark_, watermark);
        expire(windows_.end_over(watermark_ - spec_.lateness));
        return true;
    }
    bool ended(ChunkOutput& output) override {
        return fire(std::numeric_limits<Index>::max(), output, true);
    }

    void save(StateWriter& writer) const override {
        state::save(writer, watermark_.ns());
        state::save(writer, next_);
        writer.length(table_.size());
        for (const auto& [number, pane] : panes_) {
            for (const Group* group = pane.first; group != nullptr; group = group->next) {
                state::save(writer, number);
                keys_->save(writer, group->key());
                aggregates_.save(writer, table_.state(group));
            }
        }
    }
    void load(StateReader& reader) override {
        std::int64_t watermark = 0;
        state::load(reader, watermark);
        watermark_ = EventTime::of_ns(watermark);
        state::load(reader, next_);
        std::vector<std::uint64_t> key(keys_->words());
        for (std::size_t left = reader.length(sizeof(Index)); left != 0; --left) {
            Index number = 0;
            state::load(reader, number);
            if (windows_.pane_of(windows_.pane_bounds(number).start) != number) {
                reader.refuse("has a pane that no time lies in");
            }
            const std::uint64_t hash = keys_->load(reader, key.data());
            Group* const group = table_.adopt(hash, number, key.data());
            append(group);
            aggregates_.load(reader, table_.state(group));
        }
    }

  private:
    struct Pane {
        Group* first = nullptr;
        Group* last = nullptr;
    };
    /// A row behind the watermark that it met, among those that are kept.
    struct Behind {
        std::size_t row;
        window::WindowRange<Index> windows;  // that it lies in
        Index closed;                        // those before this one
    };
    struct Changed {
        Group* group;
        Index first;  // window that may fire again
    };

    /// The pane of each row that is in a window, and which rows are late.
    void place_rows(const Chunk& chunk) {
        late_.clear();
        kept_.clear();
        behind_.clear();
        const auto* const times = chunk.column(time_).values<std::int64_t>();
        const bool has_own = chunk.watermarks().capacity() != 0;
        const auto* const own = chunk.watermarks().values<std::int64_t>();
        std::int64_t met = watermark_.ns();
        for (std::size_t row = 0; row != chunk.rows(); ++row) {
            const std::int64_t time = times[row];
            if (time < begin_ || time >= end_) [[unlikely]]
                go_to_pane(EventTime::of_ns(time));
            if (in_windows_.size() <= 0) continue;  // between two windows
            if (has_own) met = own[row];
            if (time < met) [[unlikely]] {
                const Index closed = windows_.end_over(EventTime::of_ns(met) - spec_.lateness);
                if (in_windows_.end <= closed) {
                    late_.push_back(static_cast<std::uint16_t>(row));
                    continue;
                }
                behind_.push_back({kept_.size(), in_windows_, closed});
            }
            places_[kept_.size()] = pane_;
            kept_.push_back(static_cast<std::uint16_t>(row));
        }
    }
    void go_to_pane(EventTime time) {
        pane_ = windows_.pane_of(time);
        in_windows_ = windows_.with_pane(pane_);
        const window::TimeBounds bounds = windows_.pane_bounds(pane_);
        begin_ = bounds.start.ns();
        end_ = bounds.end.ns();
    }

    void add_rows(const Chunk& chunk, std::size_t first, std::size_t end) {
        if (first == end) return;
        const std::size_t count = end - first;
        table_.find_rows(key_of(first), hashes_.data() + first, places_.data() + first, count,
                         groups_.data() + first,
                         [this](std::size_t, Group* group) { append(group); });
        for (std::size_t row = first; row != end; ++row) states_[row] = table_.state(groups_[row]);
        aggregates_.add({chunk, first, count, states_.data() + first,
                         chunk.column(time_).values<std::int64_t>() + first});
        for (const Behind& row : behind_) {
            if (row.row < first || row.row >= end) continue;
            const Index open = std::max(row.windows.first, row.closed);
            if (open < next_) note_change(groups_[row.row], open);
        }
    }
    /// The group is new: it is the last of its pane.
    void append(Group* group) {
        if (at_pane_ == nullptr || at_number_ != group->place) {
            at_pane_ = &panes_[group->place];
            at_number_ = group->place;
        }
        (at_pane_->first == nullptr ? at_pane_->first : at_pane_->last->next) = group;
        at_pane_->last = group;
    }
    void note_change(Group* group, Index first) {
        if (group->mark == 0) {
            changed_.push_back({group, first});
            group->mark = static_cast<std::uint32_t>(changed_.size());
        } else {
            Changed& changed = changed_[group->mark - 1];
            changed.first = std::min(changed.first, first);
        }
    }

    /// Fires the windows before `end` that have not fired. False: there is no room for more.
    bool fire(Index end, ChunkOutput& output, bool asks_room) {
        while (next_ < end) {
            const auto pane = panes_.lower_bound(windows_.panes(next_).first);
            if (pane == panes_.end()) break;
            const Index window = std::max(next_, windows_.with_pane(pane->first).first);
            if (window >= end) break;
            if (asks_room && !output.room()) {
                send(output);
                return false;
            }
            give_window(window, pane, output);
            next_ = window + 1;
        }
        next_ = std::max(next_, end);
        send(output);
        return true;
    }
    using Panes = std::map<Index, Pane>;
    void give_window(Index window, Panes::iterator pane, ChunkOutput& output) {
        const auto [start, end] = windows_.bounds(window);
        const Index behind = windows_.panes(window).end;
        const auto second = std::next(pane);
        if (second == panes_.end() || second->first >= behind) {
            for (Group* group = pane->second.first; group != nullptr; group = group->next) {
                give(group->key(), start.ns(), end.ns(), table_.state(group), output);
            }
            return;
        }
        Pane all;
        for (; pane != panes_.end() && pane->first < behind; ++pane) {
            for (Group* group = pane->second.first; group != nullptr; group = group->next) {
                Group* part = parts_.find(group->hash, 0, group->key());
                if (part == nullptr) {
                    part = parts_.make(group->hash, 0, group->key());
                    (all.first == nullptr ? all.first : all.last->next) = part;
                    all.last = part;
                }
                aggregates_.combine(parts_.state(part), table_.state(group));
            }
        }
        for (Group* part = all.first; part != nullptr; part = part->next) {
            give(part->key(), start.ns(), end.ns(), parts_.state(part), output);
            aggregates_.release(parts_.state(part));
        }
        parts_.clear();
    }

    /// The windows that have fired and have got rows of this chunk.
    void fire_again(ChunkOutput& output) {
        for (const auto& [group, first] : changed_) {
            group->mark = 0;
            const Index end = std::min(windows_.with_pane(group->place).end, next_);
            for (Index window = first; window < end; ++window) give_key(window, group, output);
        }
        changed_.clear();
    }
    void give_key(Index window, Group* changed, ChunkOutput& output) {
        const auto [start, end] = windows_.bounds(window);
        const auto [first, behind] = windows_.panes(window);
        std::fill(apart_.begin(), apart_.end(), std::byte{});
        for (auto pane = panes_.lower_bound(first); pane != panes_.end() && pane->first < behind;
             ++pane) {
            const Group* const group = table_.find(changed->hash, pane->first, changed->key());
            if (group != nullptr) aggregates_.combine(apart_.data(), table_.state(group));
        }
        give(changed->key(), start.ns(), end.ns(), apart_.data(), output);
        aggregates_.release(apart_.data());
    }

    /// Forgets the panes whose windows are all closed.
    void expire(Index closed) {
        while (!panes_.empty() && windows_.with_pane(panes_.begin()->first).end <= closed) {
            release(panes_.begin()->second);
            panes_.erase(panes_.begin());
            at_pane_ = nullptr;
        }
    }
    void release(Pane& pane) noexcept {
        for (Group* group = pane.first; group != nullptr;) {
            Group* const next = group->next;
            aggregates_.release(table_.state(group));
            table_.erase(group);
            group = next;
        }
    }

    window::TimeWindows windows_;
    GroupTable table_;
    Panes panes_;
    EventTime watermark_ = EventTime::earliest();
    Index next_ = std::numeric_limits<Index>::min();  // windows before it have fired

    // Of the pane of the last row.
    Index pane_ = 0;
    window::WindowRange<Index> in_windows_{0, 0};
    std::int64_t begin_ = 0;  // none
    std::int64_t end_ = 0;
    Pane* at_pane_ = nullptr;  // of the last new group
    Index at_number_ = 0;

    std::vector<Behind> behind_;
    std::vector<Changed> changed_;
    GroupTable parts_;              // of a window that is put together
    std::vector<std::byte> apart_;  // the same for one key
};

}  // namespace

std::unique_ptr<TableOperator> time_windowed(const WindowSpec& spec, const Schema& schema,
                                             OnFault on_fault) {
    return std::make_unique<TimeWindowed>(spec, schema, on_fault);
}

}  // namespace strid::table
