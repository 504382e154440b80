// SPDX-License-Identifier: Apache-2.0
#include "raw_input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/connector/transport.hpp>

namespace strid {

bool input_may_block(const std::string& path) noexcept {
    return is_transport_address(path) || input_goes_away(path);
}

bool input_goes_away(const std::string& path) noexcept {
    if (detail::is_socket_address(path) || !detail::followed_path(path).empty()) return true;
    if (is_transport_address(path)) return transport_goes_away(path);
    struct stat status {};
    const int failed = path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
    return failed == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

namespace detail {

namespace {

// The first bytes of the formats. '?' is any digit from 1, '#' what begins the skippable frames of
// zstd that pzstd puts in front; no magic number has those two bytes themselves. Behind the level
// of bzip2 comes a block or, of nothing, the end: a text may begin with BZh9.
using namespace std::string_view_literals;
constexpr std::array<std::pair<RawInput::Format, std::string_view>, 6> magics = {
    {{RawInput::Format::gzip, "\x1f\x8b"sv},
     {RawInput::Format::zstd, "\x28\xb5\x2f\xfd"sv},
     {RawInput::Format::zstd, "#\x2a\x4d\x18"sv},
     {RawInput::Format::xz, "\xfd\x37\x7a\x58\x5a\x00"sv},
     {RawInput::Format::bzip2, "BZh?\x31\x41\x59\x26\x53\x59"sv},
     {RawInput::Format::bzip2, "BZh?\x17\x72\x45\x38\x50\x90"sv}}};

/// A format that tables are kept in, and that is not read.
struct ForeignFormat {
    std::string_view magic;
    const char* name;
};
constexpr std::array<ForeignFormat, 10> foreign_formats = {
    {{"PK\x03\x04"sv, "a zip archive (as .xlsx is one): unpack it first, as with unzip -p"},
     {"\x04\x22\x4d\x18"sv, "a file of lz4: lz4 -dc FILE | ... reads it"},
     {"\x1f\x9d"sv, "a file of compress: zcat FILE | ... reads it"},
     {"7z\xbc\xaf\x27\x1c"sv, "a 7z archive: 7z x -so FILE | ... reads it"},
     {"PAR1"sv, "a Parquet file: name it .parquet, or write parquet:FILE"},
     {"ORC\x01"sv, "an ORC file: convert it to CSV first"},
     {"Obj\x01"sv, "an Avro file: avro cat --format csv FILE writes CSV"},
     {"ARROW1\0\0"sv, "an Arrow file: name it .arrow"},
     {"SQLite format 3\0"sv,
      "an SQLite database: sqlite3 -csv -header FILE 'select ...' writes CSV"},
     {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv,
      "an old Excel file (.xls): libreoffice --convert-to csv makes CSV of it"}}};

bool is_of(char magic, char byte) noexcept {
    if (magic == '?') return byte >= '1' && byte <= '9';
    if (magic == '#') return (static_cast<unsigned char>(byte) & 0xf0) == 0x50;
    return magic == byte;
}

}  // namespace

RawInput::RawInput(std::string path) : path_(std::move(path)) {
    if (is_socket_address(path_)) {
        socket_ = std::make_unique<SocketInput>(path_);
        waits_ = true;
        return;
    }
    if (is_transport_address(path_)) {
        transport_ = open_transport_input(path_);
        return;
    }
    if (const std::string_view followed = followed_path(path_); !followed.empty()) {
        path_ = std::string(followed);
        followed_ = std::make_unique<FollowedFile>(path_);
        return;
    }
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
    if (owned_ && descriptor_ >= 0) ::close(descriptor_);
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

std::optional<ByteReader::FilePlace> RawInput::followed_place() const {
    if (!followed_) return std::nullopt;
    auto place = followed_->place();
    place.bytes -= prefix_end_ - prefix_begin_;
    return place;
}

void RawInput::read_only_what_waits() {
    int bytes = 0;
    const bool is_known = waits_ && !socket_ && ::ioctl(descriptor_, FIONREAD, &bytes) == 0;
    bytes_left_ = is_known && bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
    if (followed_) bytes_left_ = followed_->bytes_left();
    if (transport_) {
        transport_->take_last();
        bytes_left_ = transport_->bytes_waiting();
    }
    is_limited_ = true;
}

void RawInput::acknowledge(std::uint64_t lines) {
    accepted_ = lines;
    send_acknowledgements();
}

// A producer that does not read them misses those between, and delays nothing. One that is gone is
// seen by the next read.
void RawInput::send_acknowledgements() noexcept {
    if (!accepted_ || socket_ || descriptor_ < 0) return;
    while (!unsent_.empty() || sent_ != accepted_) {
        if (unsent_.empty()) {
            unsent_ = "accepted " + std::to_string(*accepted_) + '\n';
            sent_ = accepted_;
        }
        const ::ssize_t sent =
            ::send(descriptor_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) return;
        unsent_.erase(0, static_cast<std::size_t>(sent));
    }
}

/// A client has ended: another one is waited for where lines are acknowledged.
bool RawInput::takes_next_client() {
    if (!accepted_ || !is_listening_address(path_)) return false;
    ::close(std::exchange(descriptor_, -1));
    socket_ = std::make_unique<SocketInput>(path_);
    unsent_.clear();
    sent_.reset();
    prefix_begin_ = prefix_end_ = 0;
    ++connections_;
    return true;
}

/// Nothing is left, and no writer is.
bool RawInput::is_at_end() const noexcept {
    struct pollfd state {
        descriptor_, POLLIN, 0
    };
    const bool is_open = !waits_ || socket_ || ::poll(&state, 1, 0) < 1;
    return !is_open && (state.revents & (POLLIN | POLLHUP)) == POLLHUP;
}

ByteReader::Result RawInput::read_descriptor(std::span<char> out, int wait_ms) {
    if (ended_) return {ByteReader::Status::end, 0};
    if (is_limited_) {
        if (bytes_left_ == 0 && !is_at_end()) return {ByteReader::Status::waiting, 0};
        if (bytes_left_ != 0) out = out.first(std::min<std::size_t>(out.size(), bytes_left_));
        wait_ms = 0;
    }
    if (followed_ || transport_) {
        const auto found =
            followed_ ? followed_->read(out, wait_ms) : transport_->read(out, wait_ms);
        ended_ = found.status == ByteReader::Status::end;
        bytes_read_ += found.bytes;
        bytes_left_ -= std::min<std::uint64_t>(bytes_left_, found.bytes);
        return found;
    }
    if (socket_) {
        descriptor_ = socket_->connected(wait_ms);
        if (descriptor_ < 0) return {ByteReader::Status::waiting, 0};
        socket_.reset();
        wait_ms = 0;
    }
    send_acknowledgements();
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
        const int error = errno;
        const bool is_gone = error == ECONNRESET || error == ETIMEDOUT;
        if (is_gone && takes_next_client()) return {ByteReader::Status::waiting, 0};
        if (is_gone && accepted_) {  // it has closed without reading what it was sent
            ended_ = true;
            return {ByteReader::Status::end, 0};
        }
        fail("cannot read: " + reason_of(error));
    }
    if (got == 0) {
        if (takes_next_client()) return {ByteReader::Status::waiting, 0};
        ended_ = true;
        return {ByteReader::Status::end, 0};
    }
    bytes_read_ += static_cast<std::uint64_t>(got);
    bytes_left_ -= std::min(bytes_left_, static_cast<std::uint64_t>(got));
    return {ByteReader::Status::read, static_cast<std::size_t>(got)};
}

RawInput::Format RawInput::format_of_prefix() const noexcept {
    const std::string_view have(prefix_.data(), prefix_end_);
    if (have.empty()) return Format::unknown;
    bool may_become_one = false;
    for (const auto& [format, magic] : magics) {
        std::size_t same = 0;
        while (same < have.size() && same < magic.size() && is_of(magic[same], have[same])) ++same;
        if (same == magic.size()) return format;
        may_become_one = may_become_one || same == have.size();
    }
    for (const ForeignFormat& foreign : foreign_formats) {
        if (have.starts_with(foreign.magic)) return Format::foreign;
        may_become_one = may_become_one || foreign.magic.starts_with(have);
    }
    return may_become_one ? Format::unknown : Format::plain;
}

std::string RawInput::foreign_format() const {
    const std::string_view have(prefix_.data(), prefix_end_);
    const auto* const found = std::find_if(
        foreign_formats.begin(), foreign_formats.end(),
        [have](const ForeignFormat& foreign) { return have.starts_with(foreign.magic); });
    return found == foreign_formats.end() ? "" : found->name;
}

RawInput::Format RawInput::detect(int wait_ms) {
    if (is_in_middle_ || transport_) return Format::plain;
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
