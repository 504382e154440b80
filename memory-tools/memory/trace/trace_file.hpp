// SPDX-License-Identifier: Apache-2.0
//
// The folder of a trace: the session that the command made, and the file of this process, which
// grows by chunks. Disk space is allocated before it is mapped: a full disk is an error here, and
// no SIGBUS in the traced program. The file is not kept open, so that the program's file
// descriptors are its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace_format.hpp"

namespace strid::trace {

inline constexpr const char* kFolderVariable = "STRID_MEMORY_TRACE";

/// The session of the folder that the environment names; null if there is none.
[[nodiscard]] Session* find_session();

/// Chooses the name of a new file of this process.
void name_file(Session& session);

/// Appends a chunk of zeros of this many bytes, rounded up to pages; null, with errno, if it cannot
/// be. Under Process::lock. `file_bytes`: the length so far, which it raises.
[[nodiscard]] ChunkHead* append_chunk(std::size_t bytes, std::uint64_t& file_bytes);

template <class Chunk>
[[nodiscard]] Chunk* append(std::uint64_t& file_bytes) {
    return reinterpret_cast<Chunk*>(append_chunk(sizeof(Chunk), file_bytes));
}

/// The chunk is complete: readers may go by its type.
void mark_ready(ChunkHead& head, ChunkType type, std::uint32_t index);

/// Says in the session that counts are lost, and the error that is the reason.
void report_failure(Session& session, int error);

/// Reads at most `bytes` of a file; the number read.
[[nodiscard]] std::size_t read_file(const char* path, char* text, std::size_t bytes);

}  // namespace strid::trace
