// SPDX-License-Identifier: Apache-2.0
#include "futex.hpp"

#include <algorithm>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace strid::runtime {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t),
              "the kernel reads the word as a plain integer");

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::int64_t until_ns) noexcept {
    constexpr std::int64_t second_ns = 1'000'000'000;
    const std::int64_t until = std::max<std::int64_t>(until_ns, 0);
    timespec deadline{};
    deadline.tv_sec = static_cast<time_t>(until / second_ns);
    deadline.tv_nsec = static_cast<long>(until % second_ns);
    // The bitset form takes an absolute time of the monotonic clock, which is that of now_ns().
    syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected,
            until_ns == never_ns ? nullptr : &deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace strid::runtime
