// SPDX-License-Identifier: Apache-2.0
//
// The explorer's model of an atomic (tests/channel/interleaving.hpp), extended by what the lanes of
// memory need: read-modify-write operations, which always read the newest store and continue the
// release sequence of the store they replace, and sequentially consistent loads, which read the
// newest store, too. The latter is exact when all stores to a location are themselves sequentially
// consistent or read-modify-writes, or come from the loading thread, as they do here.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "../channel/interleaving.hpp"

namespace strid::test {

template <class T>
class ModelAtomicRmw {
  public:
    ModelAtomicRmw() : ModelAtomicRmw(T{}) {}
    explicit(false) ModelAtomicRmw(T value) : location_(Explorer::current->new_location()) {
        stores_.push_back({value, {}});
    }
    ModelAtomicRmw(const ModelAtomicRmw&) = delete;
    ModelAtomicRmw& operator=(const ModelAtomicRmw&) = delete;

    T load(std::memory_order order) const {
        Explorer& explorer = *Explorer::current;
        explorer.announce(location_, false);
        std::uint32_t& oldest = explorer.knowledge().oldest(location_);
        if (order == std::memory_order_seq_cst) {
            oldest = newest();
        } else {
            oldest = newest() - static_cast<std::uint32_t>(explorer.choose(newest() - oldest + 1));
        }
        return read(oldest, order);
    }

    void store(T value, std::memory_order order) {
        Explorer::current->announce(location_, true);
        write(value, order, {});
    }

    T exchange(T value, std::memory_order order) {
        Explorer::current->announce(location_, true);
        const T old = read(newest(), order);
        write(value, order, stores_[newest()].released);
        return old;
    }

    bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                                 std::memory_order failure) {
        Explorer::current->announce(location_, true);
        if (stores_[newest()].value != expected) {
            expected = read(newest(), failure);
            return false;
        }
        read(newest(), success);
        write(value, success, stores_[newest()].released);
        return true;
    }

  private:
    struct Store {
        T value;
        Knowledge released;  // nothing when relaxed
    };

    std::uint32_t newest() const { return static_cast<std::uint32_t>(stores_.size() - 1); }

    static bool acquires(std::memory_order order) {
        return order != std::memory_order_relaxed && order != std::memory_order_release;
    }
    static bool releases(std::memory_order order) {
        return order != std::memory_order_relaxed && order != std::memory_order_acquire;
    }

    T read(std::uint32_t index, std::memory_order order) const {
        Knowledge& knowledge = Explorer::current->knowledge();
        knowledge.oldest(location_) = index;
        if (acquires(order)) knowledge.join(stores_[index].released);
        return stores_[index].value;
    }

    void write(T value, std::memory_order order, Knowledge continued) {
        Explorer& explorer = *Explorer::current;
        Knowledge& knowledge = explorer.knowledge();
        knowledge.oldest(location_) = static_cast<std::uint32_t>(stores_.size());
        stores_.push_back({value, std::move(continued)});
        if (!releases(order)) return;
        stores_.back().released.join(knowledge);
        ++knowledge.clock[explorer.thread()];
    }

    std::size_t location_;
    std::vector<Store> stores_;
};

/// Every order relaxed: the mutant that a test of a test needs.
template <class T>
class RelaxedModelAtomicRmw : public ModelAtomicRmw<T> {
    static constexpr auto relaxed = std::memory_order_relaxed;

  public:
    using ModelAtomicRmw<T>::ModelAtomicRmw;
    T load(std::memory_order) const { return ModelAtomicRmw<T>::load(relaxed); }
    void store(T value, std::memory_order) { ModelAtomicRmw<T>::store(value, relaxed); }
    T exchange(T value, std::memory_order) { return ModelAtomicRmw<T>::exchange(value, relaxed); }
    bool compare_exchange_strong(T& expected, T value, std::memory_order, std::memory_order) {
        return ModelAtomicRmw<T>::compare_exchange_strong(expected, value, relaxed, relaxed);
    }
};

}  // namespace strid::test
