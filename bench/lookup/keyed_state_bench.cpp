// SPDX-License-Identifier: Apache-2.0
//
// Updates of the state of random keys, as a keyed operator makes them: the table of keyed state
// (strid/operator/keyed_state.hpp), record by record and in batches, beside hash maps of other
// libraries with equal keys and states. Every contestant's sums are compared.
//
//   keyed_state_bench --keys 1000000 --updates 1000000 --rounds 9
//
// Rows for programs: "row | keyed state | KEYS | bytes of a state | contestant | ns an update | low
// | high |". One thread.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#ifdef STRID_BENCH_ABSL_MAP
#include <absl/container/flat_hash_map.h>
#endif

#include <strid/base/clock.hpp>
#include <strid/base/hash.hpp>
#include <strid/engine/message/batch.hpp>
#include <strid/operator/keyed_state.hpp>

#include "../bar.hpp"
#include "../command_line.hpp"
#include "../statistics.hpp"

namespace {

using namespace strid;
using namespace strid::bench;
using Key = std::uint64_t;
using Arrived = message::Hashed<Key>;  // with the hash that the edge by key has computed

struct Settings {
    std::size_t keys = 1'000'000;
    std::size_t updates = 1'000'000;
    std::size_t rounds = 9;
};

template <std::size_t words>
struct State {
    std::uint64_t values[words] = {};
    std::uint64_t add() { return ++values[0]; }
};

/// The sum of all states behind each update.
using Update = std::function<std::uint64_t(std::span<const Arrived>)>;
struct Contestant {
    std::string name;
    Update update;
    std::vector<double> ns = {};
};

template <class S>
Contestant keyed_state(const std::string& name, std::size_t keys, bool in_batches) {
    const auto table = std::make_shared<KeyedState<Key, S>>();
    const auto make = [] { return S{}; };
    for (Key key = 0; key != keys; ++key) table->find_or_make(key, hash_of(key), make);
    return {name, [table, make, in_batches](std::span<const Arrived> records) {
                constexpr std::size_t batch_records = 256;
                std::uint64_t sum = 0;
                for (std::size_t at = 0; at < records.size(); at += batch_records) {
                    auto batch = records.subspan(at, std::min(batch_records, records.size() - at));
                    while (!batch.empty()) {
                        const std::size_t some =
                            in_batches ? table->look_ahead(batch) : batch.size();
                        for (const Arrived& one : batch.first(some)) {
                            sum += table->find_or_make(one.record, one.hash, make).state.add();
                        }
                        batch = batch.subspan(some);
                    }
                }
                return sum;
            }};
}

template <class Map>
Contestant map_of(const std::string& name, std::size_t keys) {
    const auto map = std::make_shared<Map>();
    for (Key key = 0; key != keys; ++key) map->try_emplace(key);
    return {name, [map](std::span<const Arrived> records) {
                std::uint64_t sum = 0;
                for (const Arrived& one : records) {
                    sum += map->try_emplace(one.record).first->second.add();
                }
                return sum;
            }};
}

template <std::size_t words>
void compare(const Settings& settings, const std::vector<Arrived>& records) {
    using S = State<words>;
    std::vector<Contestant> all;
    all.push_back(keyed_state<S>("keyed state, in batches", settings.keys, true));
    all.push_back(keyed_state<S>("keyed state", settings.keys, false));
    all.push_back(map_of<std::unordered_map<Key, S>>("std::unordered_map", settings.keys));
    all.push_back(map_of<boost::unordered_flat_map<Key, S>>("boost flat map", settings.keys));
#ifdef STRID_BENCH_ABSL_MAP
    all.push_back(map_of<absl::flat_hash_map<Key, S>>("absl flat map", settings.keys));
#endif
    for (std::size_t round = 0; round != settings.rounds; ++round) {
        std::uint64_t expected = 0;
        for (Contestant& one : all) {
            const std::int64_t begin_ns = now_ns();
            const std::uint64_t sum = one.update(records);
            one.ns.push_back(static_cast<double>(now_ns() - begin_ns) /
                             static_cast<double>(records.size()));
            if (&one == &all.front()) expected = sum;
            if (sum != expected) throw std::runtime_error(one.name + " has other sums");
        }
    }
    for (const Contestant& one : all) {
        const Spread spread = spread_of(one.ns);
        std::printf("row | keyed state | %zu | %zu | %s | %.1f | %.1f | %.1f |\n", settings.keys,
                    sizeof(S), one.name.c_str(), spread.median, spread.low, spread.high);
    }
    const std::string what =
        std::to_string(settings.keys) + " keys, states of " + std::to_string(sizeof(S)) + " bytes";
    print_bar(what + ": ns an update in batches", median(all.front().ns), Bar::at_most,
              settings.keys <= 1'000'000 ? 25 : 50);
    for (std::size_t i = 3; i < all.size(); ++i) {
        print_bar(what + ": times as fast as " + all[i].name,
                  median(ratios(all[i].ns, all.front().ns)), Bar::at_least, 1);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        Settings settings;
        CommandLine{{{"--keys", number_into(settings.keys)},
                     {"--updates", number_into(settings.updates)},
                     {"--rounds", number_into(settings.rounds)}}}
            .read(argc, argv);
        if (settings.keys == 0 || settings.updates == 0 || settings.rounds == 0) {
            throw std::invalid_argument("--keys, --updates and --rounds are at least 1");
        }
        std::mt19937_64 random{1};
        std::vector<Arrived> records;
        for (std::size_t i = 0; i != settings.updates; ++i) {
            const Key key = random() % settings.keys;
            records.push_back({key, hash_of(key)});
        }
        compare<1>(settings, records);
        compare<4>(settings, records);
        return EXIT_SUCCESS;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "keyed_state_bench: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
