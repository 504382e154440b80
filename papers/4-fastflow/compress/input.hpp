// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a file, a pipe or standard input ("-") as they are. Owns the descriptor, never that
// of standard input. One thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include <sys/stat.h>

namespace strid::compress {

class Input {
  public:
    /// The kinds that a path may lead to. Files are looked at once they are open: another program
    /// may have replaced the one that was found there.
    enum class Kind : unsigned char { any, file, file_without_link };

    /// A wait for a pipe ends when `interrupted` is set, by Interrupted. Throws InputOutputError.
    Input(std::string path, const std::atomic<bool>& interrupted, Kind kind = Kind::any);
    ~Input();
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    /// For messages.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// As it was when it was opened.
    [[nodiscard]] const struct stat& status() const noexcept { return status_; }
    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }
    [[nodiscard]] bool ended() const noexcept { return ended_; }

    /// Reads up to `size` bytes, more than 0; none at the end, which ended() reports, and where a
    /// pipe has none for a tenth of a second. Throws InputOutputError, Interrupted.
    std::size_t read(char* out, std::size_t size);

    /// Throws Interrupted; reading does so by itself.
    void check_interrupted() const;

    /// True where the name still stands for the file that was read, and the file was not changed
    /// since it was opened.
    [[nodiscard]] bool is_unchanged() const noexcept;

  private:
    void open(Kind kind);
    [[noreturn]] void fail(const char* what, int error) const;

    const std::string path_;
    const std::string name_;
    const std::atomic<bool>& interrupted_;
    int descriptor_;
    struct stat status_ {};
    std::uint64_t bytes_read_ = 0;
    bool ended_ = false;
};

}  // namespace strid::compress
