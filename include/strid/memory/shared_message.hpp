// SPDX-License-Identifier: Apache-2.0
//
// The wrapper of paper 1 (4.1 and 5.1): a value that one thread multicasts to several readers. One
// allocation holds the value, an atomic count that starts at the size of the group, and the
// allocator that the memory came from. The queues carry a single word, its address. Each reader
// releases it once; the last one destroys the value and gives the memory back over its own lane.
//
// Invariant: readers() is the number of readers that still have to release, 1 to readers_max. The
// value lives until it is 0; then the message is gone.
//
// Threads: created by the memory's allocating thread; each reader on its own thread. Readers only
// read, unless the group has one member.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <strid/engine/base/assert.hpp>

namespace strid::memory {

/// The memory of messages: SlabAllocator, StaticArena, StandardMemory. One thread allocates, the
/// thread of each lane gives back, and the allocating thread may call deallocate_local().
template <class Memory>
concept MessageMemory = requires(Memory& memory, void* piece, std::size_t number) {
    { memory.allocate(number, number) } -> std::same_as<void*>;
    { memory.deallocate(piece, number) } noexcept;
    { memory.deallocate_local(piece) } noexcept;
    { Memory::alignment_max } -> std::convertible_to<std::size_t>;
};

/// The standard allocator (`operator new`) in the form of the others; the lane does not matter.
struct StandardMemory {
    /// Of what allocate() returns.
    static constexpr std::size_t alignment_max = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    /// As `operator new`. Throws std::bad_alloc.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t = alignment_max) {
        return ::operator new(bytes);
    }
    /// Any thread.
    void deallocate(void* memory, std::size_t) noexcept { ::operator delete(memory); }
    /// The same.
    void deallocate_local(void* memory) noexcept { ::operator delete(memory); }
};

/// A value that several readers share. Made by create(); the last release() destroys it.
template <class T, MessageMemory Memory>
class SharedMessage {
    static_assert(alignof(T) <= Memory::alignment_max);
    static_assert(std::is_nothrow_destructible_v<T>);

  public:
    /// The most readers of a message.
    static constexpr std::uint32_t readers_max = std::uint32_t{1} << 30;

    /// The allocating thread. A message for `readers` >= 1 readers. Throws what the memory or the
    /// constructor of T throws.
    template <class... Arguments>
    [[nodiscard]] static SharedMessage* create(Memory& memory, std::uint32_t readers,
                                               Arguments&&... arguments) {
        STRID_ASSERT(readers >= 1 && readers <= readers_max);
        void* const place = memory.allocate(sizeof(SharedMessage), alignof(SharedMessage));
        try {
            return new (place)
                SharedMessage(memory, readers, std::forward<Arguments>(arguments)...);
        } catch (...) {
            memory.deallocate_local(place);
            throw;
        }
    }

    /// For reading, by any reader.
    [[nodiscard]] const T& value() const noexcept { return value_; }
    /// To move from, by the reader of a group of one.
    [[nodiscard]] T& value() noexcept { return value_; }
    /// How many have not released it; exact at some recent moment.
    [[nodiscard]] std::uint32_t readers() const noexcept {
        return readers_.load(std::memory_order_relaxed);
    }

    /// For the creator, and for readers that have not released yet. Checks the invariant above: a
    /// release too many makes the count larger than the largest one.
    [[nodiscard]] bool is_valid() const noexcept {
        const std::uint32_t count = readers();
        return memory_ != nullptr && count >= 1 && count <= readers_max;
    }

    /// Each reader, once. The last one destroys the message and gives its memory back over `lane`;
    /// returns true for that one.
    bool release(std::size_t lane) noexcept {
        STRID_ASSERT(is_valid());
        // A count of 1 cannot change any more, so the last reader (the only one of a unicast) needs
        // no atomic subtraction. Acquire pairs with the release half of the others' fetch_sub.
        if (readers_.load(std::memory_order_acquire) != 1) {
            // Pairs with itself and with the load above: all reads come before destruction.
            if (readers_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
        }
        Memory& memory = *memory_;
        this->~SharedMessage();
        memory.deallocate(this, lane);
        return true;
    }

  private:
    template <class... Arguments>
    explicit SharedMessage(Memory& memory, std::uint32_t readers, Arguments&&... arguments)
        : memory_(&memory), readers_(readers), value_(std::forward<Arguments>(arguments)...) {}
    ~SharedMessage() = default;

    Memory* memory_;
    std::atomic<std::uint32_t> readers_;
    T value_;
};

/// A reader's share of a message, released when it goes out of scope. Made from the address that
/// the queue carried.
template <class T, MessageMemory Memory>
class MessageReader {
  public:
    /// Takes over one share of `message`, freed by `lane`.
    MessageReader(SharedMessage<T, Memory>* message, std::size_t lane) noexcept
        : message_(message), lane_(lane) {}
    /// Takes over the share of `other`.
    MessageReader(MessageReader&& other) noexcept
        : message_(std::exchange(other.message_, nullptr)), lane_(other.lane_) {}
    MessageReader& operator=(MessageReader other) noexcept {
        std::swap(message_, other.message_);
        std::swap(lane_, other.lane_);
        return *this;
    }
    ~MessageReader() {
        if (message_ != nullptr) message_->release(lane_);
    }

    /// The value.
    const T& operator*() const noexcept { return std::as_const(*message_).value(); }
    /// The value.
    const T* operator->() const noexcept { return &**this; }
    /// The share without its handle: the caller releases it, or passes it on.
    [[nodiscard]] SharedMessage<T, Memory>* detach() noexcept {
        return std::exchange(message_, nullptr);
    }

  private:
    SharedMessage<T, Memory>* message_;
    std::size_t lane_;
};

}  // namespace strid::memory
