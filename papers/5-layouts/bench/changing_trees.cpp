// SPDX-License-Identifier: Apache-2.0
//
// Paper 5, "Binary Tree Modification" and "prefer n-ary tree implementation to binary tree":
// ordered sets that change. Keys come in random order, are searched, and half of them are erased;
// sets of the library are laid out anew as well. Half of the keys that are searched are there.
#include <algorithm>
#include <set>
#include <span>
#include <vector>

#ifdef STRID_BENCH_ABSL_BTREE
#include <absl/container/btree_set.h>
#endif

#include <strid/search/ordered_set.hpp>

#include "tables.hpp"

namespace strid::bench {

namespace {

using ChangingKeys = std::vector<std::uint64_t>;

/// Numbers of which the first half are keys: mixed() is a bijection.
struct ChangingWork {
    std::size_t count;
    ChangingKeys searched;
    std::uint64_t found = 0;

    explicit ChangingWork(std::size_t keys, std::size_t searches) : count(keys) {
        for (std::size_t i = 0; i != searches; ++i) {
            const std::uint64_t one = mixed_below(i + 7, 2 * keys);
            searched.push_back(mixed(one));
            found += static_cast<std::uint64_t>(one < keys);
        }
    }
};

/// A vector that is kept in order: each insertion moves what is behind it.
class SortedVector {
  public:
    void insert(std::uint64_t key) {
        keys_.insert(std::lower_bound(keys_.begin(), keys_.end(), key), key);
    }
    void erase(std::uint64_t key) {
        keys_.erase(std::lower_bound(keys_.begin(), keys_.end(), key));
    }
    [[nodiscard]] bool contains(std::uint64_t key) const {
        return std::binary_search(keys_.begin(), keys_.end(), key);
    }
    [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }

  private:
    ChangingKeys keys_;
};

template <class Set>
[[gnu::noinline]] std::uint64_t count_in(const Set& set, const ChangingWork& work) {
    std::uint64_t found = 0;
    for (const std::uint64_t key : work.searched) {
        found += static_cast<std::uint64_t>(set.contains(key));
    }
    return found;
}

template <class Set>
[[gnu::noinline]] std::uint64_t count_side_by_side(const Set& set, const ChangingWork& work) {
    std::vector<typename Set::const_iterator> places(1024);
    std::uint64_t found = 0;
    for (std::span<const std::uint64_t> rest = work.searched; !rest.empty();) {
        const auto some = rest.first(std::min(places.size(), rest.size()));
        set.find(some, std::span(places));
        for (std::size_t i = 0; i != some.size(); ++i) {
            found += static_cast<std::uint64_t>(places[i] != set.end());
        }
        rest = rest.subspan(some.size());
    }
    return found;
}

template <class Set>
void one_changing_set(const TableOptions& options, const char* row, const ChangingWork& work) {
    const std::size_t keys = work.count;
    const std::size_t searches = work.searched.size();
    Set set;
    const auto insert_all = [&] {
        for (std::size_t i = 0; i != keys; ++i) set.insert(mixed(i));
        return set.size();
    };
    measure(options, {"changing", row, "insert", keys, 0}, keys, insert_all, &thread_seconds,
            [&set] { set = Set(); });
    measure(options, {"changing", row, "search", searches, 0}, work.found,
            [&] { return count_in(set, work); });
    if constexpr (requires { set.rebuild(); }) {
        measure(options, {"changing", row, "rebuild", keys, 0}, keys, [&] {
            set.rebuild();
            return set.size();
        });
        measure(options, {"changing", row, "search, rebuilt", searches, set.bytes()}, work.found,
                [&] { return count_in(set, work); });
        measure(options, {"changing", row, "side by side", searches, set.bytes()}, work.found,
                [&] { return count_side_by_side(set, work); });
    }
    TableOptions once = options;
    once.repeat = 1;
    measure(once, {"changing", row, "erase", keys / 2, 0}, keys - keys / 2, [&] {
        for (std::size_t i = 0; i != keys / 2; ++i) set.erase(mixed(i));
        return set.size();
    });
}

}  // namespace

void changing_trees(const TableOptions& options) {
    const std::size_t keys = options.quick ? 5'000 : 1'000'000;
    const ChangingWork work(keys, options.quick ? 10'000 : 1'000'000);
    one_changing_set<std::set<std::uint64_t>>(options, "std::set", work);
#ifdef STRID_BENCH_ABSL_BTREE
    one_changing_set<absl::btree_set<std::uint64_t>>(options, "absl::btree_set", work);
#endif
    one_changing_set<memory::OrderedSet<std::uint64_t>>(options, "Strid ordered set", work);
    // Each insertion moves half of the vector: a tenth of the keys is enough.
    const ChangingWork fewer(keys / 10, work.searched.size());
    one_changing_set<SortedVector>(options, "sorted vector, a tenth", fewer);
    one_changing_set<memory::OrderedSet<std::uint64_t>>(options, "Strid ordered set, a tenth",
                                                        fewer);
}

}  // namespace strid::bench
