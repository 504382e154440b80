// SPDX-License-Identifier: Apache-2.0
//
// The common part of the fuzzed parsers (cmake/fuzzing.cmake): a condition that must hold, and
// bytes as a file in memory. Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

namespace strid::fuzz {

/// Ends the process, which the fuzzer reports.
inline void require(bool holds) {
    if (!holds) std::abort();
}

/// A file of these bytes that has no name.
class MemoryFile {
  public:
    explicit MemoryFile(std::string_view bytes)
        : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)),
          path_("/proc/self/fd/" + std::to_string(descriptor_)) {
        require(descriptor_ >= 0);
        require(::write(descriptor_, bytes.data(), bytes.size()) ==
                static_cast<::ssize_t>(bytes.size()));
    }
    ~MemoryFile() { ::close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    int descriptor_;
    std::string path_;
};

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace strid::fuzz
