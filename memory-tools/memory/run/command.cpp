// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "process_tree.hpp"

namespace strid::memory_run {

namespace {

std::array<int, 2> pipe_ends() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe");
    }
    return ends;
}

/// In the child, between fork and exec. Returns an errno, or not at all.
int become(const CommandSettings& settings, std::vector<char*>& words) {
    ::setpgid(0, 0);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGHUP, SIG_DFL);
    ::signal(SIGPIPE, SIG_DFL);
    if (!settings.processors.empty()) {
        cpu_set_t set;
        CPU_ZERO(&set);
        for (const int processor : settings.processors) {
            CPU_SET(static_cast<std::size_t>(processor), &set);
        }
        if (::sched_setaffinity(0, sizeof set, &set) != 0) return errno;
    }
    std::string preload = settings.preload;
    if (const char* before = std::getenv("LD_PRELOAD"); before != nullptr && *before != '\0') {
        preload += (preload.empty() ? "" : ":") + std::string(before);
    }
    if (!preload.empty()) ::setenv("LD_PRELOAD", preload.c_str(), 1);
    if (!settings.witness.empty()) {
        ::setenv("STRID_MEMORY_WITNESS", settings.witness.c_str(), 1);
    }
    ::execvp(words[0], words.data());
    return errno;
}

}  // namespace

Command::Command(const CommandSettings& settings) {
    const std::array<int, 2> go = pipe_ends();
    const std::array<int, 2> failure = pipe_ends();
    std::vector<std::string> words = settings.words;
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid_ == 0) {
        ::close(go[1]);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        char sign = 0;
        ssize_t size = 0;
        do size = ::read(go[0], &sign, 1);
        while (size < 0 && errno == EINTR);
        if (size != 1) ::_exit(126);  // its parent has ended
        const int error = become(settings, pointers);
        const ssize_t written = ::write(failure[1], &error, sizeof error);
        ::_exit(written == sizeof error ? 127 : 126);
    }
    ::close(go[0]);
    ::close(failure[1]);
    go_ = go[1];
    failure_ = failure[0];
}

Command::~Command() {
    if (go_ >= 0) ::close(go_);
    ::close(failure_);
}

std::int64_t Command::start() {
    const char sign = 0;
    const std::int64_t start_ns = now_ns();
    if (::write(go_, &sign, 1) != 1)
        throw std::system_error(errno, std::generic_category(), "pipe");
    ::close(go_);
    go_ = -1;
    return start_ns;
}

int Command::failure() const {
    int error = 0;
    return ::read(failure_, &error, sizeof error) == sizeof error ? error : 0;
}

}  // namespace strid::memory_run
