// SPDX-License-Identifier: Apache-2.0
//
// The cars of a road by number: open addressing in one array of 32-byte slots, so that a car is one
// cache line, and the line can be asked for before the car is looked up. This is why it is not
// boost::unordered_flat_map, which has no such call: with the cars of many roads each look-up
// waits for memory otherwise.
//
// Invariant: at least a quarter of the slots is free, and none of these lies between that which a
// number hashes to and that which has it. Cars leave by rebuild() only. One thread at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <strid/state/codec.hpp>

namespace strid::apps::linear_road {

template <class Car>
class CarTable {
  public:
    struct alignas(32) Slot {
        std::int32_t number = free;  // of the car
        Car car;
    };
    struct Found {
        Car& car;
        bool is_new;
    };

    CarTable() { clear(min_slots); }

    /// O(1). The table must not be full.
    [[nodiscard]] Found find_or_make(std::int32_t number) noexcept {
        for (std::size_t i = home_of(number);; i = (i + 1) & mask_) {
            Slot& slot = slots_[i];
            if (slot.number == number) [[likely]]
                return {slot.car, false};
            if (slot.number != free) continue;
            slot.number = number;
            ++size_;
            return {slot.car, true};
        }
    }
    /// A car that is there.
    [[nodiscard]] const Car& at(std::int32_t number) const noexcept {
        std::size_t i = home_of(number);
        while (slots_[i].number != number) i = (i + 1) & mask_;
        return slots_[i].car;
    }
    void prefetch(std::int32_t number) const noexcept {
        __builtin_prefetch(&slots_[home_of(number)], 1);
    }

    [[nodiscard]] bool is_full() const noexcept { return size_ >= slots_.size() / 4 * 3; }
    /// Drops the cars for which `keep(car)` is false; afterwards at most half of the slots is
    /// taken. O(slots).
    template <class Keep>
    void rebuild(Keep keep) {
        std::size_t kept = 0;
        for (const Slot& slot : slots_) kept += slot.number != free && keep(slot.car) ? 1U : 0U;
        const std::vector<Slot> old = std::move(slots_);
        clear(std::bit_ceil(kept * 2 + min_slots));
        for (const Slot& slot : old) {
            if (slot.number != free && keep(slot.car)) find_or_make(slot.number).car = slot.car;
        }
    }

    /// The cars, and not their places: as strid/state/codec.hpp says.
    void save(StateWriter& writer) const {
        writer.length(size_);
        for (const Slot& slot : slots_) {
            if (slot.number == free) continue;
            state::save(writer, slot.number);
            state::save(writer, slot.car);
        }
    }
    void load(StateReader& reader) {
        std::size_t left = reader.length(sizeof(std::int32_t));
        clear(std::bit_ceil(left * 2 + min_slots));
        for (; left != 0; --left) {
            const auto number = state::loaded<std::int32_t>(reader);
            if (number < 0) reader.refuse("is no car");
            const auto [car, is_new] = find_or_make(number);
            if (!is_new) reader.refuse("is a car that comes twice");
            state::load(reader, car);
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return slots_.size() * sizeof(Slot); }

  private:
    static constexpr std::int32_t free = -1;
    static constexpr std::size_t min_slots = 64;

    void clear(std::size_t slots) {
        slots_.assign(slots, {});
        mask_ = slots - 1;
        shift_ = 64 - std::countr_zero(slots);
        size_ = 0;
    }
    /// The product's high bits: numbers in any arithmetic progression spread (Fibonacci hashing).
    [[nodiscard]] std::size_t home_of(std::int32_t number) const noexcept {
        constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
        return static_cast<std::uint64_t>(number) * golden >> shift_;
    }

    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    int shift_ = 0;
    std::size_t size_ = 0;
};

}  // namespace strid::apps::linear_road
