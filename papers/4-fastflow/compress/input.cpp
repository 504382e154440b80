// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <strid/base/error.hpp>

namespace strid::compress {

namespace {

constexpr int wait_ms = 100;

bool is_same_time(const timespec& a, const timespec& b) noexcept {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

Input::Input(std::string path, const std::atomic<bool>& interrupted, Kind kind)
    : path_(std::move(path)),
      name_(path_ == "-" ? "(stdin)" : path_),
      interrupted_(interrupted),
      descriptor_(path_ == "-" ? STDIN_FILENO : -1) {
    if (descriptor_ < 0) open(kind);
    if (::fstat(descriptor_, &status_) != 0) fail("cannot open", errno);
    const bool is_file = S_ISREG(status_.st_mode);
    if (kind != Kind::any && !is_file) {
        ::close(descriptor_);
        throw InputOutputError(fmt::format("{}: is not a regular file", name_));
    }
#ifdef POSIX_FADV_SEQUENTIAL
    if (is_file) ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
}

void Input::open(Kind kind) {
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;
    if (kind != Kind::any) flags |= O_NONBLOCK;  // a pipe would wait for its writer
    if (kind == Kind::file_without_link) flags |= O_NOFOLLOW;
    descriptor_ = ::open(path_.c_str(), flags);
    if (descriptor_ < 0) fail("cannot open", errno);
}

Input::~Input() {
    if (descriptor_ >= 0 && path_ != "-") ::close(descriptor_);
}

void Input::fail(const char* what, int error) const {
    throw InputOutputError(
        fmt::format("{}: {}: {}", name_, what, std::generic_category().message(error)));
}

void Input::check_interrupted() const {
    if (interrupted_.load(std::memory_order_relaxed)) throw Interrupted();
}

std::size_t Input::read(char* out, std::size_t size) {
    while (!ended_) {
        check_interrupted();
        if (!S_ISREG(status_.st_mode)) {
            pollfd asked{descriptor_, POLLIN, 0};
            const int ready = ::poll(&asked, 1, wait_ms);
            if (ready == 0) return 0;
            if (ready < 0 && errno == EINTR) continue;
        }
        const ssize_t count = ::read(descriptor_, out, size);
        if (count > 0) {
            bytes_read_ += static_cast<std::uint64_t>(count);
            return static_cast<std::size_t>(count);
        }
        if (count < 0 && errno == EAGAIN) return 0;
        if (count < 0 && errno != EINTR) fail("cannot read", errno);
        ended_ = count == 0;
    }
    return 0;
}

bool Input::is_unchanged() const noexcept {
    struct stat now {};
    struct stat named {};
    return ::fstat(descriptor_, &now) == 0 && now.st_size == status_.st_size &&
           is_same_time(now.st_mtim, status_.st_mtim) && ::stat(path_.c_str(), &named) == 0 &&
           named.st_dev == now.st_dev && named.st_ino == now.st_ino;
}

}  // namespace strid::compress
