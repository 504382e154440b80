// SPDX-License-Identifier: Apache-2.0
//
// The options of the queues between threads (queue.hpp). Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strid::channel {

/// How much a queue holds.
enum class Bound : std::uint8_t {
    bounded,   ///< `QueueOptions::capacity` items; a push waits for room, or is refused
    unbounded  ///< as many as there is memory for
};

/// How several producers or consumers share a queue.
enum class Construction : std::uint8_t {
    /// They take tickets of one ring, by one read-modify-write for an item or a batch.
    direct,
    /// Each has a ring of its own to or from a thread of the queue, which passes items on: the
    /// construction of paper 4, section 1.1. No read-modify-write, but a core for that thread.
    mediated
};

/// How a thread waits in `push` or `pop`.
enum class Waiting : std::uint8_t {
    /// It looks again for some microseconds and then sleeps until it is woken. Every push and pop,
    /// or batch of them, pays one more read-modify-write to see whether a thread sleeps.
    parks,
    /// It looks again and again, and lets other threads run meanwhile. The fastest where each
    /// thread has a core, or where only `try_push` and `try_pop` are used.
    spins
};

/// The layout of a queue.
struct QueueOptions {
    /// Items. The next power of two; mediated, of the ring of each producer. Unbounded, of a piece
    /// of the queue's memory, of which some are kept for use again.
    std::size_t capacity = 1024;
    std::size_t producers = 1;         ///< handles that `producer()` gives out
    std::size_t consumers = 1;         ///< handles that `consumer()` gives out
    Waiting waiting = Waiting::parks;  ///< of the threads in `push` and `pop`
    /// Mediated: items that wait for one consumer. Few where items take long: a consumer that is
    /// busy then leaves the rest to the others (paper 4, section 1.2.1.3, on demand).
    std::size_t waiting_for_consumer = 64;
};

}  // namespace strid::channel
