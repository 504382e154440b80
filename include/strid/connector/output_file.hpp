// SPDX-License-Identifier: Apache-2.0
//
// A file, a pipe or standard output ("-") that several replicas of a sink append whole rows to.
// Owns the descriptor (but never closes standard output). open(), append() and close() may be
// called by any thread; a mutex makes each append one piece of the output.
//
// Law: the file is truncated by the first open() and closed by the close() that matches it, so a
// graph that runs twice starts anew. A write that fails is an InputOutputError for every caller
// from then on, and never a signal: SIGPIPE is held back around a write to a pipe or a socket, in
// this thread only.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace strid {

class OutputFile {
  public:
    /// What a writer gathers before it appends.
    static constexpr std::size_t buffer_bytes = std::size_t{64} << 10;

    explicit OutputFile(std::string path) : path_(std::move(path)) {}
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Creates or truncates the file for the first caller; every caller closes once. True for the
    /// caller that opened it, who writes the header. Throws InputOutputError.
    bool open(std::string_view header = {});
    /// Writes all of `rows` or throws InputOutputError.
    void append(std::string_view rows);
    /// The last one closes the file; throws InputOutputError when the system reports a late fault.
    void close();

    /// True when a write may block for an unbounded time: a terminal, a pipe, a socket. Never for
    /// /dev/null.
    [[nodiscard]] bool may_block() const noexcept;
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    void write_all(std::string_view rows);
    [[noreturn]] void fail(const char* what, int error);

    const std::string path_;
    std::mutex mutex_;
    // Under mutex_:
    int descriptor_ = -1;
    std::size_t users_ = 0;
    bool raises_sigpipe_ = false;
    int failed_with_ = 0;  // the errno of the first failed write
};

}  // namespace strid
