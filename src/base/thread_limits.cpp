// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <strid/engine/base/thread_limits.hpp>

namespace strid {

namespace {

std::size_t stack_bytes() noexcept {
    pthread_attr_t attributes;
    std::size_t bytes = std::size_t{8} << 20;
    if (::pthread_attr_init(&attributes) != 0) return bytes;
    ::pthread_attr_getstacksize(&attributes, &bytes);
    ::pthread_attr_destroy(&attributes);
    return bytes;
}

bool has_memory(std::size_t bytes) noexcept {
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return false;
    ::munmap(memory, bytes);
    return true;
}

/// As the shell shows it: in units of so many bytes.
template <class Resource>
std::string limit_of(Resource resource, rlim_t unit) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "unlimited";
    return std::to_string(limit.rlim_cur / unit);
}

/// pids.max of the process's control group (version 2); empty where there is none.
std::string group_limit() {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        if (!line.starts_with("0::")) continue;
        std::string most;
        std::ifstream("/sys/fs/cgroup" + line.substr(3) + "/pids.max") >> most;
        return most;
    }
    return {};
}

}  // namespace

std::string reached_thread_limit() {
    if (const std::size_t bytes = stack_bytes(); !has_memory(bytes)) {
        return "there is no memory for a stack of " + std::to_string(bytes / 1024) +
               " KiB (ulimit -v is " + limit_of(RLIMIT_AS, 1024) + ")";
    }
    const std::string group = group_limit();
    return "a limit of threads is reached (ulimit -u is " + limit_of(RLIMIT_NPROC, 1) +
           (group.empty() ? "" : ", pids.max of the control group is " + group) + ")";
}

}  // namespace strid
