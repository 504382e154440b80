// SPDX-License-Identifier: Apache-2.0
//
// The passwords of users: a file with a line USER:HASH for each, where HASH is one of crypt(3) with
// its salt. New ones are made by yescrypt; `mkpasswd` makes such hashes, too. Empty lines, and
// those that begin with '#', are passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace strid::exchange {

class Passwords {
  public:
    /// Reads the file. Throws InputOutputError, which names the line.
    explicit Passwords(std::string path);

    /// Reads the file again where it has changed. A file that is wrong now leaves all as it was:
    /// the text says why, and is empty otherwise.
    std::string update();
    [[nodiscard]] bool has(std::string_view user) const { return hashes_.contains(user); }
    /// Takes as long for a wrong password as for the right one, some 10 ms: it is made to be slow.
    /// False for a user that is not there, at once.
    [[nodiscard]] bool is_right(std::string_view user, const std::string& password) const;
    /// Whether accounts other than the owner's may read the file.
    [[nodiscard]] bool others_may_read() const noexcept { return (mode_ & 077) != 0; }

  private:
    struct Stamp {
        std::uint64_t inode = 0;
        std::int64_t changed_ns = 0;
        std::int64_t bytes = 0;
        bool operator==(const Stamp&) const = default;
    };
    void read();

    std::string path_;
    Stamp stamp_;
    unsigned mode_ = 0;
    std::map<std::string, std::string, std::less<>> hashes_;
};

/// The line of a user, with a new salt. Throws InputOutputError where that cannot be made.
[[nodiscard]] std::string password_line(std::string_view user, const std::string& password);

/// Sets the password of a user in the file, or makes the file, for its owner alone; the other lines
/// stay as they are. A null `password` takes the user out. Throws InputOutputError; the file is
/// whole or as it was.
void set_password(const std::string& path, std::string_view user, const std::string* password);

}  // namespace strid::exchange
