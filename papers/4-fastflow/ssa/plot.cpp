// SPDX-License-Identifier: Apache-2.0
#include "plot.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <strid/base/error.hpp>

extern char** environ;

namespace strid::ssa {

namespace {

[[noreturn]] void fail(const char* what, int error) {
    throw Error(fmt::format("gnuplot, which draws --plot, {}: {}", what,
                            std::generic_category().message(error)));
}

/// A file without a name, in memory.
class MemoryFile {
  public:
    explicit MemoryFile(const char* name) : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {
        if (descriptor_ < 0) fail("cannot be given its input", errno);
    }
    ~MemoryFile() { ::close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
    void write(std::string_view text) const {
        while (!text.empty()) {
            const ssize_t written = ::write(descriptor_, text.data(), text.size());
            if (written < 0 && errno != EINTR) fail("cannot be given its input", errno);
            text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
        }
        if (::lseek(descriptor_, 0, SEEK_SET) < 0) fail("cannot be given its input", errno);
    }
    [[nodiscard]] std::string read() const {
        std::string text;
        std::array<char, 65'536> buffer;
        off_t at = 0;
        while (true) {
            const ssize_t bytes = ::pread(descriptor_, buffer.data(), buffer.size(), at);
            if (bytes < 0 && errno == EINTR) continue;
            if (bytes < 0) fail("gave nothing that can be read", errno);
            if (bytes == 0) return text;
            text.append(buffer.data(), static_cast<std::size_t>(bytes));
            at += bytes;
        }
    }

  private:
    int descriptor_;
};

/// The output of gnuplot for this script.
std::string run_gnuplot(std::string_view script) {
    const MemoryFile input("script");
    const MemoryFile output("picture");
    const MemoryFile errors("errors");
    input.write(script);
    posix_spawn_file_actions_t actions;
    if (::posix_spawn_file_actions_init(&actions) != 0) fail("cannot be run", ENOMEM);
    ::posix_spawn_file_actions_adddup2(&actions, input.descriptor(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
    std::string program = "gnuplot";
    std::string dash = "-";
    const std::array<char*, 3> arguments{program.data(), dash.data(), nullptr};
    pid_t child = 0;
    const int error =
        ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) fail("cannot be run", error);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) fail("cannot be waited for", errno);
    }
    if (status != 0) {
        std::string message = errors.read();
        std::ranges::replace(message, '\n', ' ');
        throw Error(
            fmt::format("gnuplot, which draws --plot, has failed: {}", message.substr(0, 300)));
    }
    return output.read();
}

/// In single quotes of gnuplot; no markup.
std::string quoted_name(std::string_view text) {
    std::string made = "'";
    for (const char mark : text) {
        made += mark == '\'' ? "''" : std::string(1, mark);
    }
    return made + "'";
}

}  // namespace

void check_gnuplot() {
    (void)run_gnuplot("");
}

std::string draw(const Statistics& statistics, const Network& network, const Plan& plan,
                 const std::vector<double>& quantiles) {
    const bool has_band = quantiles.size() > 1;
    std::string script =
        "set terminal svg size 900,560 noenhanced background 'white'\n"
        "set key outside right top noenhanced\nset xlabel 'time'\nset ylabel 'count'\n"
        "set style fill transparent solid 0.2 noborder\n$statistics << END\n";
    const auto out = std::back_inserter(script);
    for (std::size_t i = 0; i < network.species.size(); ++i) {
        for (std::size_t sample = 0; sample < plan.samples(); ++sample) {
            fmt::format_to(out, "{} {}", plan.sample_time(sample), statistics.mean(sample, i));
            if (has_band) {
                const auto [low, high] = std::ranges::minmax(quantiles);
                fmt::format_to(out, " {} {}", statistics.quantile(sample, i, low),
                               statistics.quantile(sample, i, high));
            }
            script += '\n';
        }
        script += "\n\n";  // the next index
    }
    fmt::format_to(out, "END\nset xrange [0:{}]\nplot ", plan.until);
    for (std::size_t i = 0; i < network.species.size(); ++i) {
        if (has_band) {
            fmt::format_to(out,
                           "$statistics index {} using 1:3:4 with filledcurves notitle lc {}, ", i,
                           i + 1);
        }
        fmt::format_to(out, "$statistics index {} using 1:2 with lines lw 2 lc {} title {}{}", i,
                       i + 1, quoted_name(network.species[i].name),
                       i + 1 == network.species.size() ? "\n" : ", ");
    }
    return run_gnuplot(script);
}

}  // namespace strid::ssa
