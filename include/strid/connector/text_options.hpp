// SPDX-License-Identifier: Apache-2.0
//
// How the text of files is read. A plain value.
#pragma once

#include <cstddef>
#include <string>

namespace strid {

/// How text is read: the member `text` of the options of csv_file, json_lines and text_lines. The
/// defaults fit a second-level cache; a test makes them tiny. A source has at most `chunks` chunks
/// of `chunk_bytes`, 16 MiB, and at most 4 larger ones for lines that do not fit a chunk; within
/// `replay` it keeps all text. A limit of 0 is a GraphError.
struct TextOptions {
    /// Bytes of a chunk. A batch keeps the chunks alive that its records point into.
    std::size_t chunk_bytes = std::size_t{256} << 10;
    /// Chunks that exist at once, at least 4 whatever is given. While all are in use downstream the
    /// source waits: back-pressure.
    std::size_t chunks = 64;
    /// The longest line, in bytes without its end. A longer one is malformed and goes the way of
    /// the option `on_malformed`.
    std::size_t line_bytes_max = std::size_t{128} << 20;
    /// A file with the dictionary that zstd inputs were compressed with; empty: none.
    std::string zstd_dictionary{};
};

}  // namespace strid
