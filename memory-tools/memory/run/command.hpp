// SPDX-License-Identifier: Apache-2.0
//
// Starts a command as a child that waits for a sign before its exec: a counter that is attached to
// the process is there from its first instruction on, and the clock starts with the exec.
// Owns the pipes; the child is its caller's to reap. For one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace strid::memory_run {

struct CommandSettings {
    std::vector<std::string> words;  // the program and its arguments
    std::vector<int> processors;     // empty: any
    std::string preload;             // for LD_PRELOAD, before what is there
    std::string witness;             // where libstrid_witness.so writes
};

class Command {
  public:
    /// Forks. Throws std::system_error.
    explicit Command(const CommandSettings& settings);
    ~Command();
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    /// Lets the child go on to its exec; returns the time just before.
    std::int64_t start();
    /// Why there was no exec, once the child has ended: an errno, or 0.
    [[nodiscard]] int failure() const;

  private:
    pid_t pid_ = -1;
    int go_ = -1;
    int failure_ = -1;
};

}  // namespace strid::memory_run
