// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <zlib.h>

#include <strid/base/error.hpp>
#include <strid/engine/state/journal_file.hpp>

namespace strid::detail {

namespace {

using FirstLine = std::array<char, 16>;
constexpr FirstLine line_of_text = {'s', 't', 'r', 'i', 'd', ' ', 'j', 'o',
                                    'u', 'r', 'n', 'a', 'l', ' ', '1', '\n'};
constexpr FirstLine line_of_records = {'s', 't', 'r', 'i', 'd', ' ', 'r', 'e',
                                       'c', 'o', 'r', 'd', 's', ' ', '1', '\n'};

/// As it stands in the file.
struct StoredHeader {
    FirstLine line = line_of_text;
    JournalFileHeader header;
    std::uint64_t crc = 0;  // CRC-32 of all before
};
static_assert(sizeof(StoredHeader) == 80);

struct BlockHeader {
    std::uint32_t bytes = 0;
    std::uint32_t text_crc = 0;
    std::uint32_t crc = 0;  // CRC-32 of both, the journal and the place
};
static_assert(sizeof(BlockHeader) == 12);

std::uint32_t crc_of(const void* bytes, std::size_t count) noexcept {
    return static_cast<std::uint32_t>(::crc32_z(0, static_cast<const Bytef*>(bytes), count));
}

std::uint64_t crc_of(const StoredHeader& header) noexcept {
    return crc_of(&header, offsetof(StoredHeader, crc));
}

std::uint32_t crc_of(const BlockHeader& header, std::uint64_t journal,
                     std::uint64_t place) noexcept {
    const std::array<std::uint64_t, 4> covered{journal, place, header.bytes, header.text_crc};
    return crc_of(covered.data(), sizeof covered);
}

/// Writes both at the place, wholly. An error of the system, or 0.
int write_at(int file, std::uint64_t at, std::span<const char> first,
             std::span<const char> second) {
    while (!first.empty() || !second.empty()) {
        const std::array<::iovec, 2> parts{{{const_cast<char*>(first.data()), first.size()},
                                            {const_cast<char*>(second.data()), second.size()}}};
        const ::ssize_t written = ::pwritev(file, parts.data(), 2, static_cast<::off_t>(at));
        if (written < 0 && errno != EINTR) return errno;
        if (written == 0) return ENOSPC;
        if (written < 0) continue;
        const auto bytes = static_cast<std::size_t>(written);
        at += bytes;
        const std::size_t of_first = std::min(bytes, first.size());
        first = first.subspan(of_first);
        second = second.subspan(bytes - of_first);
    }
    return 0;
}

template <class T>
std::span<const char> bytes_of(const T& value) noexcept {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class T>
std::span<char> room_of(T& value) noexcept {
    return {reinterpret_cast<char*>(&value), sizeof value};
}

}  // namespace

int JournalFileWriter::begin(int descriptor, JournalKind kind, const JournalFileHeader& header) {
    file_ = JournalDescriptor{descriptor};
    journal_ = header.journal;
    end_ = header.first;
    StoredHeader stored{.line = kind == JournalKind::text ? line_of_text : line_of_records,
                        .header = header};
    stored.crc = crc_of(stored);
    file_bytes_ = sizeof stored;
    return write_at(descriptor, 0, bytes_of(stored), {});
}

int JournalFileWriter::append(std::span<const char> text) {
    BlockHeader header{.bytes = static_cast<std::uint32_t>(text.size()),
                       .text_crc = crc_of(text.data(), text.size())};
    header.crc = crc_of(header, journal_, end_);
    const int error = write_at(file_.get(), file_bytes_, bytes_of(header), text);
    if (error != 0) {
        // The part of it that was written goes; otherwise it is torn, and is written over.
        (void)!::ftruncate(file_.get(), static_cast<::off_t>(file_bytes_));
        return error;
    }
    file_bytes_ += sizeof header + text.size();
    end_ += text.size();
    return 0;
}

int JournalFileWriter::synchronize() const noexcept {
    while (::fdatasync(file_.get()) != 0) {
        if (errno == EINTR) continue;
        // Some file systems have nothing to synchronise.
        return errno == EINVAL || errno == EROFS || errno == ENOTSUP ? 0 : errno;
    }
    return 0;
}

JournalFileReader::JournalFileReader(int descriptor, std::string path)
    : file_(descriptor), path_(std::move(path)) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        throw InputOutputError(path_ + ": is no file of a journal");
    }
    StoredHeader stored;
    const std::size_t got = read(0, room_of(stored));
    if (got < sizeof stored || is_zero_from(0)) return;
    if (stored.line != line_of_text && stored.line != line_of_records) {
        throw InputOutputError(path_ + ": is no journal that this version of Strid can read");
    }
    if (stored.crc != crc_of(stored)) refuse("its header does not have its checksum");
    has_header_ = true;
    kind_ = stored.line == line_of_text ? JournalKind::text : JournalKind::records;
    header_ = stored.header;
    at_ = sizeof stored;
    end_ = header_.first;
}

std::size_t JournalFileReader::read(std::uint64_t at, std::span<char> bytes) const {
    std::size_t total = 0;
    while (total != bytes.size()) {
        const ::ssize_t got = ::pread(file_.get(), bytes.data() + total, bytes.size() - total,
                                      static_cast<::off_t>(at + total));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            throw InputOutputError(fmt::format("{}: cannot read the journal: {}", path_,
                                               std::generic_category().message(errno)));
        }
        if (got == 0) break;
        total += static_cast<std::size_t>(got);
    }
    return total;
}

bool JournalFileReader::is_zero_from(std::uint64_t at) const {
    std::array<char, 4096> bytes;
    for (;;) {
        const std::size_t got = read(at, bytes);
        if (got == 0) return true;
        const auto found = std::span(bytes).first(got);
        const auto is_zero = [](char byte) { return byte == '\0'; };
        if (!std::all_of(found.begin(), found.end(), is_zero)) return false;
        at += got;
    }
}

/// The file has so many bytes: no memory is taken for a text that is not there.
bool JournalFileReader::reaches(std::uint64_t bytes) const {
    struct stat status {};
    return ::fstat(file_.get(), &status) == 0 &&
           static_cast<std::uint64_t>(status.st_size) >= bytes;
}

JournalFileReader::Found JournalFileReader::next() {
    BlockHeader header;
    const std::size_t got = read(at_, room_of(header));
    if (got == 0) return Found::end;
    if (got < sizeof header) return Found::torn;
    if (header.crc != crc_of(header, header_.journal, end_) || header.bytes == 0 ||
        header.bytes > journal_block_bytes_max) {
        if (is_zero_from(at_)) return Found::torn;
        refuse("the header of a block does not have its checksum");
    }
    const std::uint64_t text_at = at_ + sizeof header;
    if (header.bytes > journal_text_bytes_max && !reaches(text_at + header.bytes)) {
        return Found::torn;
    }
    text_.resize(header.bytes);
    if (read(text_at, text_) < text_.size()) return Found::torn;
    if (crc_of(text_.data(), text_.size()) != header.text_crc) {
        if (is_zero_from(text_at + text_.size())) return Found::torn;
        refuse("a block does not have its checksum");
    }
    at_ = text_at + text_.size();
    end_ += text_.size();
    return Found::block;
}

void JournalFileReader::refuse(std::string_view fault) const {
    throw InputOutputError(fmt::format("{}: the journal is damaged behind byte {} of the file: {}",
                                       path_, at_, fault));
}

}  // namespace strid::detail
