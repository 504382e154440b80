// SPDX-License-Identifier: Apache-2.0
//
// A disk that is full, by the limit of the system on the length of files. Threads: it holds for the
// process.
#pragma once

#include <csignal>
#include <cstdint>

#include <sys/resource.h>

namespace strid::test {

/// Files longer than the limit cannot be written.
class LengthLimit {
  public:
    explicit LengthLimit(std::uint64_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        handler_ = ::signal(SIGXFSZ, SIG_IGN);
        const ::rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    LengthLimit(const LengthLimit&) = delete;
    LengthLimit& operator=(const LengthLimit&) = delete;
    ~LengthLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        ::signal(SIGXFSZ, handler_);
    }

  private:
    ::rlimit before_{};
    void (*handler_)(int) = nullptr;
};

}  // namespace strid::test
