// SPDX-License-Identifier: Apache-2.0
#include "byte_input.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <strid/base/error.hpp>

namespace strid::denoise {

namespace {

constexpr int wait_ms = 50;
constexpr std::size_t read_bytes_min = 64U << 10;
constexpr std::size_t read_bytes_max = 4U << 20;

std::string reason(int error) {
    return std::generic_category().message(error);
}

}  // namespace

std::string input_name(const std::string& path) {
    return path == "-" ? "standard input" : path;
}

ByteInput::ByteInput(std::string path, Content content) : name_(input_name(path)) {
    if (content == Content::by_first_bytes) {
        reader_ = std::make_unique<ByteReader>(std::move(path));
        return;
    }
    descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw InputOutputError(name_ + ": " + reason(errno));
}

ByteInput::~ByteInput() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

ByteReader::Result ByteInput::read(std::size_t at, std::size_t size) {
    const std::span<char> room = std::span(buffer_).subspan(at, size);
    if (reader_) return reader_->read(room, wait_ms);
    pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0};
    // Nothing there, or a signal: a read would wait for as long as it takes.
    if (::poll(&ready, 1, wait_ms) <= 0) return {ByteReader::Status::waiting, 0};
    const ssize_t got = ::read(descriptor_, room.data(), room.size());
    if (got > 0) return {ByteReader::Status::read, static_cast<std::size_t>(got)};
    if (got == 0) return {ByteReader::Status::end, 0};
    if (errno == EINTR || errno == EAGAIN) return {ByteReader::Status::waiting, 0};
    throw InputOutputError(name_ + ": " + reason(errno));
}

ByteReader::Status ByteInput::more(std::size_t wanted) {
    const std::size_t before = buffer_.size();
    const std::size_t size = std::clamp(wanted, read_bytes_min, read_bytes_max);
    buffer_.resize(before + size);
    const ByteReader::Result got = read(before, size);
    buffer_.resize(before + (got.status == ByteReader::Status::read ? got.bytes : 0));
    return got.status;
}

std::string ByteInput::take(std::size_t size) {
    std::string rest = buffer_.substr(size);
    std::string taken = std::exchange(buffer_, std::move(rest));
    taken.resize(size);
    return taken;
}

}  // namespace strid::denoise
