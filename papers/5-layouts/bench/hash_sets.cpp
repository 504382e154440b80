// SPDX-License-Identifier: Apache-2.0
//
// Paper 5, "Cache memories: data locality" and "Optimized Hash Map": random lookups in sets of
// integers that fit the nearest cache, lie around the last one, and are far larger. Half of the
// values that are looked for are there.
#include <functional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>
#include <boost/unordered_set.hpp>
#ifdef STRID_BENCH_ABSL
#include <absl/container/flat_hash_set.h>
#endif
#ifdef STRID_BENCH_SPARSEHASH
#include <google/dense_hash_set>
#endif

#include <strid/base/hash.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/operator/keyed_state.hpp>

#include "paper_sets.hpp"
#include "tables.hpp"

namespace strid::bench {

namespace {

/// A bijection of 32 bits (the finaliser of MurmurHash3, public domain), so that values differ;
/// never 0 for a number other than 0.
std::uint32_t value_of(std::uint32_t number) {
    number = (number ^ number >> 16) * 0x85ebca6b;
    number = (number ^ number >> 13) * 0xc2b2ae35;
    return number ^ number >> 16;
}
/// The numbers from 1 on are in the set.
std::uint32_t member(std::size_t i) {
    return value_of(static_cast<std::uint32_t>(i + 1));
}

struct Lookups {
    std::vector<std::uint32_t> values;
    std::uint64_t found = 0;
};
Lookups lookups_in(std::size_t members, std::size_t count) {
    Lookups lookups;
    lookups.values.reserve(count);
    for (std::size_t i = 0; i != count; ++i) {
        const std::size_t one = mixed_below(i, 2 * members);
        lookups.values.push_back(member(one));
        lookups.found += static_cast<std::uint64_t>(one < members);
    }
    return lookups;
}

template <class Set>
[[gnu::noinline]] std::uint64_t count_found(const Set& set, const Lookups& lookups) {
    std::uint64_t found = 0;
    for (const std::uint32_t value : lookups.values) {
        found += static_cast<std::uint64_t>(set.contains(value));
    }
    return found;
}

/// The index that keeps the state of keys in a stream, with no state.
class Keyed {
  public:
    struct Nothing {};
    explicit Keyed(std::size_t /*values*/) {}
    void insert(std::uint32_t value) {
        keys_.find_or_make(value, hash_of(value), [] { return Nothing{}; });
    }
    [[nodiscard]] bool contains(std::uint32_t value) const {
        return keys_.find(value, hash_of(value)) != nullptr;
    }
    /// As operators look up the records of a batch: a few at once are brought near first.
    [[gnu::noinline]] std::uint64_t count_in_batches(const Lookups& lookups) {
        using Arrived = message::Hashed<std::uint32_t>;
        std::vector<Arrived> batch;
        std::span<const std::uint32_t> rest = lookups.values;
        std::uint64_t found = 0;
        while (!rest.empty()) {
            batch.clear();
            for (const std::uint32_t value : rest.first(std::min<std::size_t>(1024, rest.size()))) {
                batch.push_back({value, hash_of(value)});
            }
            rest = rest.subspan(batch.size());
            for (std::span<const Arrived> arrived = batch; !arrived.empty();) {
                const std::size_t near = keys_.look_ahead(arrived);
                for (const Arrived& one : arrived.first(near)) {
                    found +=
                        static_cast<std::uint64_t>(keys_.find(one.record, one.hash) != nullptr);
                }
                arrived = arrived.subspan(near);
            }
        }
        return found;
    }

  private:
    KeyedState<std::uint32_t, Nothing> keys_;
};

#ifdef STRID_BENCH_SPARSEHASH
/// Google's dense_hash_set, which requires a value for empty places and has no `contains`.
class Dense {
  public:
    explicit Dense(std::size_t values) : set_(values) { set_.set_empty_key(value_of(0)); }
    void insert(std::uint32_t value) { set_.insert(value); }
    [[nodiscard]] bool contains(std::uint32_t value) const { return set_.count(value) != 0; }

  private:
    google::dense_hash_set<std::uint32_t> set_;
};
#endif

struct Size {
    std::string name;
    std::size_t members;
    std::size_t lookups;
};

template <class Set>
void one_set(const TableOptions& options, const char* row, const Size& size,
             const Lookups& lookups) {
    Set set(size.members);
    for (std::size_t i = 0; i != size.members; ++i) set.insert(member(i));
    measure(options, {"hash_sets", row, size.name, size.lookups, size.members * 4}, lookups.found,
            [&] { return count_found(set, lookups); });
    if constexpr (std::is_same_v<Set, Keyed>) {
        measure(options,
                {"hash_sets", "Strid keyed state, in batches", size.name, size.lookups,
                 size.members * 4},
                lookups.found, [&] { return set.count_in_batches(lookups); });
    }
}

void all_sets(const TableOptions& options, const Size& size) {
    const Lookups lookups = lookups_in(size.members, size.lookups);
    one_set<std::unordered_set<std::uint32_t>>(options, "std::unordered_set", size, lookups);
    one_set<SimpleSet>(options, "Simple hash map", size, lookups);
    one_set<OptimizedSet>(options, "Optimized hash map", size, lookups);
    one_set<boost::unordered_set<std::uint32_t>>(options, "boost::unordered_set", size, lookups);
    one_set<boost::unordered_flat_set<std::uint32_t>>(options, "boost::unordered_flat_set", size,
                                                      lookups);
#ifdef STRID_BENCH_ABSL
    one_set<absl::flat_hash_set<std::uint32_t>>(options, "absl::flat_hash_set", size, lookups);
#endif
#ifdef STRID_BENCH_SPARSEHASH
    one_set<Dense>(options, "google::dense_hash_set", size, lookups);
#endif
    one_set<Keyed>(options, "Strid keyed state", size, lookups);
}

}  // namespace

void hash_sets(const TableOptions& options) {
    const std::size_t searches = options.quick ? 20'000 : 16 << 20;
    // The paper's large set has 64 M values. A set of pointers takes some 64 bytes for each.
    const std::size_t large = options.quick
                                  ? 100'000
                                  : std::min({options.elements(0, 8), std::size_t{64} << 20,
                                              options.machine.memory_bytes / 4 / 64});
    all_sets(options, {"small", 32, searches});
    all_sets(options, {"medium", options.quick ? 10'000 : std::size_t{1} << 20, searches});
    all_sets(options, {"large", large, searches});
}

}  // namespace strid::bench
