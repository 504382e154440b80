// SPDX-License-Identifier: Apache-2.0
//
// A limit on the length of the files that this process writes, as of a disk that is full. It holds
// for root, too.
#pragma once

#include <csignal>

#include <sys/resource.h>

namespace strid::test {

/// Until it is destroyed, no file becomes longer. One at a time.
class FileLimit {
  public:
    explicit FileLimit(rlim_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit little{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &little);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;
    ~FileLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, SIG_DFL);
    }

  private:
    rlimit before_{};
};

}  // namespace strid::test
