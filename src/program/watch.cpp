// SPDX-License-Identifier: Apache-2.0
#include "watch.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <signal.h>

#include <strid/base/log.hpp>
#include <strid/engine/base/thread_name.hpp>

namespace strid {

namespace {

constexpr std::chrono::milliseconds progress_period{200};
constexpr std::chrono::milliseconds cancelled_period{50};

std::string_view signal_name(int signal) noexcept {  // the handled ones (signals.hpp)
    if (signal == SIGINT) return "SIGINT";
    return signal == SIGHUP ? "SIGHUP" : "SIGTERM";
}

}  // namespace

Watch::~Watch() {
    ended_.store(true, std::memory_order_relaxed);
    signals_.wake();
    thread_.join();
}

void Watch::stop() noexcept {
    stop_is_asked_.store(true, std::memory_order_relaxed);
    signals_.wake();
}

int Watch::signals() const noexcept {
    return signals_.count() + (stop_is_asked_.load(std::memory_order_relaxed) ? 1 : 0);
}

int Watch::last_signal() const noexcept {
    return signals_.count() != 0 ? signals_.last() : SIGTERM;
}

void Watch::begin(Running& running) {
    running_.store(&running, std::memory_order_release);  // pairs with the acquire in follow()
    signals_.wake();
}

void Watch::follow() {
    strid::detail::name_this_thread("strid-signals");
    const bool shows = terminal_.interactive() && !options_.quiet;
    while (!ended_.load(std::memory_order_relaxed)) {
        signals_.wait_for(signals() > 1 ? cancelled_period : progress_period);
        Running* const running = running_.load(std::memory_order_acquire);  // see begin()
        if (ended_.load(std::memory_order_relaxed)) return;
        pass_signals_on(running);
        if (shows && running != nullptr) show_progress(*running);
    }
}

void Watch::show_progress(Running& running) {
    RunReport now = running.report();
    if (now.seconds - shown_.seconds < 0.1) return;  // a signal came: too short a time
    const std::uint64_t bytes = options_.bytes_done ? options_.bytes_done() : now.bytes_read;
    const double rate = static_cast<double>(bytes - shown_bytes_) / (now.seconds - shown_.seconds);
    terminal_.show(progress_line(shown_, now, rate));
    shown_ = std::move(now);
    shown_bytes_ = bytes;
}

void Watch::pass_signals_on(Running* running) {
    const int count = signals();
    if (count == 0) return;
    if (running != nullptr && !std::exchange(stopped_, true)) running->stop();
    if (!opening_.stop_requested()) {
        opening_.request_stop();
        terminal_.hint("\nstopping; Ctrl-C again to cancel\n");
        const std::array<LogField, 1> fields{{{"signal", signal_name(last_signal())}}};
        log_event({.event = "stopping", .text = "asked to stop", .fields = fields});
    }
    if (count == 1) return;
    const auto now = std::chrono::steady_clock::now();
    if (second_signal_ == std::chrono::steady_clock::time_point{}) second_signal_ = now;
    if (running != nullptr && !std::exchange(cancelled_, true)) running->cancel();
    signals_.restore();  // a third one ends the process
    if (now - second_signal_ < grace || std::exchange(killed_, true)) return;
    ::raise(last_signal());
}

}  // namespace strid
