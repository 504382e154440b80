// SPDX-License-Identifier: Apache-2.0
//
// The common part of every source that reads lines: opening, waiting for pipes, back-pressure,
// refused lines and progress. Derived: TextLines, CsvSource, JsonSource. Used by one thread at a
// time, but for fraction_done() and bytes_read(), which any thread may call.
//
// A file is read by replica 0; other replicas are finished at once. A copy reads from the start.
// Several files are read one after the other, each from its first line on as if it were alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/connector/line_reader.hpp>
#include <strid/connector/malformed.hpp>
#include <strid/operator/source.hpp>

namespace strid {

class FileSource {
  public:
    /// Text that was read from a pipe cannot be read again, so it is drained after a stop.
    static constexpr SourceTraits traits{.hears = events<Opened, Stopped>,
                                         .has = Has::wake_at_ns | Has::blocks | Has::files |
                                                Has::fraction_done | Has::bytes_read |
                                                Has::replicas_used | Has::keep_all_text,
                                         .drains = true};

    FileSource(const FileSource& other);
    FileSource(FileSource&& other) noexcept;
    FileSource& operator=(const FileSource&) = delete;
    ~FileSource();

    /// Opens the input and the dead-letter file. Throws InputOutputError.
    void on(const Opened& opened) { begin(opened.context); }
    [[nodiscard]] bool blocks() const noexcept;
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
    auto state() { return std::tie(input_, line_number_); }
    /// Does not limit the chunks of text, for a caller that keeps all records. Call it before
    /// on(const Opened&).
    void keep_all_text() noexcept { keep_all_text_ = true; }
    /// Of the input that is being read.
    [[nodiscard]] const std::string& path() const noexcept { return paths_[input_]; }

  protected:
    /// As on(const Opened&), for a reader outside a graph.
    void begin(const Context& context);
    /// Throws GraphError for impossible options, and for no path at all.
    FileSource(std::vector<std::string> paths, TextOptions text, MalformedOptions malformed);
    FileSource(std::string path, TextOptions text, MalformedOptions malformed)
        : FileSource(std::vector{std::move(path)}, std::move(text), std::move(malformed)) {}

    enum class [[nodiscard]] Row : std::uint8_t {
        ready,   ///< the record was read; position_ is behind it
        none,    ///< text that is no record, or a refused record, was passed
        partial  ///< the record goes on beyond the region; nothing was passed
    };
    /// The poll of every format. `format(record)` takes the text at position_ into a fresh record
    /// and returns the result; on `ready` the record is emitted. `holds_text`: records may point
    /// into the text. The other functions of a format may be missing: `begin_input()` before the
    /// text of each further input, `begin_text()` before each region, `refuse_partial()` for a
    /// record that is not whole (needed where `partial` is returned), `pass_partial_at_stop()`, and
    /// `end_input()`, which refuses what the input ends in.
    template <class T, bool holds_text, class Emit, class Format>
    SourceStatus poll_records(Emit& emit, std::size_t budget, Format format);

    enum class [[nodiscard]] Refill : std::uint8_t { text, too_long, wait, no_chunk, end, stopped };
    /// Gives up what precedes `position_` and reads on; on `text` and `too_long` the members
    /// `position_` and `end_` name the region. After a stop what waits in a pipe is read, of a file
    /// nothing more: then `stopped`.
    Refill refill();
    /// After `text`: what the poll has waited for entered the graph now, not when the poll began.
    void stamp_arrival(auto& emit) noexcept {
        if (arrived_ns_ != 0) emit.ingress_at(std::exchange(arrived_ns_, 0));
    }
    /// After `stopped`: hands on, as the policy has it for malformed lines but without an
    /// exception, what was taken from a pipe and is no whole row, and reports what waits there and
    /// was not read in time. Returns how many lines; nothing where the input is a file, which keeps
    /// them.
    [[nodiscard]] std::uint64_t report_cut_off();
    /// Applies the policy to `text`, which begins on line `line`.
    void refuse(std::uint64_t line, std::string_view reason, std::string_view text);
    /// Refuses `text`, which ends on the current line, for its length.
    void refuse_too_long(std::string_view text);
    /// Refuses the unfinished overlong line at position_ and drops the rest of it.
    void drop_too_long();
    /// Of the input, for messages.
    [[nodiscard]] std::string_view name() const noexcept;
    [[nodiscard]] std::size_t line_bytes_max() const noexcept {
        return text_options_.line_bytes_max;
    }
    /// The next poll does not wait for a pipe.
    void do_not_wait() noexcept { waited_ = false; }
    void finish();
    /// After the end of an input: opens the next; after a stop the next that is a pipe, where rows
    /// may wait. False: there is none.
    bool begin_next_input();

    char* position_ = nullptr;       // the next unread byte
    char* end_ = nullptr;            // of the region of whole lines
    std::uint64_t line_number_ = 0;  // of the last line that was read
    std::unique_ptr<LineReader> reader_;
    std::unique_ptr<MalformedHandler> malformed_;

  private:
    /// After the end of an input or a stop. False: that was all.
    template <class Format>
    bool goes_on(Format& format) {
        if (!begin_next_input()) {
            finish();
            return false;
        }
        if constexpr (requires { format.begin_input(); }) format.begin_input();
        return true;
    }
    void publish_progress() noexcept;
    void open_input();

    std::vector<std::string> paths_;
    std::size_t input_ = 0;
    std::uint64_t bytes_before_ = 0;  // of the inputs that were read
    std::uint64_t bytes_of_all_ = 0;  // 0: not known
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
    bool is_draining_ = false;         // only what waited at a stop is still read
    std::int64_t drain_until_ns_ = 0;  // after a stop
};

template <class T, bool holds_text, class Emit, class Format>
SourceStatus FileSource::poll_records(Emit& emit, std::size_t budget, Format format) {
    if (!reader_) return SourceStatus::finished;
    const auto keep_text = [&] {
        if constexpr (holds_text) {
            if (position_ != end_) emit.keep_alive(reader_->chunk());
        }
    };
    keep_text();
    for (;;) {
        bool partial = false;
        while (position_ != end_ && !partial) {
            if (budget == 0) return SourceStatus::more;
            T record{};
            const Row row = format(record);
            partial = row == Row::partial;
            if (row != Row::ready) continue;
            --budget;
            if (!emit(std::move(record))) return SourceStatus::more;
        }
        if (const auto refused = malformed_->take_count()) emit.count_malformed(refused);
        switch (refill()) {
            case Refill::text:
                stamp_arrival(emit);
                if constexpr (requires { format.begin_text(); }) format.begin_text();
                keep_text();
                break;
            case Refill::wait:
                return SourceStatus::idle;
            case Refill::no_chunk:
                return SourceStatus::held;
            case Refill::too_long:
                if constexpr (requires { format.refuse_partial(); }) {
                    if (position_ != end_) {
                        format.refuse_partial();
                        break;
                    }
                }
                drop_too_long();
                break;
            case Refill::stopped:
                if constexpr (requires { format.pass_partial_at_stop(); }) {
                    if (position_ != end_ && format.pass_partial_at_stop()) break;
                }
                if (const auto cut_off = report_cut_off()) emit.count_malformed(cut_off);
                if (goes_on(format)) break;
                return SourceStatus::finished;
            case Refill::end:
                if constexpr (requires { format.refuse_partial(); }) {
                    if (position_ != end_) {
                        format.refuse_partial();
                        break;
                    }
                }
                if constexpr (requires { format.end_input(); }) {
                    format.end_input();
                    if (const auto refused = malformed_->take_count()) {
                        emit.count_malformed(refused);
                    }
                }
                if (goes_on(format)) break;
                return SourceStatus::finished;
        }
    }
}

}  // namespace strid
