// SPDX-License-Identifier: Apache-2.0
//
// The file of a snapshot: a line with the version of the format, then blocks. The first block is
// the description of the snapshot, the others are the states of its nodes. A block has a header,
// and its contents, compressed by zstd as one frame.
//
// Every fault of the bytes is a StateError. The checksum of a block covers all that a block has. A
// block takes no more memory than a valid one of its stored length may have: a frame holds at most
// 128 KiB for each 4 bytes.
//
// Owns descriptors and memory for compression. Threads: one for each object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <strid/state/bytes.hpp>

struct ZSTD_CCtx_s;

namespace strid {

/// A descriptor that is closed with the object.
class OwnedDescriptor {
  public:
    explicit OwnedDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
    OwnedDescriptor(OwnedDescriptor&& other) noexcept : descriptor_(other.release()) {}
    OwnedDescriptor(const OwnedDescriptor&) = delete;
    OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;
    ~OwnedDescriptor() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int get() const noexcept { return descriptor_; }
    [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

  private:
    int descriptor_;
};

/// Writes the file. Its functions return an error of the system, or 0; they throw std::bad_alloc.
class SnapshotFileWriter {
  public:
    /// `descriptor` stays the caller's.
    explicit SnapshotFileWriter(int descriptor);

    /// The first line.
    [[nodiscard]] int begin();
    [[nodiscard]] int block(const StateBytes& contents);

  private:
    struct Free {
        void operator()(ZSTD_CCtx_s* context) const noexcept;
    };
    int descriptor_;
    std::unique_ptr<ZSTD_CCtx_s, Free> context_;
    std::vector<std::byte> compressed_;  // the bytes to be written next
};

/// Reads the file. Its functions throw StateError, and InputOutputError, which names `path`.
class SnapshotFileReader {
  public:
    /// Reads the first line. Closes the descriptor.
    SnapshotFileReader(int descriptor, std::string path);

    /// The contents of the next block.
    [[nodiscard]] std::vector<std::byte> block();
    void expect_end() const;

  private:
    void read(std::span<std::byte> bytes);

    OwnedDescriptor descriptor_;
    std::string path_;
    std::uint64_t left_ = 0;         // bytes of the file
    std::vector<std::byte> stored_;  // is used again
};

}  // namespace strid
