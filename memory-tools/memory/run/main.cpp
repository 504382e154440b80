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
// input and output are the command's. Processes that the command leaves running are killed after a
// grace.
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
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "measured_run.hpp"

namespace strid::memory_run {

namespace {

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

RunSettings settings_of(const std::vector<std::string>& words) {
    RunSettings settings;
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

void stay_on(const std::vector<int>& processors) {
    if (processors.empty()) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &set);
    ::sched_setaffinity(0, sizeof set, &set);  // a hint: the command is measured without it too
}

int run(int count, char** words) {
    const RunSettings settings = settings_of(std::vector<std::string>(words + 1, words + count));
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
    const std::string text = MeasuredRun(settings, signals).measure();
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
