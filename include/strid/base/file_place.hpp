// SPDX-License-Identifier: Apache-2.0
//
// Where a path leads, so that two names of one file are known to be one. Functions without state;
// any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace strid {

/// Where a path leads through all its symbolic links, also when there is no file yet: a name in a
/// directory, or a descriptor of this process (/dev/stdout, /dev/fd/3), which is open already.
struct FilePlace {
    std::string directory = {};  ///< Without symbolic links.
    std::string name = {};
    int descriptor = -1;

    [[nodiscard]] std::string path() const;
    /// Another name in the same directory.
    [[nodiscard]] std::string beside(std::string_view name_beside) const;
};

/// Nothing, with errno set, where a directory on the way is not there or the links are a circle.
[[nodiscard]] std::optional<FilePlace> find_place(const std::string& path);

/// Two paths with the same identity are one file. A file that is not there yet is a name in its
/// directory.
struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
    std::string name = {};

    bool operator==(const FileIdentity&) const = default;
};

/// What "-" stands for.
enum class StandardStream : unsigned char { input, output };

/// The identity of what keeps what is written to it: files, also block devices. Nothing for
/// terminals, pipes, sockets and devices like /dev/null, and where the path leads nowhere.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::string& path, StandardStream dash);

/// True where the path names what may keep its reader or writer waiting for an unbounded time: a
/// terminal, a pipe, a socket. Never for /dev/null.
[[nodiscard]] bool file_may_block(const std::string& path, StandardStream dash) noexcept;

}  // namespace strid
