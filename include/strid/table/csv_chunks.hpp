// SPDX-License-Identifier: Apache-2.0
//
// CSV as chunks of columns, and back. The source is that of csv_file: it reads the same inputs in
// the same dialects, refuses the same rows by the same policy, and lets tasks of the run parse
// ranges of a large file. A field goes from the text of the input into its column; of the columns
// that are not asked for nothing is parsed. A chunk ends with the text that was read at once, so
// that rows of a pipe do not wait for others.
//
// An empty field is NULL, of a text too; `""`, in quotes, is a text without bytes. Times are dates
// of ISO 8601 and the like, or milliseconds since 1970 (base/time_text.hpp); they are written as
// dates in UTC. Intervals are 90s, 5m.
//
// The rows of a chunk point into a piece of the input's text, of which there are few
// (TextOptions::chunks). While chunks hold half of them, further chunks get copies of their texts:
// a source never waits for chunks that are kept.
//
// Threads and replicas as in FileSource and CsvWriter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/connector/csv_options.hpp>
#include <strid/connector/row_writer.hpp>
#include <strid/engine/connector/csv_source.hpp>
#include <strid/operator/contract.hpp>
#include <strid/table/chunk.hpp>
#include <strid/table/schema.hpp>

namespace strid::table {

/// The source that `csv_chunks` makes.
class CsvChunks : public CsvSource {
  public:
    using record_type = Chunk;
    static constexpr SourceTraits traits = with_ranges(CsvSource::traits);

    /// As csv_chunks().
    CsvChunks(std::vector<std::string> paths, Schema schema, CsvOptions options);

    using CsvSource::on;
    void on(const TasksWanted& wanted) { bring_parsers(parsers_, wanted); }
    void on(Closed) noexcept { parsers_.close(); }

    /// At most `chunks_of_poll` chunks.
    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        Emitted<Emit, true> emitted{emit, *this};
        const SourceStatus status =
            poll_records<Chunk, true>(emitted, std::min(budget, chunks_of_poll), ChunkRows{*this});
        text_.reset();
        return status;
    }
    /// Parses a range, as a copy of the source that has read it.
    void parse(ParsedRows<Chunk>& range) {
        Emitted<ParsedRows<Chunk>, false> emitted{range, *this};
        parse_apart<Chunk, true>(range, emitted, ChunkRows{*this});
    }
    /// See FileSource.
    void rest() noexcept { text_.reset(); }
    /// The columns of the chunks.
    [[nodiscard]] const Schema& schema() const noexcept { return schema_; }

  private:
    static constexpr std::size_t chunks_of_poll = 4;
    static constexpr std::int16_t passed_over = -1;

    /// A chunk holds the text that its rows point into, so that batches need not.
    template <class Emit, bool leaves_source>
    struct Emitted {
        Emit& emit;
        CsvChunks& source;

        bool operator()(Chunk&& chunk) {
            if constexpr (leaves_source) source.spare_text(chunk);
            return emit(std::move(chunk));
        }
        void keep_alive(const memory::TextReference& text) {
            source.text_ = text;
            if constexpr (!leaves_source) emit.keep_alive(text);  // for the source
        }
        void ingress_at(std::int64_t ns) { emit.ingress_at(ns); }
        void count_malformed(std::uint64_t count) { emit.count_malformed(count); }
    };
    /// Pieces of text that chunks hold which have left. A copy of the source has none.
    struct TextsOut {
        TextsOut() = default;
        TextsOut(const TextsOut& /*other*/) noexcept {}
        TextsOut(TextsOut&&) noexcept = default;
        TextsOut& operator=(const TextsOut&) = delete;
        ~TextsOut() = default;

        std::vector<memory::TextReference> pieces;
    };
    struct ChunkRows : CsvRows {
        explicit ChunkRows(CsvChunks& chunks) noexcept : CsvRows(chunks), source(&chunks) {}

        Row operator()(Chunk& chunk) const { return source->read_chunk(chunk); }
        void begin_input() const {
            CsvRows::begin_input();
            source->parsers_.forget_pattern();
            source->steps_.clear();
        }
        [[nodiscard]] bool begin_ranges() const {
            if (!is_settled()) return false;
            source->text_.reset();  // copies read other text, and the next is given behind this
            source->parsers_.set_pattern(*source);
            return true;
        }
        static constexpr bool reads_ranges = true;

        CsvChunks* source;
    };

    /// Copies the texts of a chunk that leaves where too few pieces would be left.
    void spare_text(Chunk& chunk);
    Row read_chunk(Chunk& chunk);
    /// Into the row of the chunk.
    Row read_row(Chunk& chunk, std::size_t row);
    [[nodiscard]] bool scan_row(Chunk& chunk, std::size_t row);
    [[nodiscard]] bool scan_field(const char* begin, const char* end, Type type, Column& column,
                                  std::size_t row);
    strid::detail::CsvFault read_field(std::string_view text, Type type, Column& column,
                                       std::size_t row);
    void forget_row(Chunk& chunk, std::size_t row);
    void plan_steps();

    Schema schema_;
    bool has_texts_ = false;
    bool is_plain_;                    // the dialect is one that rows can be scanned in
    std::vector<std::int16_t> steps_;  // for each field up to the last that is asked for, its
                                       // column; empty: not known yet
    ChunkMemory memory_;
    memory::TextReference text_;  // that rows are read from, or were where they leave
    TextsOut out_;
    Chunk passed_;  // rows that another run has emitted
    RangeParsers<CsvChunks> parsers_;
};

/// The rows of a CSV file as chunks of this schema. Its columns are those of the same names in the
/// header; without a header (`CsvHeader::none`), or with `options.columns`, those at the places
/// that the options have, or the first. Throws GraphError for no columns and for options that do
/// not fit.
[[nodiscard]] CsvChunks csv_chunks(std::string path, const Schema& schema,
                                   CsvOptions options = {.header = CsvHeader::skip});

/// The sink that `csv_from_chunks` makes. Throws InputOutputError where it cannot write.
class ChunkWriter {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, SnapshotBegins, Closed>,
                                           .has = Has::blocks | Has::files,
                                           .parallel_by_default = true,
                                           .stateless = true};

    /// As csv_from_chunks().
    ChunkWriter(std::string path, Schema schema, char delimiter, Writing writing);

    /// Begins the file, with the names of the columns.
    void on(const Opened& opened);
    /// Writes the rows of the chunk.
    void operator()(const Chunk& chunk);
    void on(Flush) { writer_.flush(); }
    void on(SnapshotBegins snapshot) { writer_.begin_snapshot(snapshot.number); }
    void on(Closed) { writer_.close(); }
    /// True when a write may wait for a reader (a pipe, a terminal).
    [[nodiscard]] bool blocks() const noexcept { return writer_.may_block(); }
    /// The file.
    [[nodiscard]] std::vector<FileUse> files() const { return writer_.files(); }

  private:
    RowWriter writer_;
    Schema schema_;
    char delimiter_;
};

/// Writes chunks of the schema to a CSV file with a header. NULL is an empty field. Throws
/// GraphError for a delimiter that cannot be one.
[[nodiscard]] ChunkWriter csv_from_chunks(std::string path, const Schema& schema,
                                          char delimiter = ',', Writing writing = Writing::whole);

}  // namespace strid::table
