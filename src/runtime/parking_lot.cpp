// SPDX-License-Identifier: Apache-2.0
#include "parking_lot.hpp"

#include <strid/base/clock.hpp>

namespace strid::runtime {

bool ParkingLot::sleep(std::size_t worker, std::int64_t until_ns) noexcept {
    std::atomic<std::uint32_t>& asleep = sleepers_[worker].asleep;
    // Acquire: pairs with the exchange in wake().
    while (asleep.load(std::memory_order_acquire) != 0) {
        if (until_ns != never_ns && now_ns() >= until_ns) break;
        futex_wait(asleep, 1, until_ns);
    }
    return retract(worker);
}

bool ParkingLot::wake(Sleeper& sleeper) noexcept {
    // Sequentially consistent: pairs with announce(). The thread that lowers the flag does the
    // rest, in this order (see the invariant).
    if (sleeper.asleep.load(std::memory_order_seq_cst) == 0) return false;
    if (sleeper.asleep.exchange(0, std::memory_order_seq_cst) == 0) return false;
    parked_.fetch_sub(1, std::memory_order_relaxed);
    searching_.fetch_add(1, std::memory_order_seq_cst);  // pairs with searching()
    futex_wake(sleeper.asleep);
    return true;
}

bool ParkingLot::wake_one(std::size_t preferred) noexcept {
    if (!any_parked()) return false;
    for (std::size_t i = 0; i < workers_; ++i) {
        if (wake(sleepers_[(preferred + i) % workers_])) return true;
    }
    return false;
}

void ParkingLot::wake_all() noexcept {
    for (std::size_t i = 0; i < workers_; ++i) wake(sleepers_[i]);
}

}  // namespace strid::runtime
