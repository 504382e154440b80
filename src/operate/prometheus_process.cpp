// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>

#include <sys/resource.h>
#include <unistd.h>

#include <strid/base/version.hpp>
#include <strid/engine/base/process_memory.hpp>
#include <strid/operate/prometheus.hpp>

#include "exposition.hpp"

namespace strid::operate {

namespace {

double seconds_of(const ::timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// The start of the process in seconds since 1970: field 22 of /proc/self/stat, ticks since the
/// start of the machine, behind the name in brackets, and the line `btime` of /proc/stat.
std::optional<double> start_of_process() {
    std::ifstream own("/proc/self/stat");
    std::string text{std::istreambuf_iterator<char>(own), {}};
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields(text.substr(name_end + 1));
    std::string field;
    constexpr int place = 20;  // field 22 of the line: the third is the first here
    for (int i = 0; i < place; ++i) fields >> field;
    std::uint64_t ticks = 0;
    if (!fields ||
        std::from_chars(field.data(), field.data() + field.size(), ticks).ec != std::errc{}) {
        return std::nullopt;
    }
    std::ifstream machine("/proc/stat");
    for (std::string word; machine >> word;) {
        std::uint64_t booted = 0;
        if (word != "btime" || !(machine >> booted)) continue;
        return static_cast<double>(booted) +
               static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }
    return std::nullopt;
}

std::optional<std::uint64_t> open_files() {
    std::error_code fault;
    const std::filesystem::directory_iterator files("/proc/self/fd", fault);
    if (fault) return std::nullopt;
    const auto count = std::distance(files, std::filesystem::directory_iterator{});
    return static_cast<std::uint64_t>(count) - 1;  // without that of the iteration
}

}  // namespace

std::string prometheus_text_of_process() {
    Exposition out;
    out.single("strid_build_info", "gauge", "1, with the version of the library as a label.",
               labels_of({{"version", library_version()}}), 1);
    ::rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) == 0) {
        out.single("process_cpu_seconds_total", "counter", "Processor time, user and system.", {},
                   seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
    }
    if (const std::uint64_t bytes = resident_bytes(); bytes != 0) {
        out.single("process_resident_memory_bytes", "gauge", "Memory in use.", {}, bytes);
    }
    if (const auto files = open_files()) {
        out.single("process_open_fds", "gauge", "Open file descriptors.", {}, *files);
    }
    if (const auto start = start_of_process()) {
        out.single("process_start_time_seconds", "gauge", "Start of the process since 1970.", {},
                   *start);
    }
    return out.take();
}

}  // namespace strid::operate
