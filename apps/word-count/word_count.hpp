// SPDX-License-Identifier: Apache-2.0
//
// Word count: lines are split at spaces, every word is counted. The words point into the text that
// was read; the counting table keeps its own copy of each word once.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include <strid/connector/text_lines.hpp>
#include <strid/graph/graph.hpp>

#include "../endpoints.hpp"

namespace strid::apps::word_count {

struct Options {
    Emit emit = Emit::at_end;  ///< One row per word at the end, or one per occurrence.
};

struct Word {
    std::string_view text;
};

using Count = Keyed<std::string_view, std::uint64_t>;

/// Bytes of lines, their ends included. Relaxed: a number on its own, added to once per line.
using ByteCount = std::atomic<std::uint64_t>;

/// Emits every word of a line: what stands between spaces and is not empty.
class SplitWords {
  public:
    explicit SplitWords(std::shared_ptr<ByteCount> bytes) : bytes_(std::move(bytes)) {}

    template <class EmitWord>
    void operator()(const Line& line, EmitWord& emit) {
        bytes_->fetch_add(line.text.size() + 1, std::memory_order_relaxed);
        const char* at = line.text.data();
        const char* const end = at + line.text.size();
        while (at != end) {
            const auto left = static_cast<std::size_t>(end - at);
            const auto* space = static_cast<const char*>(std::memchr(at, ' ', left));
            if (space == nullptr) space = end;
            if (space != at) emit(Word{{at, static_cast<std::size_t>(space - at)}});
            at = space == end ? end : space + 1;
        }
    }

  private:
    std::shared_ptr<ByteCount> bytes_;
};

/// Builds the graph; the bytes of the lines are counted into `bytes`.
void build(Graph& graph, const Endpoints& endpoints, const Options& options,
           std::shared_ptr<ByteCount> bytes);

}  // namespace strid::apps::word_count
