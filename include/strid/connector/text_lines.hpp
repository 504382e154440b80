// SPDX-License-Identifier: Apache-2.0
//
// A source of the lines of a text: a file, compressed or not, a pipe, a socket or standard input
// ("-"; see ByteReader). The text of a record points into the chunk it was read into. See
// FileSource for threads and replicas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/connector/malformed.hpp>
#include <strid/connector/text_options.hpp>
#include <strid/engine/connector/file_source.hpp>
#include <strid/state/journal.hpp>

namespace strid {

/// A line of a text. The view is valid as text of a record is: for its batch.
struct Line {
    std::string_view text;  ///< without '\n' or "\r\n"; any bytes, also NUL
    std::uint64_t number;   ///< counted from 1
};

/// How lines are read.
struct TextLinesOptions {
    OnMalformed on_malformed = OnMalformed::stop;  ///< for lines beyond text.line_bytes_max
    std::string dead_letter_path{};                ///< see MalformedOptions
    /// Called with each refused line, by the thread of the replica.
    std::function<void(const MalformedLine&)> dead_letter{};
    TextOptions text{};                     ///< How text is read and how long a line may be.
    Writing dead_letters = Writing::whole;  ///< when the file of dead_letter_path gets its rows
    JournalOptions journal{};               ///< Of a pipe or a socket in a run with snapshots.
};

/// The source that `text_lines` makes.
class TextLines : public FileSource {
  public:
    using record_type = Line;

    /// Opens nothing yet.
    explicit TextLines(std::string path, const TextLinesOptions& options = {})
        : FileSource(std::vector{std::move(path)}, options) {}

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        return poll_records<Line, true>(emit, budget, Lines{{}, this});
    }

  private:
    struct Lines : RowsOfLines {
        TextLines* file;

        [[gnu::always_inline]] Row operator()(Line& line) const {
            line = file->next_line();
            if (line.text.size() <= file->line_bytes_max()) [[likely]]
                return Row::ready;
            file->refuse_too_long(line.text);
            return Row::none;
        }
    };

    Line next_line() noexcept {
        char* const newline = static_cast<char*>(
            std::memchr(position_, '\n', static_cast<std::size_t>(end_ - position_)));
        auto length = static_cast<std::size_t>(newline - position_);
        if (length > 0 && newline[-1] == '\r') --length;
        const std::string_view text{position_, length};
        position_ = newline + 1;
        return {text, ++line_number_};
    }
};

/// The lines of `path`.
[[nodiscard]] inline TextLines text_lines(std::string path, const TextLinesOptions& options = {}) {
    return TextLines(std::move(path), options);
}

}  // namespace strid
