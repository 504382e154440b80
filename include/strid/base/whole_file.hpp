// SPDX-License-Identifier: Apache-2.0
//
// A file that is whole or not there: written under a name beside its own (file_use.hpp:
// name_until_whole), which replaces what the name stood for when it is whole. Owns the descriptor
// and the name beside. One thread at a time.
//
// Laws: until commit() the name stands for what it stood for before; whatever ends the process
// leaves either. The file beside is locked while it is written, so that one that is not locked
// is left of a process that was killed, and is removed by the next that writes the same file.
#pragma once

#include <string>

#include <strid/base/file_place.hpp>

namespace strid {

/// A file that gets its name when it is complete. Threads: one at a time.
class WholeFile {
  public:
    /// `path` is what the user called it, for messages.
    WholeFile(std::string path, const FilePlace& place);
    /// What is not committed is dropped.
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    /// Open for writing and empty, with the permissions of the file that it is to replace.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    /// The file gets its name. Throws InputOutputError, and then keeps the name beside.
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
