// SPDX-License-Identifier: Apache-2.0
//
// Random searches in a sorted table of numbers of 64 bits: the static search trees in every layout
// (paper 5), singly and in batches, beside std::set, std::lower_bound on a vector, and Boost's
// flat_set. Half of the searched keys are in the table. Every contestant's answers are compared.
//
//   search_tree_bench --keys 10000000 --lookups 1000000 --rounds 5
//
// Rows for programs: "row | search trees | KEYS | contestant | ns a lookup | low | high | bytes a
// key |". One thread.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#ifdef STRID_BENCH_FLAT_SET
#include <boost/container/flat_set.hpp>
#endif

#include <strid/base/clock.hpp>
#include <strid/search/search_tree.hpp>

#include "../bar.hpp"
#include "../command_line.hpp"
#include "../statistics.hpp"

namespace {

using namespace strid;
using namespace strid::bench;
using memory::NodeOrder;
using memory::TreeLayout;
using memory::TreeSlot;
using Key = std::uint64_t;
using Keys = std::vector<Key>;

struct Settings {
    std::size_t keys = 10'000'000;
    std::size_t lookups = 1'000'000;
    std::size_t rounds = 5;
};

/// The answer of a contestant: how many keys were found, and the sum of the greatest keys that are
/// not greater.
struct Answer {
    std::uint64_t found = 0;
    std::uint64_t sum = 0;

    void add(Key key, Key query) noexcept {
        found += static_cast<std::uint64_t>(key == query);
        sum += key;
    }
    bool operator==(const Answer&) const = default;
};

struct Contestant {
    std::string name;
    std::function<Answer(const Keys&)> search;
    std::size_t bytes;
    std::vector<double> ns = {};
};

template <class Tree>
void add_tree(std::vector<Contestant>& all, const std::string& name, const Keys& sorted) {
    const auto tree = std::make_shared<const Tree>(std::span<const Key>(sorted));
    all.push_back({name,
                   [tree](const Keys& queries) {
                       Answer answer;
                       for (const Key query : queries) {
                           const TreeSlot slot = tree->at_or_before(query);
                           if (slot != memory::no_slot) answer.add(tree->key(slot), query);
                       }
                       return answer;
                   },
                   tree->bytes()});
    all.push_back({name + ", batches",
                   [tree](const Keys& queries) {
                       constexpr std::size_t batch = 64;
                       Answer answer;
                       std::vector<TreeSlot> slots(batch);
                       for (std::size_t first = 0; first < queries.size(); first += batch) {
                           const std::size_t some = std::min(batch, queries.size() - first);
                           const std::span<const Key> batched(queries.data() + first, some);
                           tree->at_or_before(batched, std::span(slots));
                           for (std::size_t i = 0; i < some; ++i) {
                               if (slots[i] != memory::no_slot) {
                                   answer.add(tree->key(slots[i]), batched[i]);
                               }
                           }
                       }
                       return answer;
                   },
                   tree->bytes()});
}

/// By a set that is ordered.
template <class Set>
Answer search_set(const Set& set, const Keys& queries) {
    Answer answer;
    for (const Key query : queries) {
        const auto behind = set.upper_bound(query);
        if (behind != set.begin()) answer.add(*std::prev(behind), query);
    }
    return answer;
}

std::vector<Contestant> contestants(const Keys& sorted, const Keys& shuffled) {
    std::vector<Contestant> all;
    // Filled in random order, as a set is that grows while a program runs.
    const auto set = std::make_shared<const std::set<Key>>(shuffled.begin(), shuffled.end());
    constexpr std::size_t set_node_bytes =
        48;  // of glibc's malloc, for three pointers and a colour
    all.push_back({"std::set", [set](const Keys& queries) { return search_set(*set, queries); },
                   sorted.size() * set_node_bytes});
    const auto in_order = std::make_shared<const std::set<Key>>(sorted.begin(), sorted.end());
    all.push_back({"std::set, filled in order",
                   [in_order](const Keys& queries) { return search_set(*in_order, queries); },
                   sorted.size() * set_node_bytes});
    const auto vector = std::make_shared<const Keys>(sorted);
    all.push_back({"std::lower_bound",
                   [vector](const Keys& queries) {
                       Answer answer;
                       for (const Key query : queries) {
                           auto at = std::lower_bound(vector->begin(), vector->end(), query);
                           if (at == vector->end() || *at != query) {
                               if (at == vector->begin()) continue;
                               --at;
                           }
                           answer.add(*at, query);
                       }
                       return answer;
                   },
                   sorted.size() * sizeof(Key)});
#ifdef STRID_BENCH_FLAT_SET
    using FlatSet = boost::container::flat_set<Key>;
    const auto flat = std::make_shared<const FlatSet>(boost::container::ordered_unique_range,
                                                      sorted.begin(), sorted.end());
    all.push_back({"boost flat_set",
                   [flat](const Keys& queries) { return search_set(*flat, queries); },
                   sorted.size() * sizeof(Key)});
#endif
    add_tree<memory::SearchTree<Key, TreeLayout::b_tree>>(all, "B-tree", sorted);
    add_tree<memory::BTree<Key, 64>>(all, "B-tree, nodes of one line", sorted);
    add_tree<memory::BTree<Key, 128>>(all, "B-tree, nodes of two lines", sorted);
    add_tree<memory::SearchTree<Key, TreeLayout::breadth_first>>(all, "breadth first, by number",
                                                                 sorted);
    add_tree<memory::OffsetTree<Key, NodeOrder::breadth_first>>(all, "breadth first, offsets",
                                                                sorted);
    add_tree<memory::SearchTree<Key, TreeLayout::depth_first>>(all, "depth first, offsets", sorted);
    add_tree<memory::SearchTree<Key, TreeLayout::van_emde_boas>>(all, "van Emde Boas, offsets",
                                                                 sorted);
    return all;
}

const Contestant& named(const std::vector<Contestant>& all, const std::string& name) {
    return *std::find_if(all.begin(), all.end(),
                         [&name](const Contestant& one) { return one.name == name; });
}

int run(const Settings& settings) {
    std::mt19937_64 random{1};
    Keys shuffled(settings.keys);
    for (Key& key : shuffled) key = random();
    Keys sorted = shuffled;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    Keys queries(settings.lookups);
    for (Key& query : queries) {
        query = random() % 2 == 0 ? sorted[random() % sorted.size()] : random();
    }

    auto all = contestants(sorted, shuffled);
    const Answer expected = named(all, "std::lower_bound").search(queries);
    for (std::size_t round = 0; round < settings.rounds; ++round) {
        for (Contestant& one : all) {
            const std::int64_t begin_ns = now_ns();
            const Answer answer = one.search(queries);
            const std::int64_t end_ns = now_ns();
            if (answer != expected) {
                std::fprintf(stderr, "%s found other keys\n", one.name.c_str());
                return EXIT_FAILURE;
            }
            one.ns.push_back(static_cast<double>(end_ns - begin_ns) /
                             static_cast<double>(queries.size()));
        }
    }

    std::printf("| %zu keys | ns a lookup | middle half | bytes a key |\n|---|---:|---:|---:|\n",
                sorted.size());
    for (const Contestant& one : all) {
        const Spread spread = spread_of(one.ns);
        const double bytes = static_cast<double>(one.bytes) / static_cast<double>(sorted.size());
        std::printf("| %s | %.1f | %.1f to %.1f | %.1f |\n", one.name.c_str(), spread.median,
                    spread.low, spread.high, bytes);
    }
    for (const Contestant& one : all) {
        const Spread spread = spread_of(one.ns);
        std::printf("row | search trees | %zu | %s | %.2f | %.2f | %.2f | %.2f |\n", sorted.size(),
                    one.name.c_str(), spread.median, spread.low, spread.high,
                    static_cast<double>(one.bytes) / static_cast<double>(sorted.size()));
    }
    const auto times_of = [&all](const std::string& slow, const std::string& fast) {
        return median(ratios(named(all, slow).ns, named(all, fast).ns));
    };
    const auto bar = [&](const std::string& fast, const std::string& slow, double least) {
        print_bar("lookups in " + std::to_string(settings.keys) + " keys, " + fast +
                      ": times as fast as " + slow,
                  times_of(slow, fast), Bar::at_least, least);
    };
    bar("B-tree", "std::set", 5);
    bar("B-tree", "std::lower_bound", 2);
#ifdef STRID_BENCH_FLAT_SET
    bar("B-tree", "boost flat_set", 2);
#endif
    bar("B-tree, batches", "std::lower_bound", 3);
    bar("B-tree", "breadth first, offsets", 1);
    bar("B-tree", "depth first, offsets", 1);
    bar("van Emde Boas, offsets", "breadth first, offsets", 1);
    bar("van Emde Boas, offsets", "depth first, offsets", 1);
    return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        Settings settings;
        CommandLine{{{"--keys", number_into(settings.keys)},
                     {"--lookups", number_into(settings.lookups)},
                     {"--rounds", number_into(settings.rounds)}}}
            .read(argc, argv);
        if (settings.keys == 0 || settings.lookups == 0 || settings.rounds == 0) {
            throw std::invalid_argument("--keys, --lookups and --rounds are at least 1");
        }
        return run(settings);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "search_tree_bench: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
