// SPDX-License-Identifier: Apache-2.0
//
// The ways of paper 1 (4.1, 4.2, 5.2) to hand a value to a group of threads. A carrier makes what
// travels through the rings, `Item`, and takes it apart again:
//
//     ByCopy              a copy for each reader, from the slab allocator
//     ByWrapper<Memory>   one message with a count of readers, from any memory of the library
//     BySharedPointer     std::make_shared
//     ByStaticSharedPointer   std::allocate_shared over an arena that has everything up front
//
// A carrier has `send(value, group, push)`, where `push(worker, item)` waits for room;
// `flush(push)` for the values it held back; `receive(item, worker, each)`; and `idle(worker)` for
// a worker that is about to wait. `to_all` declares that it supports only the group of all workers.
//
// Threads: send and flush on the emitter, the others on the worker that they name.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <strid/memory/pmr.hpp>
#include <strid/memory/shared_message.hpp>
#include <strid/memory/slab_allocator.hpp>
#include <strid/memory/static_arena.hpp>

namespace strid::apps::trading {

/// Workers `first`, `first + 1`, ... around the circle.
struct Group {
    std::size_t first;
    std::size_t size;
};

struct MulticastOptions {
    std::size_t workers = 1;
    /// Tuples that may wait for one worker.
    std::size_t in_flight = 2048;
    /// Tuples sent in all: what static memory is acquired for up front.
    std::size_t tuples_max = 1 << 20;
};

template <class F>
void for_each_worker(Group group, std::size_t workers, F&& f) {
    std::size_t worker = group.first;
    for (std::size_t i = 0; i != group.size; ++i) {
        f(worker);
        if (++worker == workers) worker = 0;
    }
}

/// A memory of the library as the farm uses it. `objects` of `bytes` are all that a static
/// one will ever be asked for; it grows beyond them rather than fail.
template <class Memory>
std::unique_ptr<Memory> make_memory(std::size_t lanes, std::size_t objects, std::size_t bytes) {
    if constexpr (std::same_as<Memory, memory::SlabAllocator>) {
        return std::make_unique<Memory>(memory::SlabAllocator::Options{.lanes = lanes});
    } else if constexpr (std::same_as<Memory, memory::StaticArena>) {
        return std::make_unique<Memory>(
            memory::StaticArena::Options{.capacity_bytes = objects * bytes,
                                         .growth_bytes = std::size_t{64} << 20,
                                         .prefault = true});
    } else {
        return std::make_unique<Memory>();
    }
}

template <class T>
class ByCopy {
  public:
    static_assert(std::is_trivially_destructible_v<T>);
    using Item = T*;
    static constexpr bool to_all = false;

    explicit ByCopy(const MulticastOptions& options)
        : workers_(options.workers), memory_({.lanes = options.workers}) {}

    static std::size_t slots(const MulticastOptions& options) { return options.in_flight; }

    template <class Push>
    void send(const T& value, Group group, Push&& push) {
        for_each_worker(group, workers_, [&](std::size_t worker) {
            push(worker, new (memory_.allocate(sizeof(T), alignof(T))) T(value));
        });
    }
    template <class Push>
    void flush(Push&&) {}

    template <class Each>
    void receive(Item item, std::size_t worker, Each&& each) {
        each(std::as_const(*item));
        memory_.deallocate(item, worker);
    }
    void idle(std::size_t) noexcept {}

  private:
    std::size_t workers_;
    memory::SlabAllocator memory_;
};

template <class T, class Memory>
class ByWrapper {
    using Message = memory::SharedMessage<T, Memory>;

  public:
    using Item = Message*;
    static constexpr bool to_all = false;

    explicit ByWrapper(const MulticastOptions& options)
        : workers_(options.workers),
          memory_(make_memory<Memory>(options.workers, options.tuples_max, sizeof(Message))) {}

    static std::size_t slots(const MulticastOptions& options) { return options.in_flight; }

    template <class Push>
    void send(const T& value, Group group, Push&& push) {
        Message* const message =
            Message::create(*memory_, static_cast<std::uint32_t>(group.size), value);
        for_each_worker(group, workers_, [&](std::size_t worker) { push(worker, message); });
    }
    template <class Push>
    void flush(Push&&) {}

    template <class Each>
    void receive(Item item, std::size_t worker, Each&& each) {
        each(std::as_const(*item).value());
        item->release(worker);
    }
    void idle(std::size_t) noexcept {}

  private:
    std::size_t workers_;
    std::unique_ptr<Memory> memory_;
};

/// By std::shared_ptr; a carrier that derives from it makes them.
template <class T>
class SharedPointers {
  public:
    using Item = std::shared_ptr<const T>;
    static constexpr bool to_all = false;

    static std::size_t slots(const MulticastOptions& options) { return options.in_flight; }

    template <class Push>
    void flush(Push&&) {}

    template <class Each>
    void receive(Item& item, std::size_t, Each&& each) {
        each(*item);
        item.reset();
    }
    void idle(std::size_t) noexcept {}

  protected:
    explicit SharedPointers(const MulticastOptions& options) : workers_(options.workers) {}

    template <class Push>
    void send_to(Group group, const Item& item, Push&& push) {
        for_each_worker(group, workers_, [&](std::size_t worker) { push(worker, item); });
    }

  private:
    std::size_t workers_;
};

template <class T>
class BySharedPointer : public SharedPointers<T> {
  public:
    explicit BySharedPointer(const MulticastOptions& options) : SharedPointers<T>(options) {}

    template <class Push>
    void send(const T& value, Group group, Push&& push) {
        this->send_to(group, std::make_shared<const T>(value), push);
    }
};

template <class T>
class ByStaticSharedPointer : public SharedPointers<T> {
    /// The bytes of the standard library's control block beside the value, at most.
    static constexpr std::size_t control_bytes = 32;

  public:
    explicit ByStaticSharedPointer(const MulticastOptions& options)
        : SharedPointers<T>(options),
          memory_(make_memory<memory::StaticArena>(options.workers, options.tuples_max,
                                                   sizeof(T) + control_bytes)) {}

    template <class Push>
    void send(const T& value, Group group, Push&& push) {
        this->send_to(group,
                      std::allocate_shared<const T>(memory::ArenaStlAllocator<T>(*memory_), value),
                      push);
    }

  private:
    std::unique_ptr<memory::StaticArena> memory_;
};

}  // namespace strid::apps::trading
