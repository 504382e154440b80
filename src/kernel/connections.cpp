// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/clock.hpp>
#include <strid/operator/connections.hpp>

namespace strid {

Connection::Connection(std::string address, std::function<void(const std::string&)> warn)
    : address_(std::move(address)), warn_(std::move(warn)), since_ns_(now_ns()) {}

void Connection::lost(std::string_view reason, std::string_view what_happens) {
    {
        const std::lock_guard lock(mutex_);
        if (!is_up_.exchange(false, std::memory_order_relaxed)) return;
        reason_ = reason;
        ++times_lost_;
        since_ns_ = now_ns();
    }
    warn_(fmt::format("{}; {}", reason, what_happens));
}

void Connection::is_back() {
    if (is_up()) return;
    {
        const std::lock_guard lock(mutex_);
        if (is_up_.exchange(true, std::memory_order_relaxed)) return;
        since_ns_ = now_ns();
    }
    warn_(address_ + ": connected again");
}

ConnectionReport Connection::report() const {
    const std::lock_guard lock(mutex_);
    return {.address = address_,
            .is_up = is_up(),
            .seconds = static_cast<double>(now_ns() - since_ns_) * 1e-9,
            .times_lost = times_lost_,
            .bytes_held = bytes_held_.load(std::memory_order_relaxed),
            .reason = reason_};
}

std::shared_ptr<Connection> Connections::add(const std::string& address,
                                             const std::function<void(const std::string&)>& warn) {
    const std::lock_guard lock(mutex_);
    return all_.emplace_back(address, std::make_shared<Connection>(address, warn)).second;
}

std::vector<ConnectionReport> Connections::report() const {
    const std::lock_guard lock(mutex_);
    std::vector<ConnectionReport> reports;
    for (const auto& [address, connection] : all_) {
        const ConnectionReport one = connection->report();
        const auto found = std::find_if(reports.begin(), reports.end(), [&](const auto& other) {
            return other.address == address;
        });
        if (found == reports.end()) {
            reports.push_back(one);
            continue;
        }
        // Several sources and sinks: it is up where it is for all.
        if (!one.is_up && found->is_up) {
            found->is_up = false;
            found->seconds = one.seconds;
            found->reason = one.reason;
        }
        found->times_lost += one.times_lost;
        found->bytes_held += one.bytes_held;
    }
    return reports;
}

}  // namespace strid
