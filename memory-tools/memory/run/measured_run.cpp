// SPDX-License-Identifier: Apache-2.0
#include "measured_run.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace strid::memory_run {

namespace {

constexpr std::int64_t grace_ns = 200'000'000;

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::string quoted(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            quoted += c;
        }
    }
    return quoted + "\"";
}

}  // namespace

MeasuredRun::MeasuredRun(const RunSettings& settings, int signals)
    : settings_(settings),
      signals_(signals),
      command_(settings.command),
      counter_(settings.event
                   ? std::optional<EventCounter>(std::in_place, command_.pid(), *settings.event)
                   : std::nullopt),
      start_ns_(command_.start()),
      sampler_(start_ns_, settings.sample_ns) {}

std::string MeasuredRun::measure() {
    while (!main_ended_ || wait_for_orphans()) {
        wait();
        take_signals();
        reap();
        const std::int64_t now = now_ns();
        if (!main_ended_ && settings_.timeout_ns > 0 && now - start_ns_ >= settings_.timeout_ns) {
            result_.timed_out = true;
        }
        if (result_.timed_out || result_.abandoned) {
            if (!main_ended_) result_.wall_ns = now - start_ns_;
            end_descendants();
            break;
        }
        if (!main_ended_ && sampler_.wait_ns(now) == 0) sampler_.sample();
    }
    result_.failure = command_.failure();
    return text();
}

void MeasuredRun::wait() {
    std::int64_t pause_ns = main_ended_ ? 1'000'000 : sampler_.wait_ns(now_ns());
    if (!main_ended_ && settings_.timeout_ns > 0) {
        pause_ns = std::min(pause_ns, start_ns_ + settings_.timeout_ns - now_ns());
    }
    pause_ns = std::max<std::int64_t>(pause_ns, 0);
    const timespec pause{pause_ns / 1'000'000'000, pause_ns % 1'000'000'000};
    std::array<pollfd, 2> files{pollfd{signals_, POLLIN, 0}, pollfd{settings_.channel, POLLIN, 0}};
    ::ppoll(files.data(), files.size(), &pause, nullptr);
    result_.abandoned = files[1].revents != 0;
}

void MeasuredRun::take_signals() {
    signalfd_siginfo signal{};
    while (::read(signals_, &signal, sizeof signal) == sizeof signal) {
        if (signal.ssi_signo == SIGTERM && !main_ended_) ::kill(command_.pid(), SIGTERM);
    }
}

void MeasuredRun::reap() {
    for (;;) {
        int status = 0;
        rusage usage{};
        const pid_t pid = ::wait4(-1, &status, WNOHANG, &usage);
        if (pid <= 0) return;
        if (pid == command_.pid()) {
            result_.wall_ns = now_ns() - start_ns_;
            result_.status = status;
            main_ended_ = true;
            sampler_.finish(start_ns_ + result_.wall_ns);
        }
        result_.user_s += seconds_of(usage.ru_utime);
        result_.system_s += seconds_of(usage.ru_stime);
        result_.peak_bytes = std::max<std::int64_t>(result_.peak_bytes, usage.ru_maxrss * 1024);
        result_.minor_faults += usage.ru_minflt;
        result_.major_faults += usage.ru_majflt;
    }
}

bool MeasuredRun::wait_for_orphans() {
    if (descendants().empty()) return false;
    if (now_ns() - start_ns_ - result_.wall_ns < grace_ns) return true;
    result_.left_behind = end_descendants();
    return false;
}

std::string MeasuredRun::text() const {
    std::string programs;
    for (const std::string& program : sampler_.programs()) {
        programs += (programs.empty() ? "" : ", ") + quoted(program);
    }
    const auto events = counter_ ? counter_->count() : std::nullopt;
    const std::int64_t mean = sampler_.mean_bytes();
    return fmt::format(
        R"({{"status": {}, "signal": {}, "timed_out": {}, "abandoned": {}, "failure": {}, )"
        R"("wall_s": {:.9f}, "user_s": {:.6f}, "system_s": {:.6f}, "peak_bytes": {}, )"
        R"("mean_bytes": {}, "samples": {}, "minor_faults": {}, "major_faults": {}, )"
        R"("extfrag_events": {}, "event_refusal": {}, "left_behind": {}, "programs": [{}]}})"
        "\n",
        WIFEXITED(result_.status) ? WEXITSTATUS(result_.status) : 0,
        WIFSIGNALED(result_.status) ? WTERMSIG(result_.status) : 0, result_.timed_out,
        result_.abandoned, result_.failure == 0 ? "null" : quoted(std::strerror(result_.failure)),
        static_cast<double>(result_.wall_ns) * 1e-9, result_.user_s, result_.system_s,
        std::max(result_.peak_bytes, sampler_.peak_bytes()),
        mean < 0 ? "null" : std::to_string(mean), sampler_.samples(), result_.minor_faults,
        result_.major_faults, events ? std::to_string(*events) : "null",
        counter_ && !events ? quoted(counter_->refusal()) : "null", result_.left_behind, programs);
}

}  // namespace strid::memory_run
