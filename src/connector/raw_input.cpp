// SPDX-License-Identifier: Apache-2.0
#include "raw_input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>

namespace strid {

bool input_may_block(const std::string& path) noexcept {
    struct stat status {};
    const int failed = path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
    return failed == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

namespace detail {

namespace {

std::string reason_of(int error) {
    return std::generic_category().message(error);
}

}  // namespace

RawInput::RawInput(std::string path) : path_(std::move(path)) {
    if (path_ == "-") {
        path_ = "standard input";
        descriptor_ = STDIN_FILENO;
        owned_ = false;
    } else {
        // O_NONBLOCK so that a named pipe without a writer does not hold open() for ever.
        descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor_ < 0) fail("cannot open: " + reason_of(errno));
    }
    struct stat status {};
    std::string reason;
    if (::fstat(descriptor_, &status) != 0) {
        reason = reason_of(errno);
    } else if (S_ISDIR(status.st_mode)) {
        reason = reason_of(EISDIR);
    }
    if (!reason.empty()) {
        if (owned_) ::close(descriptor_);
        fail("cannot read: " + reason);
    }
    waits_ = !S_ISREG(status.st_mode);
    if (!waits_) {
        const auto begin = std::max<off_t>(::lseek(descriptor_, 0, SEEK_CUR), 0);
        size_bytes_ = static_cast<std::uint64_t>(std::max<off_t>(status.st_size - begin, 0));
    }
}

RawInput::~RawInput() {
    if (owned_) ::close(descriptor_);
}

void RawInput::fail(const std::string& reason) const {
    throw InputOutputError(path_ + ": " + reason);
}

ByteReader::Result RawInput::read(std::span<char> out, int wait_ms) {
    if (prefix_begin_ == prefix_end_) return read_descriptor(out, wait_ms);
    const std::size_t bytes = std::min(out.size(), prefix_end_ - prefix_begin_);
    std::memcpy(out.data(), prefix_.data() + prefix_begin_, bytes);
    prefix_begin_ += bytes;
    return {ByteReader::Status::read, bytes};
}

ByteReader::Result RawInput::read_descriptor(std::span<char> out, int wait_ms) {
    if (ended_) return {ByteReader::Status::end, 0};
    if (waits_) {
        struct pollfd waited {
            descriptor_, POLLIN, 0
        };
        const int ready = ::poll(&waited, 1, wait_ms);
        if (ready == 0 || (ready < 0 && errno == EINTR)) return {ByteReader::Status::waiting, 0};
        if (ready < 0) fail("cannot wait for input: " + reason_of(errno));
    }
    const ssize_t got = ::read(descriptor_, out.data(), out.size());
    if (got < 0) {
        if (errno == EAGAIN || errno == EINTR) return {ByteReader::Status::waiting, 0};
        fail("cannot read: " + reason_of(errno));
    }
    if (got == 0) {
        ended_ = true;
        return {ByteReader::Status::end, 0};
    }
    bytes_read_ += static_cast<std::uint64_t>(got);
    return {ByteReader::Status::read, static_cast<std::size_t>(got)};
}

RawInput::Format RawInput::format_of_prefix() const noexcept {
    const auto byte = [this](std::size_t i) { return static_cast<unsigned char>(prefix_[i]); };
    const std::size_t have = prefix_end_;
    if (have == 0) return Format::unknown;
    if (byte(0) == 0x1f) {
        if (have < 2) return Format::unknown;
        return byte(1) == 0x8b ? Format::gzip : Format::plain;
    }
    // A zstd frame, or one of the skippable frames that pzstd puts in front.
    const bool skippable = (byte(0) & 0xf0) == 0x50;
    const std::array<unsigned char, 4> magic =
        skippable ? std::array<unsigned char, 4>{byte(0), 0x2a, 0x4d, 0x18}
                  : std::array<unsigned char, 4>{0x28, 0xb5, 0x2f, 0xfd};
    for (std::size_t i = 0; i < magic.size(); ++i) {
        if (i == have) return Format::unknown;
        if (byte(i) != magic[i]) return Format::plain;
    }
    return Format::zstd;
}

RawInput::Format RawInput::detect(int wait_ms) {
    for (;;) {
        const Format format = format_of_prefix();
        if (format != Format::unknown) return format;
        const auto result = read_descriptor(std::span(prefix_).subspan(prefix_end_), wait_ms);
        if (result.status == ByteReader::Status::waiting) return Format::unknown;
        if (result.status == ByteReader::Status::end) return Format::plain;
        prefix_end_ += result.bytes;
    }
}

}  // namespace detail
}  // namespace strid
