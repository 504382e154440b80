// SPDX-License-Identifier: Apache-2.0
//
// strid-memory-run: runs one command and measures it and all that it starts, for strid memory. It
// is a small program of its own because the peak of a process's resident memory begins with that of
// the process that forked it, and because sampling in Python would take a processor's time.
//
//     strid-memory-run --channel FD [--witness FILE] [--preload LIST] [--cpus 0,1] [--own-cpus 2]
//                      [--sample-us N] [--timeout-ms N] [--event ID] -- COMMAND...
//
// FD is a socket: the result is one JSON object written to it, and when its other end closes the
// command is killed. SIGTERM is handed on to the command, which is measured to its end. Standard
// input and output are the command's. What the command leaves running is killed after a grace.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.hpp"
#include "event_counter.hpp"
#include "process_tree.hpp"

namespace strid::memory_run {

namespace {

constexpr std::int64_t grace_ns = 200'000'000;

struct Settings {
    CommandSettings command;
    std::vector<int> own_processors;
    int channel = -1;
    std::int64_t sample_ns = 10'000'000;
    std::int64_t timeout_ns = 0;  // 0: none
    std::optional<std::uint64_t> event;
};

struct Result {
    int status = 0;  // as waitpid gives it
    bool timed_out = false;
    bool abandoned = false;
    int failure = 0;
    int left_behind = 0;
    std::int64_t wall_ns = 0;
    double user_s = 0;
    double system_s = 0;
    std::int64_t peak_bytes = 0;
    std::int64_t minor_faults = 0;
    std::int64_t major_faults = 0;
};

std::int64_t number_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0) {
        throw std::invalid_argument(fmt::format("not a number: {}", text));
    }
    return value;
}

std::vector<int> numbers_of(std::string_view text) {
    std::vector<int> numbers;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::int64_t number = number_of(text.substr(0, comma));
        if (number >= CPU_SETSIZE) throw std::invalid_argument("a processor's number is too large");
        numbers.push_back(static_cast<int>(number));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return numbers;
}

Settings settings_of(const std::vector<std::string>& words) {
    Settings settings;
    std::size_t at = 0;
    for (; at + 1 < words.size() && words[at] != "--"; at += 2) {
        const std::string& option = words[at];
        const std::string& value = words[at + 1];
        if (option == "--channel") {
            settings.channel = static_cast<int>(number_of(value));
        } else if (option == "--witness") {
            settings.command.witness = value;
        } else if (option == "--preload") {
            settings.command.preload = value;
        } else if (option == "--cpus") {
            settings.command.processors = numbers_of(value);
        } else if (option == "--own-cpus") {
            settings.own_processors = numbers_of(value);
        } else if (option == "--sample-us") {
            settings.sample_ns = number_of(value) * 1'000;
        } else if (option == "--timeout-ms") {
            settings.timeout_ns = number_of(value) * 1'000'000;
        } else if (option == "--event") {
            settings.event = static_cast<std::uint64_t>(number_of(value));
        } else {
            throw std::invalid_argument("unknown option " + option);
        }
    }
    if (at + 1 >= words.size() || settings.channel < 0) {
        throw std::invalid_argument("it takes --channel FD, options, and -- COMMAND...");
    }
    settings.command.words.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
    return settings;
}

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

void stay_on(const std::vector<int>& processors) {
    if (processors.empty()) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &set);
    ::sched_setaffinity(0, sizeof set, &set);  // a hint: the command is measured without it too
}

/// One run: from fork to the end of all that the command started.
class Run {
  public:
    Run(const Settings& settings, int signals)
        : settings_(settings),
          signals_(signals),
          command_(settings.command),
          counter_(settings.event
                       ? std::optional<EventCounter>(std::in_place, command_.pid(), *settings.event)
                       : std::nullopt),
          start_ns_(command_.start()),
          sampler_(start_ns_, settings.sample_ns) {}

    std::string measure() {
        while (!main_ended_ || wait_for_orphans()) {
            wait();
            take_signals();
            reap();
            const std::int64_t now = now_ns();
            if (!main_ended_ && settings_.timeout_ns > 0 &&
                now - start_ns_ >= settings_.timeout_ns) {
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

  private:
    void wait() {
        std::int64_t pause_ns = main_ended_ ? 1'000'000 : sampler_.wait_ns(now_ns());
        if (!main_ended_ && settings_.timeout_ns > 0) {
            pause_ns = std::min(pause_ns, start_ns_ + settings_.timeout_ns - now_ns());
        }
        pause_ns = std::max<std::int64_t>(pause_ns, 0);
        const timespec pause{pause_ns / 1'000'000'000, pause_ns % 1'000'000'000};
        std::array<pollfd, 2> files{pollfd{signals_, POLLIN, 0},
                                    pollfd{settings_.channel, POLLIN, 0}};
        ::ppoll(files.data(), files.size(), &pause, nullptr);
        result_.abandoned = files[1].revents != 0;
    }

    void take_signals() {
        signalfd_siginfo signal{};
        while (::read(signals_, &signal, sizeof signal) == sizeof signal) {
            if (signal.ssi_signo == SIGTERM && !main_ended_) ::kill(command_.pid(), SIGTERM);
        }
    }

    void reap() {
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

    /// Whether a process still runs that the command left; after the grace it is killed.
    bool wait_for_orphans() {
        if (descendants().empty()) return false;
        if (now_ns() - start_ns_ - result_.wall_ns < grace_ns) return true;
        result_.left_behind = end_descendants();
        return false;
    }

    [[nodiscard]] std::string text() const;

    const Settings& settings_;
    int signals_;
    Command command_;
    std::optional<EventCounter> counter_;
    std::int64_t start_ns_;
    ResidentSampler sampler_;
    Result result_;
    bool main_ended_ = false;
};

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

std::string Run::text() const {
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

int run(int count, char** words) {
    const Settings settings = settings_of(std::vector<std::string>(words + 1, words + count));
    ::fcntl(settings.channel, F_SETFD, FD_CLOEXEC);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    stay_on(settings.own_processors);
    sigset_t handled;
    ::sigemptyset(&handled);
    ::sigaddset(&handled, SIGCHLD);
    ::sigaddset(&handled, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &handled, nullptr);
    ::signal(SIGINT, SIG_IGN);  // the terminal sends it to this process and its caller, which acts
    ::signal(SIGHUP, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);
    const int signals = ::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
    const std::string text = Run(settings, signals).measure();
    const ssize_t written = ::write(settings.channel, text.data(), text.size());
    return written == static_cast<ssize_t>(text.size()) ? 0 : 1;
}

}  // namespace

}  // namespace strid::memory_run

int main(int count, char** words) try {
    return strid::memory_run::run(count, words);
} catch (const std::exception& error) {
    fmt::print(stderr, "strid: error: strid-memory-run: {}\n", error.what());
    return 2;
}
