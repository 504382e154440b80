// SPDX-License-Identifier: Apache-2.0
//
// Queues between threads, for programs that have threads of their own: one or several producers,
// one or several consumers, bounded or not (paper 4, section 1.1, "one-to-many (SPMC), many-to-one
// (MPSC), and many-to-many (MPMC)"). Graphs and patterns need none of them.
//
// Each producer and each consumer has a handle, which one thread uses at a time. A queue has ended
// when all its producers have closed and all items were taken. A queue destroys the items
// that are left in it.
//
// Order: each consumer gets the items of one producer in the order of their pushes; of the direct
// construction all items leave in one order. An item whose push has returned is lost or doubled by
// no interleaving (tests/channel has them all, for small rings). `empty` may be the answer while a
// push that began earlier still writes its item, although a later one has returned.
//
// Owner: the program. The queue outlives its handles. Design: docs/design/0025-queues.md.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/channel/queue_options.hpp>
#include <strid/channel/result.hpp>
#include <strid/engine/base/cache_line.hpp>
#include <strid/engine/channel/transports.hpp>

namespace strid::channel {

/// How many threads may be on one side of a queue at once.
enum class Side : std::uint8_t {
    one,  ///< one handle
    many  ///< as many handles as the options say
};

/// A queue of `T`. Programs name it by its short names: `SpscQueue`, `SpmcQueue`, `MpscQueue`,
/// `MpmcQueue`. A `T` has a default, and moves without an exception; it need not be copied.
///
/// Memory: bounded, the slots, built at once. Unbounded, pieces of `capacity` slots: those with
/// items, one for each handle, and 8 that are kept for use again; all others are freed.
template <class T, Side producers, Side consumers, Bound bound, Construction construction>
class Queue {
    static_assert(std::default_initializable<T>,
                  "an item of a queue must have a default: its slot is built before it comes");
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "an item of a queue must be moved without an exception, because half a move "
                  "cannot be handed over: declare its move assignment noexcept");
    static_assert(std::is_nothrow_destructible_v<T>,
                  "an item of a queue must be destroyed without an exception");
    static constexpr bool is_pair = producers == Side::one && consumers == Side::one;
    static_assert(!is_pair || construction == Construction::direct,
                  "between one producer and one consumer there is nothing to mediate");
    using Transport =
        detail::Transport<T, bound, construction, producers == Side::many, consumers == Side::many>;

  public:
    /// The type of the items.
    using value_type = T;

    /// The handle of a producer: for one thread at a time. Its end closes it.
    class Producer {
      public:
        /// Appends the value, or says why not; never waits. Constant time; a few nanoseconds.
        /// Moves from the value only when the result is `ok`. Unbounded: never `full`, and throws
        /// std::bad_alloc, with queue and value unchanged, when there is no memory.
        PushResult try_push(T&& value) {
            if (is_closed()) return PushResult::closed;
            const PushResult result = queue_->transport_.try_push(seat_, std::move(value));
            if (result == PushResult::ok) queue_->pushed();
            return result;
        }
        /// The same with a copy.
        PushResult try_push(const T& value)
            requires std::copy_constructible<T>
        {
            T copy(value);
            return try_push(std::move(copy));
        }
        /// Appends the value and waits for room. `ok` or `closed`.
        PushResult push(T&& value) {
            auto result = PushResult::full;
            detail::wait_for(queue_->bells_.room, queue_->options_.waiting, [&] {
                result = try_push(std::move(value));
                return result != PushResult::full;
            });
            return result;
        }
        /// The same with a copy.
        PushResult push(const T& value)
            requires std::copy_constructible<T>
        {
            T copy(value);
            return push(std::move(copy));
        }

        /// Moves the first of the values into the queue, as many as there is room for; never waits.
        /// In their order; of a queue with many producers in one piece. O(values). Unbounded: may
        /// pass a part of them only, though there is no bound, and throws std::bad_alloc where
        /// there is no memory for the first.
        Several<PushResult> try_push_batch(std::span<T> values) {
            if (is_closed()) return {0, PushResult::closed};
            if (values.empty()) return {0, PushResult::ok};
            const auto pushed = queue_->transport_.try_push_several(seat_, values);
            if (pushed.count != 0) queue_->pushed();
            return pushed;
        }
        /// Moves all values into the queue, in pieces, and waits for room between them. `ok`, or
        /// `closed` with the number that was passed before. Unbounded: throws std::bad_alloc where
        /// there is no memory for the next; with try_push_batch() a program knows how many were
        /// passed before.
        Several<PushResult> push_batch(std::span<T> values) {
            std::size_t count = 0;
            auto result = PushResult::ok;
            while (count < values.size() && result != PushResult::closed) {
                detail::wait_for(queue_->bells_.room, queue_->options_.waiting, [&] {
                    const auto pushed = try_push_batch(values.subspan(count));
                    count += pushed.count;
                    result = pushed.result;
                    return result != PushResult::full;
                });
            }
            return {count, result};
        }

        /// This producer pushes no more. The queue ends when all its producers have closed.
        /// Idempotent.
        void close() noexcept {
            if (queue_ != nullptr && !std::exchange(closed_, true)) queue_->leave_producer(seat_);
        }

        /// The other handle is empty then; only its destructor and an assignment may follow.
        Producer(Producer&& other) noexcept
            : queue_(std::exchange(other.queue_, nullptr)),
              seat_(other.seat_),
              closed_(other.closed_) {}
        /// Closes what it was before.
        Producer& operator=(Producer&& other) noexcept {
            if (this == &other) return *this;
            close();
            queue_ = std::exchange(other.queue_, nullptr);
            seat_ = other.seat_;
            closed_ = other.closed_;
            return *this;
        }
        ~Producer() { close(); }

      private:
        friend Queue;
        Producer(Queue& queue, std::size_t number)
            : queue_(&queue), seat_(queue.transport_.seat_producer(number)) {}

        // relaxed: a hint, which comes true.
        [[nodiscard]] bool is_closed() const noexcept {
            return closed_ || queue_->abandoned_.load(std::memory_order_relaxed);
        }

        Queue* queue_;
        typename Transport::Seat seat_;
        bool closed_ = false;
    };

    /// The handle of a consumer: for one thread at a time. Its end leaves the queue: items that
    /// wait for it go to the other consumers, and without any consumer pushes are refused.
    class Consumer {
      public:
        /// Takes the oldest item into `out`, or says why not; never waits. Constant time; a few
        /// nanoseconds. `closed` once the queue has ended.
        PopResult try_pop(T& out) {
            const PopResult result = queue_->transport_.try_pop(seat_, out);
            if (result == PopResult::ok) queue_->popped();
            return result;
        }
        /// Waits for an item and takes it. `ok`, or `closed` once the queue has ended.
        PopResult pop(T& out) {
            auto result = PopResult::empty;
            detail::wait_for(queue_->bells_.filled, queue_->options_.waiting, [&] {
                result = try_pop(out);
                return result != PopResult::empty;
            });
            return result;
        }

        /// Takes as many of the oldest items as there are and `out` has room for; never waits.
        /// O(items).
        Several<PopResult> try_pop_batch(std::span<T> out) {
            if (out.empty()) return {0, PopResult::ok};
            const auto taken = queue_->transport_.try_pop_several(seat_, out);
            if (taken.count != 0) queue_->popped();
            return taken;
        }
        /// Waits for an item and takes as many as there are then. `ok` with at least one (none for
        /// an empty `out`), or `closed` once the queue has ended.
        Several<PopResult> pop_batch(std::span<T> out) {
            Several<PopResult> taken{0, PopResult::empty};
            detail::wait_for(queue_->bells_.filled, queue_->options_.waiting, [&] {
                taken = try_pop_batch(out);
                return taken.result != PopResult::empty;
            });
            return taken;
        }

        /// The other handle is empty then; only its destructor and an assignment may follow.
        Consumer(Consumer&& other) noexcept
            : queue_(std::exchange(other.queue_, nullptr)), seat_(other.seat_) {}
        /// Leaves what it was before.
        Consumer& operator=(Consumer&& other) noexcept {
            if (this == &other) return *this;
            leave();
            queue_ = std::exchange(other.queue_, nullptr);
            seat_ = other.seat_;
            return *this;
        }
        ~Consumer() { leave(); }

      private:
        friend Queue;
        Consumer(Queue& queue, std::size_t number)
            : queue_(&queue), seat_(queue.transport_.seat_consumer(number)) {}
        void leave() noexcept {
            if (queue_ != nullptr) std::exchange(queue_, nullptr)->leave_consumer(seat_);
        }

        Queue* queue_;
        typename Transport::Seat seat_;
    };

    /// Throws Error when the options make no sense, std::bad_alloc, and, mediated,
    /// std::system_error when there can be no thread. O(capacity).
    explicit Queue(QueueOptions options = {})
        : options_(checked(options)), transport_(options_, bells_) {}
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    /// The next handle of a producer. Any thread. Throws Error when all are given out.
    [[nodiscard]] Producer producer() {
        return Producer(*this, next(producers_given_, options_.producers, "producers"));
    }
    /// The next handle of a consumer. Any thread. Throws Error when all are given out.
    [[nodiscard]] Consumer consumer() {
        return Consumer(*this, next(consumers_given_, options_.consumers, "consumers"));
    }
    /// As they were given.
    [[nodiscard]] const QueueOptions& options() const noexcept { return options_; }

  private:
    static constexpr bool is_mediated = !is_pair && construction == Construction::mediated;

    static QueueOptions checked(QueueOptions options) {
        const auto check = [](Side side, std::size_t count, const char* name) {
            if (count == 0) throw Error(std::string("QueueOptions::") + name + " is 0");
            if (side == Side::one && count != 1) {
                throw Error("QueueOptions::" + std::string(name) + " is " + std::to_string(count) +
                            ", and this kind of queue has one");
            }
        };
        check(producers, options.producers, "producers");
        check(consumers, options.consumers, "consumers");
        if (options.capacity == 0) throw Error("QueueOptions::capacity is 0");
        if (options.waiting_for_consumer == 0) {
            throw Error("QueueOptions::waiting_for_consumer is 0");
        }
        return options;
    }

    // relaxed: numbers only have to differ.
    static std::size_t next(std::atomic<std::size_t>& given, std::size_t count, const char* name) {
        std::size_t number = given.load(std::memory_order_relaxed);
        do {
            if (number == count) {
                throw Error("all " + std::to_string(count) + " " + name +
                            " of the queue are given out (QueueOptions::" + name + ")");
            }
        } while (!given.compare_exchange_weak(number, number + 1, std::memory_order_relaxed));
        return number;
    }

    void pushed() noexcept {
        if (options_.waiting == Waiting::spins) return;
        (is_mediated ? bells_.work : bells_.filled).ring();
    }
    void popped() noexcept {
        if (options_.waiting == Waiting::spins) return;
        if constexpr (is_mediated) {
            bells_.work.ring();
        } else if constexpr (bound == Bound::bounded) {
            bells_.room.ring();
        }
    }
    void leave_producer(typename Transport::Seat& seat) noexcept {
        // acq_rel: pairs with itself; the last one to close knows the pushes of the others.
        const bool is_last = open_producers_.fetch_sub(1, std::memory_order_acq_rel) == 1;
        transport_.leave_producer(seat, is_last);
        pushed();
    }
    void leave_consumer(typename Transport::Seat& seat) noexcept {
        transport_.leave_consumer(seat);
        if (open_consumers_.fetch_sub(1, std::memory_order_relaxed) == 1) {
            abandoned_.store(true, std::memory_order_relaxed);
        }
        if (options_.waiting == Waiting::spins) return;
        if constexpr (is_mediated) bells_.work.ring();
        bells_.room.ring();
    }

    QueueOptions options_;
    std::atomic<bool> abandoned_{false};
    detail::Bells bells_;
    std::atomic<std::size_t> producers_given_{0};
    std::atomic<std::size_t> consumers_given_{0};
    std::atomic<std::size_t> open_producers_{options_.producers};
    std::atomic<std::size_t> open_consumers_{options_.consumers};
    alignas(cache_line_bytes) Transport transport_;
};

/// One producer, one consumer: the engine's ring, with handles and waiting.
template <class T, Bound bound = Bound::bounded>
using SpscQueue = Queue<T, Side::one, Side::one, bound, Construction::direct>;

/// One producer; each item goes to one of several consumers.
template <class T, Bound bound = Bound::bounded, Construction construction = Construction::direct>
using SpmcQueue = Queue<T, Side::one, Side::many, bound, construction>;

/// Several producers, one consumer.
template <class T, Bound bound = Bound::bounded, Construction construction = Construction::direct>
using MpscQueue = Queue<T, Side::many, Side::one, bound, construction>;

/// Several producers; each item goes to one of several consumers.
template <class T, Bound bound = Bound::bounded, Construction construction = Construction::direct>
using MpmcQueue = Queue<T, Side::many, Side::many, bound, construction>;

}  // namespace strid::channel
