// SPDX-License-Identifier: Apache-2.0
//
// A bar of the project, measured: a line of its own, which scripts/bench collects from all programs
// into the table at its end. Plain functions that print.
#pragma once

#include <cstdio>
#include <string>

namespace strid::bench {

enum class Bar { at_least, at_most };

/// `what` names both sides of the comparison. Not a number meets no bar.
inline std::string bar_line(const std::string& what, double measured, Bar side, double bar) {
    const bool met = side == Bar::at_least ? measured >= bar : measured <= bar;
    char figures[96];
    std::snprintf(figures, sizeof figures, " | %.3g | at %s %.3g | %s |\n", measured,
                  side == Bar::at_least ? "least" : "most", bar, met ? "met" : "MISSED");
    return "bar | " + what + figures;
}

inline void print_bar(const std::string& what, double measured, Bar side, double bar) {
    std::fputs(bar_line(what, measured, side, bar).c_str(), stdout);
    std::fflush(stdout);
}

/// A figure of the closing table that no bar is set for. `unit` in words.
inline void print_reported(const std::string& what, double measured, const char* unit) {
    std::printf("bar | %s | %.4g %s | | reported |\n", what.c_str(), measured, unit);
    std::fflush(stdout);
}

}  // namespace strid::bench
