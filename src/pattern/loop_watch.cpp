// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/engine/base/terminal.hpp>
#include <strid/engine/pattern/loop_watch.hpp>

namespace strid::pattern {

std::string LoopWatch::standstill(const std::string& name) {
    Seen now{turned_.load(std::memory_order_relaxed), entered_.load(std::memory_order_relaxed), 0};
    for (const PatternNode* exit : exits_) now.left += exit->tasks_that_left();
    const Seen before = std::exchange(seen_, now);
    const std::int64_t time_ns = now_ns();
    const bool got_on = now.entered != before.entered || now.left != before.left;
    if (since_ns_ == 0 || got_on || now.turned == before.turned) {
        since_ns_ = time_ns;
        turned_before_ = now.turned;
        return {};
    }
    return fmt::format("loop '{}' has turned {} tasks for {:.2g} s and none has left", name,
                       format_count(now.turned - turned_before_),
                       static_cast<double>(time_ns - since_ns_) * 1e-9);
}

}  // namespace strid::pattern
