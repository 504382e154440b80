// SPDX-License-Identifier: Apache-2.0
//
// A hostile environment for tests: batches of a few records, rings of two, random refusals. Used by
// the simulation and by perturbed builds; costs one predictable branch per block when it is off.
// Each port owns one, so a seeded run replays exactly. Not thread-safe.
#pragma once

#include <cstdint>

namespace strid::operators {

class Perturbation {
  public:
    Perturbation() = default;
    /// Seed 0 is off.
    explicit Perturbation(std::uint64_t seed) noexcept : state_(seed) {}

    [[nodiscard]] bool active() const noexcept { return state_ != 0; }
    /// True once in four while it is on.
    [[nodiscard]] bool refuses() noexcept { return active() && next() % 4 == 0; }
    /// How many records the next batch may carry, at most `capacity`.
    [[nodiscard]] std::size_t batch_records(std::size_t capacity) noexcept {
        if (!active()) return capacity;
        const std::size_t wanted = next() % 2 == 0 ? 1 : 1 + next() % 7;
        return wanted < capacity ? wanted : capacity;
    }

  private:
    std::uint64_t next() noexcept {  // splitmix64 (Steele, Lea, Flood: public domain)
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

    std::uint64_t state_ = 0;
};

}  // namespace strid::operators
