// SPDX-License-Identifier: Apache-2.0
//
// Word count: lines are split at spaces, every word is counted. The words point into the text that
// was read; the counting table keeps its own copy of each word once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include <strid/connector/text_lines.hpp>
#include <strid/stream/graph.hpp>

#include "apps/common/endpoints.hpp"
#include "split_words.hpp"

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

/// Emits every word of a line.
class SplitWords {
  public:
    explicit SplitWords(std::shared_ptr<ByteCount> bytes) : bytes_(std::move(bytes)) {}

    template <class EmitWord>
    void operator()(const Line& line, EmitWord& emit) const {
        bytes_->fetch_add(line.text.size() + 1, std::memory_order_relaxed);
        for_each_word(line.text, [&emit](std::string_view text) { emit(Word{text}); });
    }

  private:
    std::shared_ptr<ByteCount> bytes_;
};

/// Builds the graph; the bytes of the lines are counted into `bytes`.
void build(Graph& graph, const Endpoints& endpoints, const Options& options,
           std::shared_ptr<ByteCount> bytes);

}  // namespace strid::apps::word_count
