// SPDX-License-Identifier: Apache-2.0
//
// One emitter, n workers, a ring to each, and a carrier (carriers.hpp) that says what lies in it.
//
// Threads: send, flush and close on the emitter; receive on the worker that it names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <strid/engine/channel/spsc_ring.hpp>

#include "carriers.hpp"
#include "waiting.hpp"

namespace strid::apps::trading {

enum class [[nodiscard]] Received : std::uint8_t { some, nothing, closed };

template <class Carrier>
class Multicast {
    using Item = typename Carrier::Item;
    using Ring = channel::SpscRing<Item>;

  public:
    explicit Multicast(const MulticastOptions& options) : carrier_(options) {
        for (std::size_t i = 0; i != options.workers; ++i) {
            rings_.push_back(std::make_unique<Ring>(Carrier::slots(options)));
        }
        at_once_ = std::max<std::size_t>(rings_.front()->capacity() / 4, 1);
    }

    /// Waits while a ring is full.
    template <class T>
    void send(const T& value, Group group) {
        carrier_.send(value, group, pusher());
    }
    /// Sends the messages that the carrier held back to gather a batch.
    void flush() { carrier_.flush(pusher()); }
    void close() {
        flush();
        for (auto& ring : rings_) ring->close();
    }

    /// Calls `each` with the tuples that lie there for the worker, some at a time.
    template <class Each>
    Received receive(std::size_t worker, Each&& each) {
        Ring& ring = *rings_[worker];
        const auto items = ring.peek(at_once_);
        if (items.empty()) {
            carrier_.idle(worker);
            return ring.was_drained() ? Received::closed : Received::nothing;
        }
        for (Item& item : items) carrier_.receive(item, worker, each);
        ring.release(items.size());
        return Received::some;
    }

    /// Until the emitter closed and everything was received.
    template <class Each>
    void receive_all(std::size_t worker, Each&& each) {
        Patience patience;
        for (;;) {
            switch (receive(worker, each)) {
                case Received::closed:
                    return;
                case Received::nothing:
                    patience.wait();
                    break;
                case Received::some:
                    patience.reset();
            }
        }
    }

  private:
    auto pusher() noexcept {
        return [this](std::size_t worker, const Item& item) {
            Ring& ring = *rings_[worker];
            if (ring.try_push(item) == channel::PushResult::ok) [[likely]]
                return;
            Patience patience;
            while (ring.try_push(item) != channel::PushResult::ok) patience.wait();
        };
    }

    Carrier carrier_;
    std::vector<std::unique_ptr<Ring>> rings_;  // by worker
    std::size_t at_once_ = 1;
};

}  // namespace strid::apps::trading
