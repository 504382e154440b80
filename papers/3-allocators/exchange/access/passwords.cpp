// SPDX-License-Identifier: Apache-2.0
#include "access/passwords.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#ifdef STRID_EXCHANGE_CRYPT
#include <crypt.h>
#endif

#include <strid/base/error.hpp>
#include <strid/program/session.hpp>

namespace strid::exchange {

namespace {

constexpr std::size_t user_bytes_max = 64;
constexpr std::int64_t file_bytes_max = std::int64_t{64} << 20;

#ifdef STRID_EXCHANGE_CRYPT

/// Of yescrypt: 4 MiB of memory and some 10 ms, since many clients log on at once.
constexpr unsigned long cost = 3;

/// Empty where `setting` is no hash, or the password is longer than crypt(3) takes.
std::string hashed(const std::string& password, const std::string& setting) {
    const auto data = std::make_unique<crypt_data>();
    const char* const hash = ::crypt_r(password.c_str(), setting.c_str(), data.get());
    std::string result = hash == nullptr || hash[0] == '*' ? std::string() : std::string(hash);
    std::memset(data.get(), 0, sizeof *data);
    return result;
}

bool is_hash(const std::string& text) {
    const int outcome = ::crypt_checksalt(text.c_str());
    return outcome == CRYPT_SALT_OK || outcome == CRYPT_SALT_TOO_CHEAP;
}

std::string new_setting() {
    char setting[CRYPT_GENSALT_OUTPUT_SIZE];
    if (::crypt_gensalt_rn("$y$", cost, nullptr, 0, setting, sizeof setting) == nullptr) {
        throw InputOutputError("crypt: " + std::generic_category().message(errno));
    }
    return setting;
}

#else

[[noreturn]] void left_out() {
    throw InputOutputError("passwords are left out of this build: libcrypt was not found");
}
std::string hashed(const std::string&, const std::string&) {
    left_out();
}
bool is_hash(const std::string&) {
    left_out();
}
std::string new_setting() {
    left_out();
}

#endif

/// In a time that depends on the lengths alone.
bool are_equal(std::string_view one, std::string_view other) {
    if (one.size() != other.size()) return false;
    unsigned difference = 0;
    for (std::size_t at = 0; at < one.size(); ++at) {
        difference |= static_cast<unsigned char>(one[at]) ^ static_cast<unsigned char>(other[at]);
    }
    volatile const unsigned result = difference;
    return result == 0;
}

bool is_user(std::string_view text) {
    return !text.empty() && text.size() <= user_bytes_max && text.front() != '#' &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

struct stat status_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        throw InputOutputError(path + ": " + std::generic_category().message(errno));
    }
    if (!S_ISREG(status.st_mode)) throw InputOutputError(path + ": is no plain file");
    if (status.st_size > file_bytes_max) {
        throw InputOutputError(fmt::format("{}: more than {} bytes", path, file_bytes_max));
    }
    return status;
}

}  // namespace

Passwords::Passwords(std::string path) : path_(std::move(path)) {
    read();
}

void Passwords::read() {
    const struct stat status = status_of(path_);
    std::ifstream file(path_);
    if (!file) throw InputOutputError(path_ + ": cannot be read");
    std::map<std::string, std::string, std::less<>> hashes;
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.empty() || line.front() == '#') continue;
        const std::size_t colon = line.rfind(':');
        const std::string user = line.substr(0, std::min(colon, line.size()));
        if (colon == std::string::npos || !is_user(user) || !is_hash(line.substr(colon + 1))) {
            throw InputOutputError(
                fmt::format("{}:{}: not USER:HASH, with a hash of crypt(3)", path_, number));
        }
        if (!hashes.emplace(user, line.substr(colon + 1)).second) {
            throw InputOutputError(fmt::format("{}:{}: user '{}' once more", path_, number, user));
        }
    }
    if (file.bad()) throw InputOutputError(path_ + ": cannot be read");
    hashes_ = std::move(hashes);
    mode_ = status.st_mode;
    stamp_ = {status.st_ino, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
              status.st_size};
}

std::string Passwords::update() {
    try {
        const struct stat status = status_of(path_);
        const Stamp stamp{status.st_ino,
                          status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
                          status.st_size};
        if (stamp == stamp_) return {};
        stamp_ = stamp;  // a fault is reported once
        read();
        return {};
    } catch (const InputOutputError& error) {
        return error.what();
    }
}

bool Passwords::is_right(std::string_view user, const std::string& password) const {
    const auto found = hashes_.find(user);
    return found != hashes_.end() && are_equal(hashed(password, found->second), found->second);
}

std::string password_line(std::string_view user, const std::string& password) {
    if (!is_user(user)) {
        throw InputOutputError(
            fmt::format("'{}': a user has 1 to {} characters of ASCII, the first is not '#'", user,
                        user_bytes_max));
    }
    if (password.empty()) throw InputOutputError("the password is empty");
    const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; };
    if (std::any_of(password.begin(), password.end(), is_control)) {
        throw InputOutputError("the password has a control character");
    }
    const std::string hash = hashed(password, new_setting());
    if (hash.empty()) throw InputOutputError("the password is longer than crypt(3) takes");
    return fmt::format("{}:{}", user, hash);
}

void set_password(const std::string& path, std::string_view user, const std::string* password) {
    std::string text;
    bool was_there = false;
    const std::string line = password != nullptr ? password_line(user, *password) + "\n" : "";
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 || errno != ENOENT) {
        (void)Passwords(path);  // a file of another kind is never written
        std::ifstream file(path);
        for (std::string old; std::getline(file, old);) {
            const std::size_t colon = old.rfind(':');
            const bool is_it = colon != std::string::npos && old.front() != '#' &&
                               std::string_view(old).substr(0, colon) == user;
            was_there = was_there || is_it;
            text += is_it ? line : old + "\n";
        }
        if (file.bad()) throw InputOutputError(path + ": cannot be read");
    }
    if (!was_there && password == nullptr) {
        throw InputOutputError(fmt::format("{}: no user '{}'", path, user));
    }
    if (!was_there) text += line;
    write_file(path, text);
}

}  // namespace strid::exchange
