// SPDX-License-Identifier: Apache-2.0
#include "token_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/engine/http/listener.hpp>

namespace strid::operate {

namespace {

[[noreturn]] void fail(const std::string& path, std::string_view what) {
    const int fault = errno;
    throw InputOutputError(fmt::format("the token of --http: {}: {}: {}", path, what,
                                       std::generic_category().message(fault)));
}

std::string random_token() {
    std::array<unsigned char, 32> bytes{};
    if (::getentropy(bytes.data(), bytes.size()) != 0) fail("/dev/urandom", "no random numbers");
    std::string token;
    for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
    return token;
}

/// The folder of the user, which is in memory, else the one of all users.
std::string folder_of_tokens() {
    for (const char* const name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
        const char* const folder = std::getenv(name);
        if (folder != nullptr && folder[0] == '/') return folder;
    }
    return "/tmp";
}

}  // namespace

TokenFile::TokenFile(const std::string& path) : token_(random_token()), path_(path) {
    struct stat status {};
    if (!path.empty() && ::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        throw InputOutputError(
            fmt::format("the token of --http: {}: not a plain file; name another", path));
    }
    std::string made = path.empty()
                           ? fmt::format("{}/strid-{}-XXXXXX", folder_of_tokens(), ::getpid())
                           : path + ".XXXXXX";
    // With mode 600, under a name that did not exist.
    const http::Descriptor file(::mkostemp(made.data(), O_CLOEXEC));
    if (file.get() < 0) fail(made, "cannot be made");
    const std::string line = token_ + '\n';
    const bool is_written =
        ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
        ::fstat(file.get(), &status) == 0;
    if (!is_written || (!path.empty() && ::rename(made.c_str(), path.c_str()) != 0)) {
        const int fault = errno;
        ::unlink(made.c_str());
        errno = fault;
        fail(path.empty() ? made : path, "cannot be written");
    }
    if (path.empty()) path_ = made;
    device_ = status.st_dev;
    inode_ = status.st_ino;
}

TokenFile::~TokenFile() {
    struct stat status {};
    const bool is_own =
        ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
    if (is_own) ::unlink(path_.c_str());
}

}  // namespace strid::operate
