// SPDX-License-Identifier: Apache-2.0
//
// A secret made for one run, in a file that only its owner can read. Owns the file, and removes it
// at the end. One thread.
#pragma once

#include <string>

#include <sys/types.h>

namespace strid::operate {

class TokenFile {
  public:
    /// Makes a token of 256 random bits and writes it, with a line end, to `path`, which is
    /// replaced by a new file; empty: to a new file in $XDG_RUNTIME_DIR, else in the folder for
    /// temporary files. Throws InputOutputError, also where `path` is a file of another kind.
    explicit TokenFile(const std::string& path);
    ~TokenFile();
    TokenFile(const TokenFile&) = delete;
    TokenFile& operator=(const TokenFile&) = delete;

    /// 64 hexadecimal digits.
    [[nodiscard]] const std::string& token() const noexcept { return token_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    std::string token_;
    std::string path_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace strid::operate
