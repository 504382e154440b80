// SPDX-License-Identifier: Apache-2.0
//
// Late rows as they stood in the input. A row carries a view of its line. Reading changes some
// lines: quotes and escapes are taken off in place. Of such a line a copy is kept as long as the
// chunk that the line was read into, so as long as a row may be read.
#pragma once

#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <strid/memory/text_arena.hpp>

namespace strid::tool {

/// Where late rows are written. The source stores the header of CSV before its first row, so it is
/// there for every row. The replicas that write use the flag to decide which of them writes the
/// header, before any row.
struct LateFile {
    explicit LateFile(std::string path_of_file) : path(std::move(path_of_file)) {}

    const std::string path;
    std::string header;  // with its newline; empty where there is none
    std::once_flag header_written;
};

/// Used by the source's thread only. Invariant: a copy lives until only this object holds its
/// chunk.
class LineCopies {
  public:
    std::string_view keep(std::string_view line, const memory::TextReference& chunk) {
        if (kept_.empty() || kept_.back().chunk != chunk) kept_.push_back({chunk, {}});
        return kept_.back().lines.emplace_back(line);
    }
    /// Frees the copies whose rows cannot be read any more.
    void forget() {
        std::erase_if(kept_, [](const Copies& copies) { return copies.chunk.use_count() == 1; });
    }

  private:
    struct Copies {
        memory::TextReference chunk;
        std::deque<std::string> lines;
    };
    // Of either no element moves, for rows point to them.
    std::list<Copies> kept_;
};

}  // namespace strid::tool
