// SPDX-License-Identifier: Apache-2.0
//
// The rows of `strid window`: of one input, of several behind each other, or of several merged by
// time. Merging reads a few rows of each input ahead and takes the earliest of the first ones,
// where several are as early that of the input named first; so inputs that are each in order of
// time give what one sorted input gives. An input that falls silent holds back the others: its next
// row may be the earliest. With --idle its time goes on by the clock, so long behind it, and the
// others go on up to there. Rows that are held back are no silence: the source says so.
//
// Its state is the place of each input, and how many of the rows that were read ahead are emitted.
// Another source that goes on there reads these rows once more.
//
// Threads and replicas as in FileSource.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/memory/text_arena.hpp>

#include "table_source.hpp"

namespace strid::tool {

/// Rows that were read ahead, and the pieces of memory with them. The emitter of a source.
class RowsAhead {
  public:
    bool operator()(const TableRow& row) {
        rows_.push_back({row, texts_.size() - 1});
        return true;
    }
    void keep_alive(const memory::TextReference& text) {
        if (texts_.empty() || texts_.back() != text) texts_.push_back(text);
    }
    void ingress_at(std::int64_t /*ns*/) noexcept {}
    void count_malformed(std::uint64_t count) noexcept { malformed_ += count; }

    [[nodiscard]] bool empty() const noexcept { return next_ == rows_.size(); }
    [[nodiscard]] const TableRow& front() const noexcept { return rows_[next_].row; }
    [[nodiscard]] const TableRow& back() const noexcept { return rows_.back().row; }
    [[nodiscard]] const memory::TextReference& text() const noexcept {
        return texts_[rows_[next_].text];
    }
    void pop() noexcept { ++next_; }
    /// Once empty.
    void forget() noexcept {
        rows_.clear();
        texts_.clear();
        next_ = 0;
    }
    [[nodiscard]] std::uint64_t take_malformed() noexcept { return std::exchange(malformed_, 0); }

  private:
    struct Ahead {
        TableRow row;
        std::size_t text;
    };
    std::vector<Ahead> rows_;
    std::vector<memory::TextReference> texts_;
    std::size_t next_ = 0;
    std::uint64_t malformed_ = 0;
};

class MergedTables {
  public:
    using record_type = TableRow;
    static constexpr SourceTraits traits{
        .hears = events<TasksWanted, Opened, Restored, SnapshotBegins, Closed, Stopped>,
        .has = Has::wake_at_ns | Has::blocks | Has::files | Has::fraction_done | Has::bytes_read |
               Has::replicas_used | Has::is_journalled,
        .drains = true};

    explicit MergedTables(const WindowJob& job);

    /// Merging reads a few rows of each input at a time: they are not parsed ahead.
    void on(const TasksWanted& wanted) {
        if (inputs_.size() == 1) inputs_.front().source.on(wanted);
    }
    void on(Closed closed) noexcept {
        for (Input& input : inputs_) input.source.on(closed);
    }
    void on(const Opened& opened);
    /// Throws InputOutputError for an input that cannot be read once more, such as a pipe.
    void on(Restored restored);
    /// The dead letters so far belong to the snapshot, and messages have their position.
    void on(SnapshotBegins snapshot) {
        for (Input& input : inputs_) input.source.on(snapshot);
        note_places();
    }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        const SourceStatus status = inputs_.size() == 1 ? inputs_.front().source.poll(emit, budget)
                                                        : poll_merged(emit, budget);
        note_places();
        return status;
    }

    void on(Stopped stopped) noexcept;
    [[nodiscard]] bool blocks() const noexcept;
    /// Of one input: merging reads ahead of what it emits.
    [[nodiscard]] bool is_journalled() const noexcept {
        return inputs_.size() == 1 && inputs_.front().source.is_journalled();
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept {
        return inputs_[awaited_].source.wake_at_ns();
    }
    [[nodiscard]] double fraction_done() const noexcept;
    [[nodiscard]] std::uint64_t bytes_read() const noexcept;
    /// Each is read once; where dead letters go is the same of all.
    [[nodiscard]] std::vector<FileUse> files() const;
    [[nodiscard]] std::size_t replicas_used(std::size_t /*parallelism*/) const noexcept {
        return 1;
    }
    auto state() { return std::tie(places_); }

  private:
    /// Up to where an input was read and emitted.
    struct Place {
        std::size_t file = 0;          // of several behind each other
        std::uint64_t from_bytes = 0;  // in its text: where the rows that were read ahead begin
        std::uint64_t to_bytes = 0;    // and where reading goes on
        std::size_t emitted = 0;       // of these rows
        EventTime time = EventTime::earliest();
        std::int64_t silent_since_ns = 0;
        JournalPlace journal = {};
        TimeReader::Place times = {};  // of text that is not read again
    };
    struct Input {
        explicit Input(const WindowJob& job) : source(job) {}

        /// The least time that a next row may have; earliest() where that is not known.
        [[nodiscard]] EventTime least(std::int64_t now_ns, Duration idle) const noexcept {
            const Duration silence{silent_since_ns == 0 ? 0 : now_ns - silent_since_ns};
            return idle == Duration::zero() ? EventTime::earliest()
                                            : time + std::max(silence - idle, Duration::zero());
        }

        TableSource source;
        RowsAhead ahead;
        bool is_finished = false;
        bool is_empty = false;                   // as this poll has found
        bool is_held = false;                    // there are rows, and no memory for them
        EventTime time = EventTime::earliest();  // of the last row that was read
        std::int64_t silent_since_ns = 0;        // 0: it is not
        std::uint64_t ahead_from_bytes = 0;      // where the rows in `ahead` begin
        std::size_t emitted = 0;                 // of them
        std::size_t to_drop = 0;                 // of them: a source before this one emitted these
    };

    template <class Emit>
    SourceStatus poll_merged(Emit& emit, std::size_t budget) {
        const memory::TextChunk* text = nullptr;
        begin_poll();
        for (;; --budget) {
            const SourceStatus status = read_ahead();
            if (const auto malformed = std::exchange(malformed_, 0)) {
                emit.count_malformed(malformed);
            }
            if (status != SourceStatus::more || budget == 0 || is_passing_) return status;
            Input& first = inputs_[first_];
            RowsAhead& ahead = first.ahead;
            if (text != ahead.text().get()) emit.keep_alive(ahead.text());
            text = ahead.text().get();
            TableRow row = ahead.front();
            ahead.pop();
            ++first.emitted;
            may_wait_ = false;
            if (!emit(std::move(row))) return SourceStatus::more;
        }
    }

    void begin_poll() noexcept;
    void note_places() noexcept;
    /// `more` where a row may go: no input may have an earlier one.
    SourceStatus read_ahead();
    void look_into(Input& input, bool may_wait);
    /// Up to which time rows may go although inputs are empty.
    [[nodiscard]] EventTime bound(EventTime first) noexcept;
    /// Settles first_. False where no input has a row.
    [[nodiscard]] bool find_first() noexcept;

    std::vector<Input> inputs_;
    std::vector<Place> places_;  // of each input, behind the last poll
    Duration idle_;
    std::size_t first_ = 0;       // whose first row is the earliest
    std::size_t awaited_ = 0;     // where the last poll that found no row looked in vain
    bool may_wait_ = false;       // there, in the kernel: the last poll has emitted nothing
    std::int64_t looked_ns_ = 0;  // when this poll began
    bool is_passing_ = false;     // an input passes rows of a source before this one
    std::uint64_t malformed_ = 0;
};

}  // namespace strid::tool
