// SPDX-License-Identifier: Apache-2.0
//
// The folder of a journal: its lock, and its files by their names, GENERATION-PLACE.journal. A
// run that begins anew (--restart) writes a generation of its own beside the one of the run before.
//
// Threads: one at a time. Invariant: a process has the lock as long as the object lives, unless it
// was opened for reading.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <strid/engine/state/journal_file.hpp>

namespace strid::detail {

/// The name of a file.
struct JournalFile {
    std::uint64_t generation = 0;
    std::uint64_t first = 0;  // the place of its first byte in the text
    friend auto operator<=>(const JournalFile&, const JournalFile&) = default;
};

class JournalFolder {
  public:
    enum class Use : std::uint8_t { reads, writes };

    /// To write, makes the folder where there is none, and takes the lock. Throws
    /// InputOutputError.
    JournalFolder(std::string path, Use use);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// Those that there are, rising.
    [[nodiscard]] std::vector<JournalFile> files() const;
    [[nodiscard]] std::string file_of(const JournalFile& file) const;
    [[nodiscard]] JournalFileReader open(const JournalFile& file) const;
    /// The descriptor of a new file, or -1 with errno.
    [[nodiscard]] int create(const JournalFile& file) const noexcept;
    /// Throws InputOutputError.
    void remove(const JournalFile& file) const;
    /// The names are on the disk. An error of the system, or 0.
    [[nodiscard]] int synchronize() const noexcept;
    /// Of the file.
    [[nodiscard]] std::uint64_t file_bytes(const JournalFile& file) const noexcept;

  private:
    std::string path_;
    JournalDescriptor directory_;
    JournalDescriptor lock_;
};

[[noreturn]] void fail_of_journal(const std::string& file, const char* what, int error);

}  // namespace strid::detail
