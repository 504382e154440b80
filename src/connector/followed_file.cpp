// SPDX-License-Identifier: Apache-2.0
#include "followed_file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>

#include "socket_input.hpp"

namespace strid::detail {

namespace {

/// For so long a program may still write to a file that was renamed, until it opens the new one.
constexpr std::int64_t grace_ns = 1'000'000'000;

int open_file(const std::string& path) noexcept {
    return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/// Which file it is: a number is given anew once its file is gone, so that the birth counts, too.
std::optional<ByteReader::FilePlace> place_of(int descriptor) noexcept {
    struct statx status {};
    const int failed =
        ::statx(descriptor, "", AT_EMPTY_PATH, STATX_INO | STATX_TYPE | STATX_BTIME, &status);
    if (failed != 0 || !S_ISREG(status.stx_mode)) return std::nullopt;
    std::uint64_t birth = 0;
    if ((status.stx_mask & STATX_BTIME) != 0) {
        birth = static_cast<std::uint64_t>(status.stx_btime.tv_sec) * 1'000'000'000U +
                status.stx_btime.tv_nsec;
    }
    const std::uint64_t device = std::uint64_t{status.stx_dev_major} << 32U | status.stx_dev_minor;
    return ByteReader::FilePlace{device, status.stx_ino ^ (birth * 0x9e3779b97f4a7c15U), 0};
}

}  // namespace

std::string_view followed_path(std::string_view input) noexcept {
    constexpr std::string_view scheme = "follow:";
    return input.starts_with(scheme) ? input.substr(scheme.size()) : std::string_view{};
}

FollowedFile::FollowedFile(std::string path) : path_(std::move(path)) {
    const int descriptor = open_file(path_);
    if (descriptor < 0) throw InputOutputError(path_ + ": cannot open: " + reason_of(errno));
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(descriptor);
        throw InputOutputError(path_ + ": cannot be followed: it is no regular file");
    }
    open(descriptor);
}

FollowedFile::~FollowedFile() {
    ::close(descriptor_);
}

void FollowedFile::open(int descriptor) noexcept {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = descriptor;
    position_ = 0;
    replaced_since_ns_ = 0;
}

ByteReader::FilePlace FollowedFile::place() const {
    auto place = place_of(descriptor_);
    if (!place) throw InputOutputError(path_ + ": cannot read: " + reason_of(errno));
    place->bytes = static_cast<std::uint64_t>(position_);
    return *place;
}

bool FollowedFile::go_on_from(const ByteReader::FilePlace& place) {
    const auto is_there = [&](int descriptor) {
        // Not by its device, whose number may change when the file system is mounted anew.
        const auto found = place_of(descriptor);
        return found && found->file == place.file;
    };
    if (!is_there(descriptor_)) {
        const std::filesystem::path named(path_);
        const auto folder = named.has_parent_path() ? named.parent_path() : ".";
        std::error_code error;
        int found = -1;
        for (std::filesystem::directory_iterator entry(folder, error), end;
             !error && entry != end && found < 0; entry.increment(error)) {
            std::error_code ignored;
            if (!entry->is_regular_file(ignored)) continue;
            found = open_file(entry->path());
            if (found >= 0 && !is_there(found)) ::close(std::exchange(found, -1));
        }
        if (found < 0) return false;
        open(found);
    }
    struct stat status {};
    const auto wanted = static_cast<::off_t>(place.bytes);
    const bool is_as_long = ::fstat(descriptor_, &status) == 0 && status.st_size >= wanted;
    position_ = ::lseek(descriptor_, is_as_long ? wanted : 0, SEEK_SET);
    char before = '\n';
    is_in_line_ =
        position_ > 0 && ::pread(descriptor_, &before, 1, position_ - 1) == 1 && before != '\n';
    return true;
}

ByteReader::Result FollowedFile::read(std::span<char> out, int wait_ms) {
    for (;;) {
        const ssize_t got = ::read(descriptor_, out.data(), out.size());
        if (got < 0 && errno != EINTR) {
            throw InputOutputError(path_ + ": cannot read: " + reason_of(errno));
        }
        if (got > 0) {
            const auto bytes = static_cast<std::size_t>(got);
            position_ += got;
            is_in_line_ = out[bytes - 1] != '\n';
            if (replaced_since_ns_ != 0) replaced_since_ns_ = now_ns();
            return {ByteReader::Status::read, bytes};
        }
        if (got == 0 && goes_on()) {
            if (!std::exchange(is_in_line_, false)) continue;
            out.front() = '\n';
            return {ByteReader::Status::read, 1};
        }
        ::poll(nullptr, 0, wait_ms);
        return {ByteReader::Status::waiting, 0};
    }
}

bool FollowedFile::goes_on() {
    struct stat own {};
    struct stat named {};
    if (::fstat(descriptor_, &own) != 0) return false;
    if (own.st_size < position_) {  // truncated
        position_ = ::lseek(descriptor_, 0, SEEK_SET);
        return true;
    }
    if (::stat(path_.c_str(), &named) != 0 || !S_ISREG(named.st_mode)) return false;
    if (named.st_dev == own.st_dev && named.st_ino == own.st_ino) return false;
    if (replaced_since_ns_ == 0) replaced_since_ns_ = now_ns();
    if (now_ns() - replaced_since_ns_ < grace_ns) return false;
    const int descriptor = open_file(path_);
    if (descriptor < 0) return false;  // gone again
    open(descriptor);
    return true;
}

std::uint64_t FollowedFile::bytes_left() const noexcept {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) return 0;
    return static_cast<std::uint64_t>(std::max<::off_t>(status.st_size - position_, 0));
}

}  // namespace strid::detail
