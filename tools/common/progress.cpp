// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/format.h>

#include <strid/base/clock.hpp>

namespace strid::tool {

namespace {

constexpr std::int64_t period_ns = 100'000'000;

}  // namespace

Progress::Progress(std::string_view unit, std::uint64_t total, bool quiet)
    : unit_(unit),
      total_(total),
      begin_ns_(now_ns()),
      next_ns_(begin_ns_ + period_ns),
      shown_(!quiet && terminal_.interactive()) {}

double Progress::seconds() const noexcept {
    return static_cast<double>(now_ns() - begin_ns_) / 1e9;
}

void Progress::at(std::uint64_t done, std::string_view what) {
    if (!shown_) return;
    const std::int64_t time_ns = now_ns();
    if (time_ns < next_ns_) return;
    next_ns_ = time_ns + period_ns;
    const double elapsed = static_cast<double>(time_ns - begin_ns_) / 1e9;
    const auto amount = static_cast<double>(done);
    std::string line = what.empty() ? std::string() : fmt::format("{}  ", what);
    line += fmt::format("{}{}  {}{}/s", format_quantity(amount), unit_,
                        format_quantity(amount / elapsed), unit_);
    if (total_ != 0 && done <= total_) {
        const double part = amount / static_cast<double>(total_);
        line += fmt::format("  {:.0f}%", 100 * part);
        if (part > 0.005) {
            line += fmt::format("  {} left", format_clock(elapsed * (1 - part) / part));
        }
    }
    terminal_.show(line);
}

}  // namespace strid::tool
