// SPDX-License-Identifier: Apache-2.0
//
// The last lines that the sources of a run could not read, and went on behind
// (strid/connector/malformed.hpp), so that users see in a run that goes on why they are refused.
// Owns copies of them. Any thread.
//
// Invariant: no more than `lines_max` lines are kept, and of a text its beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace strid {

/// One line that a source could not read.
struct RefusedLine {
    std::string file;        ///< The path, as the source was given it.
    std::uint64_t line = 0;  ///< Counted from 1; of a quoted record, its first line.
    std::string reason;      ///< Why it is no record, in words.
    std::string text;        ///< The beginning of the line, as it stood there: any bytes.
};

/// The last ones of a run.
class RefusedLines {
  public:
    /// Lines that are kept.
    static constexpr std::size_t lines_max = 10;
    /// Bytes of a line that are kept.
    static constexpr std::size_t text_bytes_max = 200;

    /// The newest one. O(size).
    void add(const RefusedLine& line) {
        const std::lock_guard lock(mutex_);
        if (lines_.size() < lines_max) {
            lines_.push_back(line);
            return;
        }
        lines_[oldest_] = line;
        oldest_ = (oldest_ + 1) % lines_max;
    }
    /// Oldest first.
    [[nodiscard]] std::vector<RefusedLine> last() const {
        const std::lock_guard lock(mutex_);
        std::vector<RefusedLine> lines;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            lines.push_back(lines_[(oldest_ + i) % lines_.size()]);
        }
        return lines;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<RefusedLine> lines_;  // under mutex_, as oldest_: a ring once it is full
    std::size_t oldest_ = 0;
};

}  // namespace strid
