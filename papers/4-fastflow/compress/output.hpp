// SPDX-License-Identifier: Apache-2.0
//
// Where the result of a file goes: a file beside it, standard output, memory (the result of a small
// file, until its turn on standard output has come), or nowhere (a test). One thread.
//
// Invariant: a file appears under its name whole, with the permissions and times of the file that
// it replaces, and is never readable to others before; what is not committed leaves nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <strid/base/destination.hpp>
#include <strid/base/whole_file.hpp>

#include "block.hpp"
#include "input.hpp"

namespace strid::compress {

class Output {
  public:
    virtual ~Output() = default;

    /// Throws InputOutputError, Interrupted.
    void write(std::string_view bytes) {
        put(bytes);
        bytes_written_ += bytes.size();
    }
    /// A failure to write concerns all files.
    [[nodiscard]] virtual bool is_standard_output() const noexcept { return false; }
    [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_; }

  protected:
    virtual void put(std::string_view bytes) = 0;

  private:
    std::uint64_t bytes_written_ = 0;
};

class NoOutput final : public Output {
    void put(std::string_view /*bytes*/) override {}
};

/// Standard output, for all files together.
class StandardOutput final : public Output {
  public:
    explicit StandardOutput(const std::atomic<bool>& interrupted);
    [[nodiscard]] bool is_standard_output() const noexcept override { return true; }

  private:
    void put(std::string_view bytes) override { destination_.write(bytes, interrupted_); }

    Destination destination_;
    const std::atomic<bool>& interrupted_;
};

/// Throws TooLarge where more than `bytes_max` are written.
class MemoryOutput final : public Output {
  public:
    struct TooLarge {};

    explicit MemoryOutput(std::size_t bytes_max) : bytes_max_(bytes_max) {}
    [[nodiscard]] Bytes& bytes() noexcept { return bytes_; }

  private:
    void put(std::string_view bytes) override {
        if (bytes_.size() + bytes.size() > bytes_max_) throw TooLarge{};
        bytes_.append(bytes);
    }

    const std::size_t bytes_max_;
    Bytes bytes_;
};

class FileOutput final : public Output {
  public:
    /// `force`: in the place of what has the name. Throws InputOutputError.
    FileOutput(const std::string& path, const struct stat& input, bool force);

    /// The file, which is on the disk then, gets its name. Throws InputOutputError.
    void commit() { file_.commit(); }

  private:
    void put(std::string_view bytes) override;

    const std::string path_;
    WholeFile file_;
};

}  // namespace strid::compress
