// SPDX-License-Identifier: Apache-2.0
//
// A long input for a benchmark, made of a short one: lines drawn at random, with replacement.
//
// A short input that is replayed again and again says little about a stream. After a few passes the
// processor's branch predictor has learned the outcomes, and all of it is in the nearest caches:
// spike detection by hand is more than twice as fast over 25,133 readings that repeat as over
// 500,000 drawn from them (docs/benchmarks.md).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace strid::tool {

/// Goes away with the scope, however that is left.
struct TemporaryFile {
    std::filesystem::path path;
    explicit TemporaryFile(std::filesystem::path name) : path(std::move(name)) {}
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
    }
};

/// Where this process may write a file of that name while it runs.
[[nodiscard]] std::filesystem::path temporary_path(const std::string& name);

/// Writes `count` lines of the file `from`, the same ones each time. Throws InputOutputError where
/// there is nothing to draw from or the lines cannot be written.
void draw_lines(const std::string& from, std::size_t count, const std::filesystem::path& to);

}  // namespace strid::tool
