// SPDX-License-Identifier: Apache-2.0
#include "event_counter.hpp"

#include <cerrno>
#include <cstring>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace strid::memory_run {

EventCounter::EventCounter(pid_t pid, std::uint64_t id) {
    perf_event_attr attribute{};
    attribute.type = PERF_TYPE_TRACEPOINT;
    attribute.size = sizeof attribute;
    attribute.config = id;
    attribute.disabled = 1;
    attribute.enable_on_exec = 1;
    attribute.inherit = 1;
    // -1: on every processor, in no group.
    file_ = static_cast<int>(
        ::syscall(SYS_perf_event_open, &attribute, pid, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (file_ < 0) refusal_ = std::strerror(errno);
}

EventCounter::~EventCounter() {
    if (file_ >= 0) ::close(file_);
}

std::optional<std::uint64_t> EventCounter::count() const {
    std::uint64_t value = 0;
    if (file_ < 0 || ::read(file_, &value, sizeof value) != sizeof value) return std::nullopt;
    return value;
}

}  // namespace strid::memory_run
