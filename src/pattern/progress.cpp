// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <strid/engine/base/thread_name.hpp>
#include <strid/pattern/pattern_progress.hpp>

namespace strid::pattern {

namespace {

constexpr std::chrono::milliseconds period{100};

}  // namespace

std::string progress_line(const Report& before, const Report& now) {
    const std::uint64_t done = now.tasks_done();
    const double seconds = std::max(now.seconds - before.seconds, 1e-9);
    const auto lately = static_cast<double>(done - before.tasks_done());
    return fmt::format("{} task{}  {} tasks/s  {}", format_count(done), done == 1 ? "" : "s",
                       format_quantity(std::round(lately / seconds)), format_clock(now.seconds));
}

ProgressLine::ProgressLine(std::function<Report()> report) : report_(std::move(report)) {
    if (terminal_.interactive()) thread_ = std::thread([this] { follow(); });
}

ProgressLine::~ProgressLine() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void ProgressLine::follow() {
    strid::detail::name_this_thread("strid-progress");
    Report shown;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, period, [this] { return over_; })) {
        lock.unlock();
        Report now = report_();
        terminal_.show(progress_line(shown, now));
        shown = std::move(now);
        lock.lock();
    }
}

}  // namespace strid::pattern
