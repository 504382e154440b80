// SPDX-License-Identifier: Apache-2.0
//
// The ways from producers to consumers behind one interface, for <strid/channel/queue.hpp>. A
// producer and a consumer have a seat, which the other functions take.
//
//     Pair      one producer and one consumer: a ring of the engine as it is
//     Direct    tickets of one ring, or of a chain of rings
//     Mediated  lanes to and from a thread, which it owns
//
// Threads: a seat is one thread's at a time. Owner: the queue, which outlives the seats.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <strid/channel/queue_options.hpp>
#include <strid/channel/result.hpp>
#include <strid/engine/base/relax.hpp>
#include <strid/engine/channel/doorbell.hpp>
#include <strid/engine/channel/mediator.hpp>
#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/engine/channel/ticket_chain.hpp>
#include <strid/engine/channel/ticket_ring.hpp>
#include <strid/engine/channel/unbounded_spsc.hpp>

namespace strid::channel::detail {

/// Where threads of a queue sleep.
struct Bells {
    Doorbell<> filled;  ///< consumers
    Doorbell<> room;    ///< producers
    Doorbell<> work;    ///< the mediating thread
};

/// A thread looks so many times, about 20 us, before it sleeps or lets others run.
inline constexpr int looks_before_sleep = 500;

template <class Attempt>
void wait_for(Doorbell<>& bell, Waiting waiting, Attempt attempt) {
    for (int i = 0; i < looks_before_sleep; ++i) {
        if (attempt()) return;
        relax();
    }
    bool done = false;
    while (!done) {
        if (waiting == Waiting::spins) {
            std::this_thread::yield();
            done = attempt();
        } else {
            bell.wait([&] { return done = attempt(); });
        }
    }
}

// Lanes between two threads, item by item or in batches.

template <class T>
Several<PushResult> push_several(SpscRing<T>& ring, std::span<T> values) {
    std::size_t count = 0;
    while (count < values.size()) {  // twice where the array of the ring ends
        const std::span<T> slots = ring.claim(values.size() - count);
        if (slots.empty()) break;
        std::move(values.data() + count, values.data() + count + slots.size(), slots.data());
        ring.commit(slots.size());
        count += slots.size();
    }
    return {count, count != 0 ? PushResult::ok : PushResult::full};
}
template <class T>
Several<PushResult> push_several(UnboundedSpsc<T>& queue, std::span<T> values) {
    std::size_t count = 0;
    try {
        for (; count < values.size(); ++count) (void)queue.try_push(std::move(values[count]));
    } catch (...) {
        if (count == 0) throw;  // else the part that was passed is the result
    }
    return {count, PushResult::ok};
}

template <class T>
Several<PopResult> pop_several(SpscRing<T>& ring, std::span<T> out) {
    std::size_t count = 0;
    while (count < out.size()) {
        const std::span<T> items = ring.peek(out.size() - count);
        if (items.empty()) break;
        std::move(items.begin(), items.end(), out.data() + count);
        ring.release(items.size());
        count += items.size();
    }
    if (count != 0) return {count, PopResult::ok};
    return {0, ring.was_drained() ? PopResult::closed : PopResult::empty};
}
template <class T>
Several<PopResult> pop_several(UnboundedSpsc<T>& queue, std::span<T> out) {
    std::size_t count = 0;
    PopResult result = PopResult::ok;
    while (count < out.size() && result == PopResult::ok) {
        result = queue.try_pop(out[count]);
        if (result == PopResult::ok) ++count;
    }
    return {count, count != 0 ? PopResult::ok : result};
}

template <class T, Bound bound>
using Lane = std::conditional_t<bound == Bound::bounded, SpscRing<T>, UnboundedSpsc<T>>;

template <class T, Bound bound>
std::unique_ptr<Lane<T, bound>> make_lane(std::size_t capacity) {
    if constexpr (bound == Bound::bounded) {
        return std::make_unique<SpscRing<T>>(capacity);
    } else {
        return std::make_unique<UnboundedSpsc<T>>(
            typename UnboundedSpsc<T>::Options{.segment_capacity = capacity});
    }
}

template <class T, Bound bound>
class Pair {
  public:
    struct Seat {};
    Pair(const QueueOptions& options, Bells&) : lane_(make_lane<T, bound>(options.capacity)) {}

    Seat seat_producer(std::size_t) { return {}; }
    Seat seat_consumer(std::size_t) { return {}; }
    PushResult try_push(Seat&, T&& value) { return lane_->try_push(std::move(value)); }
    Several<PushResult> try_push_several(Seat&, std::span<T> values) {
        return push_several(*lane_, values);
    }
    void leave_producer(Seat&, bool) { lane_->close(); }
    PopResult try_pop(Seat&, T& out) { return lane_->try_pop(out); }
    Several<PopResult> try_pop_several(Seat&, std::span<T> out) { return pop_several(*lane_, out); }
    void leave_consumer(Seat&) {}

  private:
    std::unique_ptr<Lane<T, bound>> lane_;
};

template <class T, bool many_producers, bool many_consumers>
class DirectRing {
  public:
    struct Seat {};
    DirectRing(const QueueOptions& options, Bells&) : ring_(options.capacity) {}

    Seat seat_producer(std::size_t) { return {}; }
    Seat seat_consumer(std::size_t) { return {}; }
    PushResult try_push(Seat&, T&& value) { return ring_.try_push(std::move(value)); }
    Several<PushResult> try_push_several(Seat&, std::span<T> values) {
        return ring_.try_push_several(values);
    }
    void leave_producer(Seat&, bool is_last) {
        if (is_last) ring_.close();
    }
    PopResult try_pop(Seat&, T& out) { return ring_.try_pop(out); }
    Several<PopResult> try_pop_several(Seat&, std::span<T> out) {
        return ring_.try_pop_several(out);
    }
    void leave_consumer(Seat&) {}

  private:
    TicketRing<T, many_producers, many_consumers> ring_;
};

template <class T, bool many_producers, bool many_consumers>
class DirectChain {
    using Chain = TicketChain<T, many_producers, many_consumers>;

  public:
    using Seat = typename Chain::Seat;
    DirectChain(const QueueOptions& options, Bells&)
        : chain_({.segment_capacity = options.capacity}) {}

    Seat seat_producer(std::size_t) { return chain_.seat_producer(); }
    Seat seat_consumer(std::size_t) { return chain_.seat_consumer(); }
    PushResult try_push(Seat& seat, T&& value) { return chain_.try_push(seat, std::move(value)); }
    Several<PushResult> try_push_several(Seat& seat, std::span<T> values) {
        return chain_.try_push_several(seat, values);
    }
    void leave_producer(Seat& seat, bool is_last) {
        chain_.leave(seat);
        if (is_last) chain_.close();
    }
    PopResult try_pop(Seat& seat, T& out) { return chain_.try_pop(seat, out); }
    Several<PopResult> try_pop_several(Seat& seat, std::span<T> out) {
        return chain_.try_pop_several(seat, out);
    }
    void leave_consumer(Seat& seat) { chain_.leave(seat); }

  private:
    Chain chain_;
};

template <class T, Bound bound>
class Mediated {
  public:
    struct Seat {
        std::size_t number = 0;
    };
    /// Starts the thread; throws std::system_error when there can be none.
    Mediated(const QueueOptions& options, Bells& bells)
        : bells_(&bells),
          waiting_(options.waiting),
          mediator_(make_lanes(options),
                    {.consumers = options.consumers,
                     .lane_out_capacity = options.waiting_for_consumer,
                     .run = std::max<std::size_t>(options.waiting_for_consumer / 2, 1)}),
          thread_([this] { mediate(); }) {}
    ~Mediated() {
        stop_.store(true, std::memory_order_relaxed);
        bells_->work.ring();
        thread_.join();
    }
    Mediated(const Mediated&) = delete;
    Mediated& operator=(const Mediated&) = delete;

    Seat seat_producer(std::size_t number) { return {number}; }
    Seat seat_consumer(std::size_t number) { return {number}; }
    PushResult try_push(Seat& seat, T&& value) {
        return mediator_.lane_in(seat.number).try_push(std::move(value));
    }
    Several<PushResult> try_push_several(Seat& seat, std::span<T> values) {
        return push_several(mediator_.lane_in(seat.number), values);
    }
    void leave_producer(Seat& seat, bool) { mediator_.lane_in(seat.number).close(); }
    PopResult try_pop(Seat& seat, T& out) { return mediator_.lane_out(seat.number).try_pop(out); }
    Several<PopResult> try_pop_several(Seat& seat, std::span<T> out) {
        return pop_several(mediator_.lane_out(seat.number), out);
    }
    void leave_consumer(Seat& seat) { mediator_.leave(seat.number); }

  private:
    static std::vector<std::unique_ptr<Lane<T, bound>>> make_lanes(const QueueOptions& options) {
        std::vector<std::unique_ptr<Lane<T, bound>>> lanes;
        for (std::size_t i = 0; i < options.producers; ++i) {
            lanes.push_back(make_lane<T, bound>(options.capacity));
        }
        return lanes;
    }

    void mediate() {
        auto result = StepResult::progressed;
        while (result != StepResult::ended) {
            wait_for(bells_->work, waiting_, [&] {
                if (stop_.load(std::memory_order_relaxed)) {
                    result = StepResult::ended;
                } else {
                    result = mediator_.step();
                }
                return result != StepResult::waits;
            });
            if (waiting_ == Waiting::spins) continue;
            bells_->filled.ring();
            bells_->room.ring();
        }
    }

    Bells* bells_;
    Waiting waiting_;
    Mediator<Lane<T, bound>> mediator_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

template <class T, Bound bound, Construction construction, bool many_producers, bool many_consumers>
using Transport = std::conditional_t<
    !many_producers && !many_consumers, Pair<T, bound>,
    std::conditional_t<
        construction == Construction::mediated, Mediated<T, bound>,
        std::conditional_t<bound == Bound::bounded, DirectRing<T, many_producers, many_consumers>,
                           DirectChain<T, many_producers, many_consumers>>>>;

}  // namespace strid::channel::detail
