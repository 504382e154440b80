// SPDX-License-Identifier: Apache-2.0
//
// Where late rows are written as they stood in the input (table_writers.hpp).
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace strid::tool {

/// Where late rows are written. The source stores the header of CSV before its first row, so it is
/// there for every row; so does the state of a run that this one goes on with. Any thread.
class LateFile {
  public:
    explicit LateFile(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// With its newline; empty where there is none.
    [[nodiscard]] std::string header() const {
        const std::scoped_lock lock(mutex_);
        return header_;
    }
    /// Stores the header where there is none yet. Returns the one that is there then.
    std::string keep_header(std::string_view header) {
        const std::scoped_lock lock(mutex_);
        if (header_.empty()) header_ = header;
        return header_;
    }

  private:
    const std::string path_;
    mutable std::mutex mutex_;
    std::string header_;
};

}  // namespace strid::tool
