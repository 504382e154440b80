// SPDX-License-Identifier: Apache-2.0
//
// How far a program is: one line on a terminal that changes, nothing elsewhere. One thread at a
// time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <strid/engine/base/terminal.hpp>

namespace strid::tool {

class Progress {
  public:
    /// `unit` is what `done` counts ("B", "tasks"); of `total` of them, 0 where that is not known.
    /// Shows nothing where `quiet`.
    Progress(std::string_view unit, std::uint64_t total, bool quiet);

    /// So much is done. Cheap to call often: the line changes ten times a second at most.
    void at(std::uint64_t done, std::string_view what = {});
    /// A message that stays, whole lines; also where no progress is shown.
    void say(const std::string& text) { terminal_.say(text); }
    /// The line goes.
    void clear() { terminal_.clear(); }
    [[nodiscard]] double seconds() const noexcept;

  private:
    const std::string unit_;
    const std::uint64_t total_;
    const std::int64_t begin_ns_;
    std::int64_t next_ns_;
    Terminal terminal_;
    const bool shown_;
};

}  // namespace strid::tool
