// SPDX-License-Identifier: Apache-2.0
//
// Loading a table that was saved in slices (keyed_slices.hpp): which of its keys have their states
// behind all others, because these were saved early.
//
// Threads: only the task of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <strid/state/bytes.hpp>

namespace strid::operators {

class EarlyStates {
  public:
    /// Reads the places of their keys, which rise; none unless `are_apart`.
    EarlyStates(StateReader& reader, bool are_apart);
    EarlyStates(const EarlyStates&) = delete;
    EarlyStates& operator=(const EarlyStates&) = delete;
    ~EarlyStates();

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// Whether the key of this place is one of them. For each place, in order.
    [[nodiscard]] bool is_next(std::uint64_t place);
    /// There are places that no key had.
    [[nodiscard]] bool has_next() const noexcept { return has_next_; }

    /// The key is loaded, its state is not.
    void await(const void* entry);
    /// Its state is there. False where it was not awaited.
    [[nodiscard]] bool arrives(const void* entry);

  private:
    struct Awaited;

    void next();

    std::size_t count_;
    std::size_t left_;  // places
    StateReader places_;
    bool has_next_ = false;
    std::uint64_t next_ = 0;
    std::unique_ptr<Awaited> awaited_;
};

}  // namespace strid::operators
