// SPDX-License-Identifier: Apache-2.0
//
// Whether a client is between its request to join a group (once more) and the answer of the group.
//
// An offset that is committed meanwhile waits behind the request, has the number of the assignment
// before and is refused, and librdkafka (before 2.10, its issue 4059) gives up all partitions of
// the member then. Threads: note() by those of librdkafka, the rest by any.
#pragma once

#include <atomic>
#include <cstdint>

#include <librdkafka/rdkafka.h>

namespace strid::kafka {

class Joining {
  public:
    /// Behind it the configuration and its client must not outlive this one.
    void watch(::rd_kafka_conf_t* configuration);
    /// Relaxed: it orders nothing.
    [[nodiscard]] bool goes_on() const noexcept { return goes_on_.load(std::memory_order_relaxed); }
    /// A request that was sent, or an answer that has come, of this kind.
    void note(std::int16_t kind, bool is_answer) noexcept;

  private:
    std::atomic<bool> goes_on_{false};
};

}  // namespace strid::kafka
