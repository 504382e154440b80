// SPDX-License-Identifier: Apache-2.0
//
// Which process runs the exchange of a folder: it holds a lock on a file there, which goes with the
// process however that ends. One thread.
#pragma once

#include <filesystem>
#include <optional>

#include <sys/types.h>

#include "link/socket.hpp"

namespace strid::exchange {

class FolderLock {
  public:
    /// Throws InputOutputError, also where another process has the lock.
    explicit FolderLock(const std::filesystem::path& folder);
    /// The process that has the lock of a folder; none where no process has.
    [[nodiscard]] static std::optional<pid_t> holder(const std::filesystem::path& folder);

  private:
    Socket file_;  // a descriptor
};

}  // namespace strid::exchange
