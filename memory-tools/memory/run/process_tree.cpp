// SPDX-License-Identifier: Apache-2.0
#include "process_tree.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace strid::memory_run {

namespace {

constexpr std::int64_t first_pause_ns = 250'000;
constexpr std::int64_t share_of_elapsed = 32;
constexpr std::int64_t share_of_cost = 50;

/// The beginning of a file of /proc; empty where the process has gone.
std::string text_of(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    std::string text;
    std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t size = ::read(file, buffer.data(), buffer.size());
        if (size <= 0) break;
        text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    ::close(file);
    return text;
}

std::string folder_of(pid_t pid) {
    return "/proc/" + std::to_string(pid);
}

std::vector<std::string> threads_of(pid_t pid) {
    const std::string path = folder_of(pid) + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
    std::vector<std::string> threads;
    if (!folder) return threads;
    while (const dirent* entry = ::readdir(folder.get())) {
        if (entry->d_name[0] != '.') threads.push_back(path + "/" + entry->d_name);
    }
    return threads;
}

std::int64_t resident_bytes(pid_t pid) {
    // statm: size resident shared ...
    const std::string text = text_of(folder_of(pid) + "/statm");
    const std::size_t space = text.find(' ');
    if (space == std::string::npos) return 0;
    static const std::int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
    return std::strtoll(text.c_str() + space, nullptr, 10) * page_bytes;
}

std::string program_of(const std::string& folder) {
    std::array<char, 4096> path;
    const ssize_t size = ::readlink((folder + "/exe").c_str(), path.data(), path.size());
    return size > 0 ? std::string(path.data(), static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

std::int64_t now_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

std::vector<pid_t> descendants() {
    std::vector<pid_t> found{::getpid()};
    for (std::size_t at = 0; at < found.size(); ++at) {
        for (const std::string& thread : threads_of(found[at])) {
            const std::string children = text_of(thread + "/children");
            const char* next = children.c_str();
            for (char* end = nullptr;; next = end) {
                const long pid = std::strtol(next, &end, 10);
                if (end == next) break;
                found.push_back(static_cast<pid_t>(pid));
            }
        }
    }
    found.erase(found.begin());
    return found;
}

int end_descendants() {
    int killed = 0;
    for (;;) {
        for (const pid_t pid : descendants()) ::kill(pid, SIGKILL);
        // A killed process hands its children on to this one: until there are none.
        const pid_t ended = ::waitpid(-1, nullptr, 0);
        if (ended < 0 && errno != EINTR) return killed;
        if (ended > 0) ++killed;
    }
}

ResidentSampler::ResidentSampler(std::int64_t start_ns, std::int64_t period_ns)
    : start_ns_(start_ns),
      period_ns_(period_ns),
      next_ns_(start_ns + std::min(first_pause_ns, period_ns)),
      own_program_(program_of("/proc/self")) {}

std::int64_t ResidentSampler::wait_ns(std::int64_t now) const noexcept {
    return std::max<std::int64_t>(0, next_ns_ - now);
}

void ResidentSampler::sample() {
    const std::int64_t begin_ns = now_ns();
    std::int64_t bytes = 0;
    for (const pid_t pid : descendants()) {
        bytes += resident_bytes(pid);
        std::string program = program_of(folder_of(pid));
        // Before its exec a child is still this program.
        if (!program.empty() && program != own_program_) programs_.insert(std::move(program));
    }
    if (samples_ > 0) {
        byte_ns_ += static_cast<double>(last_bytes_) * static_cast<double>(begin_ns - last_ns_);
        covered_ns_ += begin_ns - last_ns_;
    }
    ++samples_;
    last_ns_ = begin_ns;
    last_bytes_ = bytes;
    peak_bytes_ = std::max(peak_bytes_, bytes);
    const std::int64_t end_ns = now_ns();
    const std::int64_t pause_ns = std::clamp((end_ns - start_ns_) / share_of_elapsed,
                                             std::min(first_pause_ns, period_ns_), period_ns_);
    next_ns_ = end_ns + std::max(pause_ns, (end_ns - begin_ns) * share_of_cost);
}

void ResidentSampler::finish(std::int64_t end_ns) noexcept {
    if (samples_ == 0 || end_ns <= last_ns_) return;
    byte_ns_ += static_cast<double>(last_bytes_) * static_cast<double>(end_ns - last_ns_);
    covered_ns_ += end_ns - last_ns_;
    last_ns_ = end_ns;
}

std::int64_t ResidentSampler::mean_bytes() const noexcept {
    if (samples_ < 3 || covered_ns_ == 0) return -1;
    return static_cast<std::int64_t>(byte_ns_ / static_cast<double>(covered_ns_));
}

}  // namespace strid::memory_run
