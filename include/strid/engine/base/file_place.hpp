// SPDX-License-Identifier: Apache-2.0
//
// The place that a path leads to, to find out whether two paths are one file. Functions without
// state; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace strid {

/// The end of a path behind all its symbolic links, also when the file does not exist yet: a name
/// in a directory, or an open descriptor of this process (/dev/stdout, /dev/fd/3).
struct FilePlace {
    std::string directory = {};  ///< Without symbolic links.
    std::string name = {};
    int descriptor = -1;

    [[nodiscard]] std::string path() const;
    /// Another name in the same directory.
    [[nodiscard]] std::string beside(std::string_view name_beside) const;
};

/// Nothing, with errno set, if a directory on the way does not exist or the links form a cycle.
[[nodiscard]] std::optional<FilePlace> find_place(const std::string& path);

/// Two paths with the same identity are one file. A file that does not exist yet is identified by
/// its directory and name.
struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
    std::string name = {};

    bool operator==(const FileIdentity&) const = default;
};

/// The stream that "-" stands for.
enum class StandardStream : unsigned char { input, output };

/// The identity of a path that keeps its content: a file or a block device. Nothing for terminals,
/// pipes, sockets and devices like /dev/null, and for a path that leads nowhere.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::string& path, StandardStream dash);

/// True if reading or writing the path may block for an unbounded time: a terminal, a pipe, a
/// socket. Never for /dev/null.
[[nodiscard]] bool file_may_block(const std::string& path, StandardStream dash) noexcept;

}  // namespace strid
