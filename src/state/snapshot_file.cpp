// SPDX-License-Identifier: Apache-2.0
#include "snapshot_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <strid/base/error.hpp>
#include <strid/state/bytes.hpp>

namespace strid {

namespace {

constexpr std::string_view first_line = "strid snapshot 4\n";
constexpr int level = 1;  // of zstd: states are written in the background of the run

/// Before each block.
struct BlockHeader {
    std::uint64_t bytes = 0;   // of the contents
    std::uint64_t stored = 0;  // compressed
    std::uint64_t crc = 0;     // CRC-32 of both lengths and of what is stored
};
static_assert(sizeof(BlockHeader) == 3 * sizeof(std::uint64_t));

uLong crc_of_lengths(std::uint64_t bytes, std::uint64_t stored) {
    const std::array<std::uint64_t, 2> lengths{bytes, stored};
    return ::crc32_z(0, reinterpret_cast<const Bytef*>(lengths.data()), sizeof lengths);
}
std::uint64_t crc_of(std::uint64_t bytes, std::span<const std::byte> stored) {
    return ::crc32_z(crc_of_lengths(bytes, stored.size()),
                     reinterpret_cast<const Bytef*>(stored.data()), stored.size());
}

/// The most that zstd can make of so many bytes: its blocks have 128 KiB, and the shortest one is a
/// byte that is repeated, behind a header of 3 bytes.
std::uint64_t contents_max(std::uint64_t stored) {
    constexpr std::uint64_t block_bytes = std::uint64_t{128} << 10;
    constexpr std::uint64_t block_stored = 4;
    return stored / block_stored * block_bytes;
}

int write_all(int descriptor, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) return errno;
        if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
}

int write_at(int descriptor, std::span<const std::byte> bytes, off_t at) {
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), at);
        if (written < 0 && errno != EINTR) return errno;
        if (written <= 0) continue;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        at += written;
    }
    return 0;
}

/// The only errors of compression are those of memory.
void check(std::size_t result) {
    if (::ZSTD_isError(result) != 0) throw std::bad_alloc();
}

[[noreturn]] void refuse(std::string_view fault) {
    throw StateError(fmt::format("the snapshot is damaged: {}", fault));
}

std::vector<std::byte> decompressed(std::span<const std::byte> stored, std::uint64_t bytes) {
    const auto announced = ::ZSTD_getFrameContentSize(stored.data(), stored.size());
    if (announced != bytes) refuse("a block is not what its header says");
    std::vector<std::byte> contents;
    try {
        contents.resize(static_cast<std::size_t>(bytes));
    } catch (const std::bad_alloc&) {
        throw StateError(fmt::format("a state has {} bytes, more than there is memory", bytes));
    }
    const std::size_t read =
        ::ZSTD_decompress(contents.data(), contents.size(), stored.data(), stored.size());
    if (read != contents.size()) refuse("a block cannot be decompressed");
    return contents;
}

}  // namespace

void SnapshotFileWriter::Free::operator()(ZSTD_CCtx_s* context) const noexcept {
    ::ZSTD_freeCCtx(context);
}

SnapshotFileWriter::SnapshotFileWriter(int descriptor)
    : descriptor_(descriptor), context_(::ZSTD_createCCtx()), compressed_(::ZSTD_CStreamOutSize()) {
    if (!context_) throw std::bad_alloc();
    check(::ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level));
}

int SnapshotFileWriter::begin() {
    return write_all(descriptor_, std::as_bytes(std::span(first_line)));
}

// The header is written once more when the length and the checksum are known.
int SnapshotFileWriter::block(const StateBytes& contents) {
    const off_t at = ::lseek(descriptor_, 0, SEEK_CUR);
    if (at < 0) return errno;
    BlockHeader header{contents.size(), 0, 0};
    const auto header_bytes = std::as_bytes(std::span(&header, 1));
    if (const int error = write_all(descriptor_, header_bytes); error != 0) return error;
    check(::ZSTD_CCtx_setPledgedSrcSize(context_.get(), contents.size()));
    uLong crc = 0;
    const auto write = [&](std::span<const std::byte> piece, ZSTD_EndDirective mode) {
        ZSTD_inBuffer in{piece.data(), piece.size(), 0};
        for (;;) {
            ZSTD_outBuffer out{compressed_.data(), compressed_.size(), 0};
            const std::size_t left = ::ZSTD_compressStream2(context_.get(), &out, &in, mode);
            check(left);
            const auto made = std::span<const std::byte>(compressed_).first(out.pos);
            crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(made.data()), made.size());
            header.stored += made.size();
            if (const int error = write_all(descriptor_, made); error != 0) return error;
            if (mode == ZSTD_e_end ? left == 0 : in.pos == in.size) return 0;
        }
    };
    for (const auto& piece : contents.pieces()) {
        if (const int error = write(piece, ZSTD_e_continue); error != 0) return error;
    }
    if (const int error = write({}, ZSTD_e_end); error != 0) return error;
    header.crc = ::crc32_combine(crc_of_lengths(header.bytes, header.stored), crc,
                                 static_cast<z_off_t>(header.stored));
    return write_at(descriptor_, header_bytes, at);
}

SnapshotFileReader::SnapshotFileReader(int descriptor, std::string path)
    : descriptor_(descriptor), path_(std::move(path)) {
    struct stat status {};
    if (::fstat(descriptor_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        throw StateError("it is no file");
    }
    left_ = static_cast<std::uint64_t>(status.st_size);
    std::array<std::byte, first_line.size()> line{};
    if (left_ < line.size()) throw StateError("the snapshot is cut");
    read(line);
    if (std::memcmp(line.data(), first_line.data(), line.size()) != 0) {
        throw StateError("it is no snapshot that this version of Strid can read");
    }
}

void SnapshotFileReader::read(std::span<std::byte> bytes) {
    left_ -= bytes.size();
    while (!bytes.empty()) {
        const ssize_t read = ::read(descriptor_.get(), bytes.data(), bytes.size());
        if (read < 0 && errno == EINTR) continue;
        if (read < 0) {
            throw InputOutputError(fmt::format("{}: cannot read the snapshot: {}", path_,
                                               std::generic_category().message(errno)));
        }
        if (read == 0) throw StateError("the file became shorter while it was read");
        bytes = bytes.subspan(static_cast<std::size_t>(read));
    }
}

std::vector<std::byte> SnapshotFileReader::block() {
    BlockHeader header;
    if (left_ < sizeof header) throw StateError("the snapshot is cut");
    read(std::as_writable_bytes(std::span(&header, 1)));
    if (header.stored > left_) throw StateError("the snapshot is cut");
    if (header.bytes > contents_max(header.stored)) {
        refuse(fmt::format("a block of {} bytes announces {}", header.stored, header.bytes));
    }
    try {
        stored_.resize(static_cast<std::size_t>(header.stored));
    } catch (const std::bad_alloc&) {
        refuse(fmt::format("a block has {} bytes, more than there is memory", header.stored));
    }
    read(stored_);
    if (crc_of(header.bytes, stored_) != header.crc) refuse("a block does not have its checksum");
    return decompressed(stored_, header.bytes);
}

void SnapshotFileReader::expect_end() const {
    if (left_ != 0) refuse(fmt::format("{} bytes are left behind its last block", left_));
}

}  // namespace strid
