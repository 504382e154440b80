// SPDX-License-Identifier: Apache-2.0
//
// Runs the programs of an exchange, starts one anew that was killed, and ends them in the order in
// which nothing is cut off: the core, the session manager, the data manager. One thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

#include "launcher/programs.hpp"
#include "link/log.hpp"

namespace strid::exchange {

class Supervisor {
  public:
    /// The programs run with the file mode creation mask `mask`.
    Supervisor(std::vector<ProgramCall> calls, std::filesystem::path folder, mode_t mask,
               const Log& log);
    /// Ends what still runs.
    ~Supervisor();
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    /// Until `ended`. Throws InputOutputError where a program ends by itself several times in a
    /// row: it has logged why.
    void run(const std::atomic<bool>& ended);

  private:
    struct Program {
        ProgramCall call;
        pid_t process = 0;  // 0: it does not run
        std::int64_t started_ns = 0;
        std::int64_t start_at_ns = 0;
        std::size_t starts = 0;
        std::size_t failures = 0;  // in a row
    };
    void start(Program& program);
    void note_end(Program& program, int status);
    void check();
    void end(Program& program);
    void write_status() const;

    std::vector<Program> programs_;
    std::filesystem::path folder_;
    mode_t mask_;
    const Log& log_;
};

}  // namespace strid::exchange
