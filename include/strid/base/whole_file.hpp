// SPDX-License-Identifier: Apache-2.0
//
// A file that is replaced as a whole: it is written under another name (file_use.hpp:
// temporary_name) and renamed when it is complete and on the disk. Owns the descriptors and the
// temporary file. One thread at a time.
//
// Invariants: until commit() the name refers to the old file; if the process dies or the machine
// stops, the name refers to either the old or the new file, complete. Until then the temporary file
// is its owner's alone. Owner, permissions and times are set by descriptor, so that another user of
// the directory cannot direct them to another file. The temporary file is locked while it is
// written. One without a lock was left by a process that was killed; the next writer of the same
// file, of the same user, removes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include <strid/engine/base/file_place.hpp>

namespace strid {

/// The treatment of a file that has the name already.
enum class OldFile : unsigned char {
    adopted,  ///< It must be writable; the new one gets its owner, permissions and access list.
    ignored,  ///< It is replaced, whatever it is, also a link. See WholeFile::take_over().
    refused   ///< commit() fails where there is one. See WholeFile::take_over().
};

/// How a later run goes on writing a file, as a snapshot saves it.
struct UnfinishedFile {
    std::string beside = {};  ///< Its name in the directory; empty: it has the one that was given.
    std::uint64_t bytes = 0;  ///< Written before the snapshot; others are cut off.
    std::uint32_t mode = 0;   ///< As WholeFile has it.
    std::uint64_t inode = 0;  ///< By which it is known where it has its name already.
};

/// A file that gets its name when it is complete. Threads: one at a time.
class WholeFile {
  public:
    /// `path` is the name that the user gave, for messages. Throws InputOutputError.
    WholeFile(std::string path, const FilePlace& place, OldFile old = OldFile::adopted);
    /// One that a later run can go on with: suspend() leaves it where it is.
    WholeFile(std::string path, const FilePlace& place, const UnfinishedFile* before);
    /// Discards a file that is neither committed nor suspended.
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    /// Open for writing and empty; readable for its owner alone.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    /// How a later run goes on with the file, which is not on the disk yet. Throws
    /// InputOutputError.
    [[nodiscard]] UnfinishedFile unfinished() const;
    /// Closes the file, which stays where it is.
    void suspend() noexcept { close(); }
    /// commit() gives the file the owner (where this user may), the permissions and the times of
    /// `status`. Without it, an adopted file has those of the old one, or of any new file, and the
    /// others remain their owner's alone.
    void take_over(const struct stat& status) { status_ = status; }
    /// Writes the file to the disk and renames it. Throws InputOutputError: the temporary file
    /// remains where the whole file is in it and cannot be renamed.
    void commit();

  private:
    void open_directory();
    void check_old() const;
    void clear_leftovers() const;
    void create(std::string (*name_beside)(std::string_view));
    void reopen(const UnfinishedFile& before);
    [[nodiscard]] bool find_old(struct stat& status) const noexcept;
    void finish_status() const;
    void adopt_access_list() const noexcept;
    void synchronize(int descriptor, const char* what) const;
    [[nodiscard]] int rename() const noexcept;
    void close() noexcept;
    [[noreturn]] void fail_to_create(int error) const;
    [[noreturn]] void fail(const std::string& what, int error) const;
    [[noreturn]] void cannot_replace(const std::string& why) const;

    std::string path_;
    FilePlace place_;
    OldFile old_;
    std::string beside_;  // in the same directory
    int directory_ = -1;
    int descriptor_ = -1;
    mode_t mode_ = S_IRUSR | S_IWUSR;  // of a file that replaces none
    std::optional<struct stat> status_;
};

}  // namespace strid
