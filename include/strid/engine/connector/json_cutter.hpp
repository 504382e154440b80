// SPDX-License-Identifier: Apache-2.0
//
// Cuts a text into JSON objects. Two shapes: an object a line; or documents, which is whatever
// begins with an array of objects, with an object over several lines, or with the record separator
// of RFC 7464. Documents are objects one after the other, in arrays or not, over any number of
// lines; a JsonRow says whether one is valid. The first bytes show which shape it is.
//
// Invariant: each byte but blanks, separators and the brackets of arrays belongs to one object or
// fault; an object that is not closed ends where the next one begins on a line of its own, so that
// a missing bracket costs one object. Objects that were cut are not kept. Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strid {

class JsonCutter {
  public:
    /// For LineReader::choose_region_end(): '\n' for lines, '}' for documents; '\0': not known yet.
    /// Of what may be a table in CSV: `[id],[name]` is no array.
    [[nodiscard]] static char region_end(std::string_view first) noexcept;
    /// The same of what is JSON.
    [[nodiscard]] static char region_end_of_json(std::string_view first) noexcept;

    enum class [[nodiscard]] Status : std::uint8_t {
        object,   ///< of a line: whatever stands in it
        nothing,  ///< blanks and separators were passed
        partial,  ///< the object at `next` goes on beyond the region
        fault     ///< `text` is refused for `reason`
    };
    struct Cut {
        Status status;
        char* text;
        std::size_t bytes;
        char* next;          ///< where reading goes on
        std::uint64_t line;  ///< of the first byte, counted from 1
        const char* reason;
    };

    /// Cuts the next part of [position, end), which is not empty and begins at the last `next`.
    Cut cut(char* position, char* end, bool has_documents);
    /// The input ended with [position, end) left, which may be empty: a fault, or nothing.
    Cut finish(char* position, char* end);
    /// Of lines: the next one has so many before it.
    void skip_to_line(std::uint64_t line) noexcept { lines_ = line; }
    /// The input goes on somewhere behind.
    void forget() noexcept { *this = JsonCutter{}; }

  private:
    /// The position at the top level.
    enum class Place : std::uint8_t { outside, first, comma, next };

    static char region_end_of(std::string_view first, std::string_view behind_bracket) noexcept;
    Cut cut_line(char* position, char* end);
    Cut cut_document(char* position, char* end);
    Cut pass_separator(char* p);
    Cut junk(char* begin, char* end);
    Cut fault(char* begin, char* end, const char* reason);
    bool scan(char*& p, char* end);
    [[nodiscard]] bool may_hold_object() const noexcept;
    void close(char bracket);
    void begin_object() noexcept;
    void count_lines(const char* begin, const char* end) noexcept;

    std::uint64_t lines_ = 0;  // newlines passed
    bool ends_line_ = false;   // the last byte passed is one
    Place place_ = Place::outside;
    std::size_t arrays_ = 0;  // that are open; objects stand in one at most
    // Of the object at hand:
    std::size_t scanned_ = 0;
    std::string open_;        // its open brackets
    std::size_t deeper_ = 0;  // those beyond a limit, by number only
    char before_ = '\0';      // the last byte that is no blank
    bool in_string_ = false;
    bool is_escaped_ = false;
    bool begins_line_ = false;  // nothing but blanks since the last newline
    bool is_cut_off_ = false;   // another object begins here
};

}  // namespace strid
