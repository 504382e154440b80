// SPDX-License-Identifier: Apache-2.0
//
// The common part of every source that reads lines: opening, waiting for pipes, back-pressure,
// refused lines and progress. Derived: TextLines, CsvSource, JsonSource. Used by one thread at a
// time, but for fraction_done() and bytes_read(), which any thread may call.
//
// A file is read by replica 0; other replicas are finished at once. A copy reads from the start.
// Several files are read one after the other, each from its first line on as if it were alone.
//
// Its state is the input and the place in its text behind the last row. A source that takes it over
// reads the input from its beginning, emits and reports nothing up to that place, and goes on: what
// a format has seen on the way (a header, the number of fields) is seen again. With a journal the
// input is the text of the journal, and of what lies before the place only the head is read again.
// Messages (TransportInput) are read from the one on that has the place.
//
// A run with several workers may give it tasks that parse ranges of a file ahead (RangeParsers).
// Then it emits their rows in the order of the file, and reads itself what it must read: the head,
// a line that is refused, a row that goes on behind its range.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/connector/malformed.hpp>
#include <strid/engine/connector/line_reader.hpp>
#include <strid/engine/connector/malformed_handler.hpp>
#include <strid/engine/connector/parsed_rows.hpp>
#include <strid/engine/connector/range_parsers.hpp>
#include <strid/engine/connector/range_queue.hpp>
#include <strid/operator/source.hpp>
#include <strid/state/journal.hpp>

namespace strid {

/// The part of a source's place that only a journal needs, as it was before there were messages.
struct JournalPlaceOfText {
    std::uint64_t journal = 0;     ///< As below.
    std::uint64_t head_bytes = 0;  ///< As below.
    std::uint64_t line = 0;        ///< As below.
    bool is_in_line = false;       ///< As below.
};
/// The part of a source's place that only a journal needs, or messages.
struct JournalPlace {
    std::uint64_t journal = 0;  ///< Which one; 0: none.
    /// Of the text: behind so many bytes the format is settled. 0: it is not yet.
    std::uint64_t head_bytes = 0;
    std::uint64_t line = 0;    ///< The number of the last line before the place.
    bool is_in_line = false;   ///< A line that is too long is being dropped.
    std::string message = {};  ///< The position of the message at the place; empty: there is none.
    std::uint64_t message_bytes = 0;  ///< Of the text: before it.

    using saved_before = JournalPlaceOfText;
    void go_on_from(const JournalPlaceOfText& before) {
        journal = before.journal;
        head_bytes = before.head_bytes;
        line = before.line;
        is_in_line = before.is_in_line;
    }
};

class FileSource {
  public:
    /// Text that was read from a pipe cannot be read again, so it is drained after a stop.
    static constexpr SourceTraits traits{
        .hears = events<Opened, Restored, SnapshotBegins, Stopped>,
        .has = Has::wake_at_ns | Has::blocks | Has::files | Has::fraction_done | Has::bytes_read |
               Has::replicas_used | Has::keep_all_text | Has::is_journalled,
        .drains = true};

    FileSource(const FileSource& other);
    FileSource(FileSource&& other) noexcept;
    FileSource& operator=(const FileSource&) = delete;
    ~FileSource();

    /// Opens the input and the dead-letter file. Throws InputOutputError.
    void on(const Opened& opened) { begin(opened.context); }
    [[nodiscard]] bool blocks() const noexcept;
    /// Whether its rows can be read once more from a journal.
    [[nodiscard]] bool is_journalled() const noexcept;
    /// The files that it reads, and the file of its dead letters.
    [[nodiscard]] std::vector<FileUse> files() const;
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return wake_at_ns_; }
    /// The part of the stored (compressed) file that was read; -1 for a pipe, until it ends.
    [[nodiscard]] double fraction_done() const noexcept {
        return fraction_done_.load(std::memory_order_relaxed);
    }
    /// Bytes taken from the stored file.
    [[nodiscard]] std::uint64_t bytes_read() const noexcept {
        return bytes_read_.load(std::memory_order_relaxed);
    }
    /// How many of `parallelism` replicas emit anything.
    [[nodiscard]] std::size_t replicas_used(std::size_t /*parallelism*/) const noexcept {
        return 1;
    }
    /// Stops reading; lines that were read are still emitted, and so are those that wait in a pipe
    /// or a socket by then. Any thread.
    void on(Stopped) noexcept { stopped_.store(true, std::memory_order_relaxed); }
    /// The dead letters so far belong to the snapshot.
    void on(SnapshotBegins);
    auto state() { return std::tie(place_.input, place_.passed_bytes, place_.journal); }
    /// Throws InputOutputError for an input that cannot be read once more, such as a pipe without a
    /// journal, or a journal that does not have what is needed.
    void on(Restored);
    /// Does not limit the chunks of text, for a caller that keeps all records. Call it before
    /// on(const Opened&).
    void keep_all_text() noexcept { keep_all_text_ = true; }
    /// Of a copy that parses ranges, between two of them: lets go of memory of rows that have left.
    void rest() const noexcept {}
    /// The same: keeps from now on what rows of the other, which goes, need.
    void take_rows_of(FileSource& /*other*/) const noexcept {}
    /// Of the input that is being read.
    [[nodiscard]] const std::string& path() const noexcept { return paths_[input_]; }

  protected:
    /// The traits of a source with RangeParsers.
    [[nodiscard]] static constexpr SourceTraits with_ranges(SourceTraits of) noexcept {
        of.hears = of.hears | events<TasksWanted, Closed>;
        return of;
    }
    /// As on(const Opened&), for a reader outside a graph.
    void begin(const Context& context);
    /// `options`: CsvOptions, JsonOptions or TextLinesOptions. Throws GraphError for impossible
    /// ones, and for no path at all.
    template <class Options>
    FileSource(std::vector<std::string> paths, const Options& options)
        : FileSource(std::move(paths), options.text, options.journal,
                     {options.on_malformed, options.dead_letter_path, options.dead_letter,
                      options.dead_letters}) {}

    enum class [[nodiscard]] Row : std::uint8_t {
        ready,   ///< the record was read; position_ is behind it
        none,    ///< text that is no record, or a refused record, was passed
        partial  ///< the record goes on beyond the region; nothing was passed
    };
    /// The base of a format of rows (poll_records): each row ends with its line, and nothing is to
    /// be done between rows. A format hides what is otherwise.
    struct RowsOfLines {
        /// A row may go on beyond its line, so that `partial` is returned.
        static constexpr bool joins_lines = false;
        /// Tasks may parse ranges of its text. Then it also has `begin_ranges()`: whether rows do
        /// not depend on those before them any more; `takes_parsed()`: whether those of the range
        /// at hand do not; `forget_partial()`: after `partial` the same row is read from its begin;
        /// `begin_apart()`: before a range, in a copy that parses it; `behind_parsed(line)`: behind
        /// rows that a task has parsed, `line` lines are before the text.
        static constexpr bool reads_ranges = false;

        /// Before the text of each further input.
        void begin_input() const noexcept {}
        /// Before each region.
        void begin_text() const noexcept {}
        /// Passes a row that is not whole, and refuses it.
        void refuse_partial() const noexcept {}
        /// The same after a stop. False: it is not passed.
        [[nodiscard]] bool pass_partial_at_stop() const noexcept { return false; }
        /// Refuses text that the input ends in.
        void end_input() const noexcept {}
        /// Whether nothing that is read later changes how rows are read.
        [[nodiscard]] bool is_settled() const noexcept { return true; }
        /// The text from here on does not follow what was read last: `line` lines are before it.
        void skip_to_line(std::uint64_t /*line*/) const noexcept {}
        /// Where rows go that a task has parsed.
        template <class Emit>
        [[nodiscard]] static Emit& emit_of_parsed(Emit& emit) noexcept {
            return emit;
        }
    };
    /// `format(record)` takes the text at position_ into a fresh record and returns the result.
    template <class Format, class T>
    static constexpr bool is_format =
        std::derived_from<Format, RowsOfLines> && requires(Format& format, T& record) {
            { format(record) } -> std::same_as<Row>;
        };
    /// The poll of every format: records that are `ready` are emitted. `holds_text`: they may point
    /// into the text.
    template <class T, bool holds_text, class Emit, class Format>
    SourceStatus poll_records(Emit& emit, std::size_t budget, Format format);

    enum class [[nodiscard]] Refill : std::uint8_t {
        text,
        too_long,
        wait,
        no_chunk,
        parsing,  ///< a task is parsing the next range, or one that is to be read again
        end,
        stopped
    };
    /// Gives up what precedes `position_` and reads on; on `text` and `too_long` the members
    /// `position_` and `end_` name the region. After a stop what waits in a pipe is read, of a file
    /// nothing more: then `stopped`. `may_cut`: ranges may be read ahead.
    Refill refill(bool may_cut = false);
    /// Before on(const Opened&): adds tasks that parse ranges, where several workers gain by them.
    template <class Source>
    void bring_parsers(RangeParsers<Source>& parsers, const TasksWanted& wanted) {
        if (wanted.context.replica != 0 || !gains_by_ranges(wanted)) return;
        ranges_ = parsers.begin(wanted, ranges_for(wanted.workers));
    }
    [[nodiscard]] bool gains_by_ranges(const TasksWanted& wanted);
    /// How many ranges there may be at once for so many tasks.
    [[nodiscard]] std::size_t ranges_for(std::size_t tasks) const noexcept;
    [[nodiscard]] bool is_reading_ahead() const noexcept { return range_ != nullptr; }
    /// In a copy of the source that has read the text: parses a range up to the first line that
    /// the source must read itself. `emit` gets the rows.
    template <class T, bool holds_text, class Emit, class Format>
    void parse_apart(ParsedRange& range, Emit& emit, Format format);
    /// Before text is changed in place.
    void note_change(char* begin, std::size_t bytes) {
        if (apart_ != nullptr) apart_->changes.keep(begin, bytes);
    }
    /// After `text`: what the poll has waited for entered the graph now, not when the poll began.
    void stamp_arrival(auto& emit) noexcept {
        if (arrived_ns_ != 0) emit.ingress_at(std::exchange(arrived_ns_, 0));
    }
    /// After `stopped`: hands on, as the policy has it for malformed lines but without an
    /// exception, what was taken from a pipe and is no whole row, and reports what waits there and
    /// was not read in time. Nothing where the input is a file, which keeps it.
    void report_cut_off();
    /// Applies the policy to `text`, which begins on line `line`.
    void refuse(std::uint64_t line, std::string_view reason, std::string_view text);
    /// Refuses `text`, which ends on the current line, for its length.
    void refuse_too_long(std::string_view text);
    /// Refuses the unfinished overlong line at position_ and drops the rest of it.
    void drop_too_long();
    /// At the first text of an input: passes a byte order mark.
    void pass_byte_order_mark() noexcept;
    /// Of the input, for messages.
    [[nodiscard]] std::string_view name() const noexcept;
    [[nodiscard]] std::size_t line_bytes_max() const noexcept {
        return text_options_.line_bytes_max;
    }
    /// The next poll does not wait for a pipe.
    void do_not_wait() noexcept { waited_ = false; }
    void finish();
    /// Before on(Restored), by a source that reads rows ahead: those that begin at this place of
    /// the text or behind it are emitted once more. Malformed ones are not reported again.
    void emit_again_from(std::uint64_t text_bytes) noexcept { emit_from_ = text_bytes; }
    /// Rows are read that were read by a source before this one.
    [[nodiscard]] bool is_passing() const noexcept { return pass_to_ != 0; }
    /// After the end of an input: opens the next; after a stop the next that is a pipe, where rows
    /// may wait. False: there is none.
    bool begin_next_input();

    char* position_ = nullptr;       // the next unread byte
    char* end_ = nullptr;            // of the region of whole lines
    std::uint64_t line_number_ = 0;  // of the last line that was read
    std::unique_ptr<LineReader> reader_;
    std::unique_ptr<MalformedHandler> malformed_;

  private:
    friend class JsonObjects;  // cuts rows of its own for derived sources

    FileSource(std::vector<std::string> paths, TextOptions text, JournalOptions journal,
               MalformedOptions malformed);
    template <class T, bool holds_text, class Emit, class Format>
    SourceStatus emit_records(Emit& emit, std::size_t budget, Format format);
    /// `partial`: a row goes on behind the region.
    template <class Format>
    Refill refill_for(const Format& format, bool partial);
    /// Passes the rows that the source before this one has emitted. True: one goes on beyond the
    /// region.
    template <class T, class Format>
    bool pass_rows(Format format);
    template <class Format>
    void end_passing_at_its_end(const Format& format) {
        if (pass_to_ == 0 || text_bytes() < pass_to_) return;
        end_passing();
        if (skips_text_) {
            skip_text();
            format.skip_to_line(line_number_);
        }
    }
    // The ranges (file_ranges.cpp).
    [[nodiscard]] bool has_parsed_rows() const noexcept {
        return range_ != nullptr && range_->has_rows;
    }
    [[nodiscard]] const memory::TextReference& text_chunk() const noexcept {
        return range_ != nullptr ? range_->text.chunk : reader_->chunk();
    }
    /// False: there are more rows of the range at hand.
    template <class T, bool holds_text, class Emit, class Format>
    bool emit_parsed(Emit& emit, std::size_t& budget, const Format& format);
    void end_parsed() noexcept;
    void read_range_again() noexcept;
    [[nodiscard]] bool may_read_ahead() noexcept;
    LineReader::Status read_ahead();
    bool take_range() noexcept;
    bool give_back();
    void end_ranges() noexcept;

    void skip_text() noexcept;
    /// Where the format of a journal is settled for the first time.
    void note_head();
    void check_journal(const Context& context) const;
    void note_connection();
    void go_on_in_journal();
    void go_on_in_messages();
    /// The bytes of the input's text before position_, without those that were skipped.
    [[nodiscard]] std::uint64_t text_bytes() const noexcept;
    void note_place() noexcept;
    void end_passing() noexcept;
    /// After the end of an input or a stop. False: that was all.
    template <class Format>
    bool goes_on(Format& format) {
        if (!begin_next_input()) {
            finish();
            return false;
        }
        format.begin_input();
        return true;
    }
    void publish_progress() noexcept;
    void open_input();

    RunScope* run_ = nullptr;
    std::shared_ptr<Connection> connection_;  // null: the input is no transport
    std::vector<std::string> paths_;
    static constexpr std::uint64_t whole_input = UINT64_MAX;

    /// Up to where rows were read; at a stop up to where the stop was seen.
    struct Place {
        std::size_t input = 0;
        std::uint64_t passed_bytes = 0;  // of its text; whole_input: of the last input
        JournalPlace journal = {};
    };

    std::size_t input_ = 0;
    Place place_;
    bool place_is_final_ = false;
    std::uint64_t pass_to_ = 0;              // rows before it are those of a source before this one
    std::uint64_t emit_from_ = whole_input;  // of these, the first that it has not emitted
    bool is_first_text_ = true;              // of the input
    JournalOptions journal_options_;
    std::shared_ptr<detail::Journal> journal_;  // shared with the scope of the run
    bool needs_head_ = false;                   // the format of a journal is not settled
    bool skips_text_ = false;                   // behind the head, up to the place
    std::uint64_t skipped_bytes_ = 0;           // of the text, between its head and the place
    std::uint64_t bytes_before_ = 0;            // of the inputs that were read
    std::uint64_t bytes_of_all_ = 0;            // 0: not known
    TextOptions text_options_;
    MalformedOptions malformed_options_;
    bool keep_all_text_ = false;
    bool waited_ = false;          // the last refill() found nothing, so the next may block
    std::int64_t arrived_ns_ = 0;  // when a refill() that may have blocked found text
    std::int64_t wake_at_ns_ = 0;
    std::atomic<double> fraction_done_{-1};
    std::atomic<std::uint64_t> bytes_read_{0};
    // Relaxed: a poll that does not see it yet is followed by another.
    std::atomic<bool> stopped_{false};
    RangeQueue* ranges_ = nullptr;     // null: this source reads all
    ParsedRange* range_ = nullptr;     // at hand, with position_ in it; null: no text is read ahead
    ParsedRange* apart_ = nullptr;     // that this copy parses
    bool is_refused_ = false;          // a line of it
    bool may_block_ = false;           // the input
    std::size_t alone_ = 0;            // for so many regions nothing is read ahead
    std::size_t alone_next_ = 1;       // and for so many when a range was guessed wrong once more
    bool is_draining_ = false;         // only what waited at a stop is still read
    std::int64_t drain_until_ns_ = 0;  // after a stop
};

}  // namespace strid

#include <strid/engine/connector/file_polls.hpp>
