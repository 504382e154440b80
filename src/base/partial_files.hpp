// SPDX-License-Identifier: Apache-2.0
//
// The temporary files of the folder that this process wrote to last (file_use.hpp: temporary_name):
// those found there and its own. They are looked for again after some seconds, so that a
// program that writes many files to one large folder does not read it once for each. Owns names
// only. Any thread.
#pragma once

#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

namespace strid {

class PartialFiles {
  public:
    static PartialFiles& of_process();

    /// The temporary files of a file called `name` in the folder; none where it cannot be read.
    /// Some may be gone.
    [[nodiscard]] std::vector<std::string> find(int directory, std::string_view name);
    /// This process has made the temporary file there, and it is gone.
    void add(int directory, const std::string& temporary);
    void remove(const std::string& temporary);

  private:
    [[nodiscard]] bool is_known(const struct stat& folder) const noexcept;
    void read(int directory);

    std::mutex mutex_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    std::chrono::steady_clock::time_point read_at_{};
    std::set<std::string, std::less<>> names_;
};

}  // namespace strid
