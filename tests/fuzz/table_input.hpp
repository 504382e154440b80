// SPDX-License-Identifier: Apache-2.0
//
// Bytes as the rows of `strid window` for a fuzzer, read to their end without the engine. Threads:
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <strid/memory/text_arena.hpp>
#include <strid/operator/context.hpp>

#include "../../tools/strid/window/table_source.hpp"
#include "../support/fuzzing.hpp"
#include "../support/opened.hpp"

namespace strid::fuzz {

/// The emitter of a source; the memory that rows lie in stays.
struct Rows {
    bool operator()(const tool::TableRow& row) {
        rows.push_back(row);
        return true;
    }
    void keep_alive(const memory::TextReference& chunk) {
        if (chunks.empty() || !(chunks.back() == chunk)) chunks.push_back(chunk);
    }
    void ingress_at(std::int64_t /*ns*/) {}
    void count_malformed(std::uint64_t count) { malformed += count; }

    std::vector<tool::TableRow> rows;
    std::vector<memory::TextReference> chunks;
    std::uint64_t malformed = 0;
};

/// All rows of the source's input, for as long as the source lives.
inline Rows read_all(tool::TableSource& source) {
    source.keep_all_text();
    Rows found;
    test::open(source);
    while (source.poll(found, 100) != SourceStatus::finished) {
    }
    return found;
}

}  // namespace strid::fuzz
