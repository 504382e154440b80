// SPDX-License-Identifier: Apache-2.0
//
// A range of the text of a source: a region of whole lines that was read ahead of the rows that are
// emitted, and that a task of the run may parse meanwhile.
//
// Threads: the source puts a range in, and takes it out. In between, the range is used by the one
// thread that has claimed it, the source or a task (RangeQueue). Invariant: rows that a task has
// parsed begin with the range, follow each other, and end before `parsed_to`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <strid/memory/text_arena.hpp>

namespace strid {

/// Texts that parsing has changed in place (second quotes and escapes taken out), as they were.
class ChangedText {
  public:
    /// Before the text is changed.
    void keep(char* begin, std::size_t bytes) {
        changes_.push_back({begin, kept_.size(), bytes});
        kept_.append(begin, bytes);
    }
    /// Puts back what stood at `place` and behind it. O(changes there).
    void undo_from(const char* place) noexcept;
    void forget() noexcept {
        changes_.clear();
        kept_.clear();
    }

  private:
    struct Change {
        char* begin;
        std::size_t kept_at;
        std::size_t bytes;
    };
    std::vector<Change> changes_;  // by place
    std::string kept_;
};

/// A region of whole lines.
struct TextRange {
    memory::TextReference chunk;  ///< Keeps the text alive. It has no other range.
    char* begin = nullptr;
    char* end = nullptr;
    std::uint64_t bytes_before = 0;  ///< Of the text.
};

class ParsedRange {
  public:
    /// The thread that uses it.
    enum class State : std::uint8_t {
        free,     ///< the source: there is no text
        waiting,  ///< none: it may be claimed
        claimed,  ///< the one that has claimed it
        parsed    ///< the source
    };

    ParsedRange() = default;
    ParsedRange(const ParsedRange&) = delete;
    ParsedRange& operator=(const ParsedRange&) = delete;
    virtual ~ParsedRange() = default;

    /// Lets go of the rows, and of what they point to.
    virtual void forget_rows() noexcept = 0;

    TextRange text;
    char* parsed_to = nullptr;    ///< The first line that was not parsed.
    std::uint64_t lines = 0;      ///< Before it, in the range.
    bool has_rows = false;        ///< Rows up to there wait to be emitted.
    ChangedText changes;          ///< By parsing.
    std::vector<char*> row_ends;  ///< Where the next line begins, for each row.

  private:
    friend class RangeQueue;

    std::atomic<State> state_{State::free};
    std::atomic<std::uint64_t> number_{0};  // relaxed: in which order ranges are best claimed
};

}  // namespace strid
