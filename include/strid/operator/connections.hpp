// SPDX-License-Identifier: Apache-2.0
//
// The places outside that a run reads and writes, such as brokers and databases: whether they can
// be reached, and how much waits for them. A transport that connects again by itself says so here:
// the reports and /readyz of the run show why nothing comes out.
//
// Owned by the scope of the run (RunScope::connections), which outlives the operators.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace strid {

/// A place outside, as a run stands with it.
struct ConnectionReport {
    std::string address;           ///< Of the transport, without secrets.
    bool is_up = true;             ///< False: it cannot be reached now, and is tried again.
    double seconds = 0;            ///< For so long.
    std::uint64_t times_lost = 0;  ///< Since the start of the run.
    std::uint64_t bytes_held = 0;  ///< Rows that wait for it in memory.
    std::string reason = {};       ///< Why it was lost the last time; empty: never.
};

/// One place. Threads: any.
class Connection {
  public:
    /// `warn` takes a sentence for the user.
    Connection(std::string address, std::function<void(const std::string&)> warn);

    /// It cannot be reached: warns with the reason, and with what happens now. Nothing, where that
    /// was said before.
    void lost(std::string_view reason, std::string_view what_happens);
    /// It can be reached: warns where it could not be.
    void is_back();
    /// So many bytes of rows wait for it.
    void hold(std::size_t bytes) noexcept { bytes_held_.store(bytes, std::memory_order_relaxed); }

    /// Whether it can be reached.
    [[nodiscard]] bool is_up() const noexcept { return is_up_.load(std::memory_order_relaxed); }
    /// As it is now.
    [[nodiscard]] ConnectionReport report() const;

  private:
    const std::string address_;
    const std::function<void(const std::string&)> warn_;
    std::atomic<bool> is_up_{true};           // changed under mutex_
    std::atomic<std::size_t> bytes_held_{0};  // relaxed: a figure
    mutable std::mutex mutex_;
    std::string reason_;
    std::uint64_t times_lost_ = 0;
    std::int64_t since_ns_;
};

/// All places of a run. Threads: any.
class Connections {
  public:
    /// The place of this address, which is up when it is new.
    [[nodiscard]] std::shared_ptr<Connection> add(
        const std::string& address, const std::function<void(const std::string&)>& warn);
    /// In the order in which they were added.
    [[nodiscard]] std::vector<ConnectionReport> report() const;

  private:
    mutable std::mutex mutex_;
    std::vector<std::pair<std::string, std::shared_ptr<Connection>>> all_;
};

}  // namespace strid
