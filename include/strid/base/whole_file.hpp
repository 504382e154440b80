// SPDX-License-Identifier: Apache-2.0
//
// A file that is replaced as a whole: it is written under another name (file_use.hpp:
// temporary_name) and renamed when it is complete. Owns the descriptor and the temporary file.
// One thread at a time.
//
// Invariants: until commit() the name refers to the old file; if the process dies, the name refers
// to either the old or the new file, complete. The temporary file is locked while it is written.
// One without a lock was left by a process that was killed, and the next writer of the same file
// removes it.
#pragma once

#include <string>

#include <strid/engine/base/file_place.hpp>

namespace strid {

/// A file that gets its name when it is complete. Threads: one at a time.
class WholeFile {
  public:
    /// `path` is the name that the user gave, for messages.
    WholeFile(std::string path, const FilePlace& place);
    /// Discards a file that is not committed.
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    /// Open for writing and empty, with the permissions of the file that it will replace.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    /// Renames the temporary file. Throws InputOutputError, and then keeps the temporary file.
    void commit();

  private:
    void check_old() const;
    void create();
    [[nodiscard]] bool take_away_leftover();
    void adopt_permissions() const noexcept;
    [[noreturn]] void fail(const std::string& what, int error) const;
    [[noreturn]] void cannot_replace(const std::string& why) const;

    std::string path_;
    std::string target_;
    std::string directory_;
    std::string beside_;
    int descriptor_ = -1;
};

}  // namespace strid
