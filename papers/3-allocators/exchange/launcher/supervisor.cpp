// SPDX-License-Identifier: Apache-2.0
#include "launcher/supervisor.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/program/session.hpp>

namespace strid::exchange {

using namespace std::chrono_literals;

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t retry_ns = second_ns / 10;
constexpr std::size_t failures_max = 5;
constexpr auto period = 20ms;
constexpr auto patience = 10s;

/// Of a child between fork and exec: only what is safe there.
[[noreturn]] void become(const char* path, char* const* arguments, const char* folder, pid_t parent,
                         mode_t mask) {
    // Ctrl-C is for the parent, which ends its children in order; they do not outlive it.
    ::setpgid(0, 0);
    ::umask(mask);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent || ::chdir(folder) != 0) ::_exit(127);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execv(path, arguments);
    ::_exit(127);
}

std::string exit_text(int status) {
    if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
    return fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

Supervisor::Supervisor(std::vector<ProgramCall> calls, std::filesystem::path folder, mode_t mask,
                       const Log& log)
    : folder_(std::move(folder)), mask_(mask), log_(log) {
    for (ProgramCall& call : calls) programs_.emplace_back().call = std::move(call);
}

Supervisor::~Supervisor() {
    for (auto program = programs_.rbegin(); program != programs_.rend(); ++program) end(*program);
    std::error_code ignored;
    std::filesystem::remove(folder_ / "exchange.status", ignored);
}

void Supervisor::start(Program& program) {
    const std::string path = program.call.path.string();
    const std::string folder = folder_.string();
    std::vector<std::string> words{path};
    words.insert(words.end(), program.call.arguments.begin(), program.call.arguments.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t parent = ::getpid();
    const pid_t process = ::fork();
    if (process < 0) {
        throw InputOutputError("fork: " + std::generic_category().message(errno));
    }
    if (process == 0) become(path.c_str(), arguments.data(), folder.c_str(), parent, mask_);
    program.process = process;
    program.started_ns = now_ns();
    ++program.starts;
    write_status();
}

void Supervisor::note_end(Program& program, int status) {
    const std::int64_t now = now_ns();
    program.process = 0;
    // One that was killed is started anew for ever; one that ends by itself at once has a reason.
    const bool is_failure = !WIFSIGNALED(status) && now < program.started_ns + second_ns;
    program.failures = is_failure ? program.failures + 1 : 0;
    log_.say(fmt::format("strid-exchange-{} {}", program.call.name, exit_text(status)));
    if (program.failures == failures_max) {
        throw InputOutputError(fmt::format("strid-exchange-{} {}, {} times in a row",
                                           program.call.name, exit_text(status), failures_max));
    }
    program.start_at_ns = now + retry_ns;
    write_status();
}

void Supervisor::check() {
    for (Program& program : programs_) {
        int status = 0;
        if (program.process != 0 && ::waitpid(program.process, &status, WNOHANG) > 0) {
            note_end(program, status);
        }
        if (program.process == 0 && now_ns() >= program.start_at_ns) start(program);
    }
}

void Supervisor::run(const std::atomic<bool>& ended) {
    while (!ended.load(std::memory_order_relaxed)) {
        check();
        std::this_thread::sleep_for(period);
    }
}

void Supervisor::end(Program& program) {
    if (program.process == 0) return;
    ::kill(program.process, SIGTERM);
    const auto until = std::chrono::steady_clock::now() + patience;
    while (::waitpid(program.process, nullptr, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > until) {
            log_.say(
                fmt::format("strid-exchange-{} does not end: it is killed", program.call.name));
            ::kill(program.process, SIGKILL);
            ::waitpid(program.process, nullptr, 0);
            break;
        }
        std::this_thread::sleep_for(period);
    }
    program.process = 0;
}

void Supervisor::write_status() const {
    std::string text;
    for (const Program& program : programs_) {
        text += fmt::format("strid-exchange-{} {} {}\n", program.call.name, program.process,
                            program.starts);
    }
    write_file((folder_ / "exchange.status").string(), text);
}

}  // namespace strid::exchange
