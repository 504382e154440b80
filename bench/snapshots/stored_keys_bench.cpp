// SPDX-License-Identifier: Apache-2.0
//
// State by key that is larger than memory: a map that counts the records of each key, with states
// of 64 bytes, of which a tenth is in memory and the rest in RocksDB. Keys come by Zipf's law with
// the exponent 0.99, after each key has come once. Measured from then on, in records a second:
//
// - the graph with keep_in_memory; the same with a bound that holds all;
// - the same graph with all states in memory;
// - a loop by hand over the same records, on one thread: a list in the order of use with a hash
//   table, which holds as many keys, reads the keys of 256 records ahead by MultiGet, and writes
//   changed ones behind them; and the same that reads each missing key when its record comes.
//
// The sum of all results is compared with that of a plain array.
//
//   stored_keys_bench --folder states --keys 2000000 --records 8000000 --bound-mib 32 --rounds 3
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <strid/base/clock.hpp>
#include <strid/base/hash.hpp>
#include <strid/rocksdb/rocksdb.hpp>
#include <strid/stream/graph.hpp>

#include "../bar.hpp"
#include "../command_line.hpp"

namespace {

using namespace strid;
using namespace strid::bench;

struct Settings {
    std::string folder = "stored_keys_bench_states";
    std::uint64_t keys = 2'000'000;
    std::uint64_t records = 8'000'000;
    std::uint64_t bound_mib = 32;
    std::uint64_t rounds = 3;
};

/// Numbers below `count`, the small ones most often (Gray et al., "Quickly Generating
/// Billion-Record Synthetic Databases").
class Zipf {
  public:
    Zipf(std::uint64_t count, double exponent) : count_(static_cast<double>(count)) {
        double zeta = 0;
        for (std::uint64_t i = 1; i <= count; ++i) {
            zeta += 1 / std::pow(static_cast<double>(i), exponent);
        }
        exponent_ = exponent;
        zeta_ = zeta;
        alpha_ = 1 / (1 - exponent);
        const double of_two = 1 + std::pow(0.5, exponent);
        eta_ = (1 - std::pow(2 / count_, 1 - exponent)) / (1 - of_two / zeta);
    }
    [[nodiscard]] std::uint64_t at(double uniform) const {
        const double area = uniform * zeta_;
        if (area < 1) return 0;
        if (area < 1 + std::pow(0.5, exponent_)) return 1;
        const double found = count_ * std::pow(eta_ * uniform - eta_ + 1, alpha_);
        return std::min(static_cast<std::uint64_t>(found), static_cast<std::uint64_t>(count_) - 1);
    }

  private:
    double count_;
    double exponent_ = 0;
    double zeta_ = 0;
    double alpha_ = 0;
    double eta_ = 0;
};

struct Record {
    std::uint64_t key;
    std::uint64_t number;
};

/// Each key once, then those by Zipf's law; their order says nothing of how often they come.
std::vector<Record> records_of(const Settings& settings) {
    const Zipf zipf(settings.keys, 0.99);
    std::vector<Record> records;
    records.reserve(settings.keys + settings.records);
    for (std::uint64_t key = 0; key != settings.keys; ++key) records.push_back({hash_of(key), key});
    for (std::uint64_t i = 0; i != settings.records; ++i) {
        const double uniform = static_cast<double>(hash_of(i) >> 11U) * 0x1p-53;
        records.push_back({hash_of(zipf.at(uniform)), i});
    }
    return records;
}

struct Account {
    std::uint64_t updates = 0;
    std::array<std::uint64_t, 7> last{};
    std::uint64_t add(const Record& record) {
        last[updates % last.size()] = record.number;
        ++updates;
        return updates + last[updates % last.size()] % 1'000;
    }
};

/// The results of a way, and its time from the last new key on.
struct Measured {
    std::uint64_t sum = 0;
    double seconds = 0;
};

class Counts {
  public:
    static constexpr FunctionTraits traits{.hears = events<>};
    std::uint64_t operator()(const Record& record) { return account_.add(record); }
    auto state() { return std::tie(account_.updates, account_.last); }

  private:
    Account account_;
};

/// Emits records that are there.
class Given {
  public:
    using record_type = Record;
    static constexpr SourceTraits traits{.hears = events<>, .stateless = true};

    explicit Given(const std::vector<Record>& records) : records_(&records) {}
    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0; --budget) {
            if (next_ == records_->size()) return SourceStatus::finished;
            if (!emit((*records_)[next_++])) break;
        }
        return SourceStatus::more;
    }

  private:
    const std::vector<Record>* records_;
    std::size_t next_ = 0;
};

template <class Life>
Measured by_graph(const std::vector<Record>& records, const Settings& settings, const Life& life) {
    std::uint64_t results = 0;
    std::int64_t begun_ns = 0;
    Measured measured;
    Graph graph{"accounts"};
    graph.source(Given(records), {.parallelism = 1})
        .template key_by<&Record::key>(life)
        .map(Counts{}, {.name = "accounts", .parallelism = 1})
        .sink(
            [&](std::uint64_t result) {
                measured.sum += result;
                if (++results == settings.keys) begun_ns = now_ns();
            },
            {.parallelism = 1});
    (void)run(graph, {.workers = 2});
    measured.seconds = static_cast<double>(now_ns() - begun_ns) / 1e9;
    return measured;
}

/// The options of strid::rocksdb.
strid::rocksdb::StoreOptions memory() {
    return {};
}

class ByHand {
  public:
    ByHand(std::string folder, std::size_t keys_max)
        : folder_(std::move(folder)), keys_max_(keys_max) {
        ::rocksdb::Options options;
        options.create_if_missing = true;
        options.write_buffer_size = memory().buffer_bytes / 2;
        options.compression = ::rocksdb::kNoCompression;
        ::rocksdb::BlockBasedTableOptions table;
        table.block_cache = ::rocksdb::NewLRUCache(memory().cache_bytes);
        table.filter_policy.reset(::rocksdb::NewBloomFilterPolicy(10));
        options.table_factory.reset(::rocksdb::NewBlockBasedTableFactory(table));
        ::rocksdb::DB* opened = nullptr;
        check(::rocksdb::DB::Open(options, folder_, &opened));
        database_.reset(opened);
        table_.reserve(2 * keys_max);
    }
    ~ByHand() {
        database_.reset();
        std::filesystem::remove_all(folder_);
    }

    Measured run(const std::vector<Record>& records, const Settings& settings, bool reads_ahead) {
        constexpr std::size_t at_once = 256;
        Measured measured;
        std::int64_t begun_ns = 0;
        for (std::size_t at = 0; at < records.size(); at += at_once) {
            if (at <= settings.keys && settings.keys < at + at_once) begun_ns = now_ns();
            const auto end = std::min(records.size(), at + at_once);
            if (reads_ahead) read_ahead(records, at, end);
            for (std::size_t i = at; i != end; ++i) {
                measured.sum += account_of(records[i].key).add(records[i]);
            }
            make_room();
        }
        measured.seconds = static_cast<double>(now_ns() - begun_ns) / 1e9;
        return measured;
    }

  private:
    struct Hot {
        std::uint64_t key;
        Account account;
    };
    struct HashOfKey {
        std::size_t operator()(std::uint64_t key) const noexcept { return hash_of(key); }
    };
    using ByUse = std::list<Hot>;

    static void check(const ::rocksdb::Status& status) {
        if (!status.ok()) throw std::runtime_error(status.ToString());
    }
    template <class T>
    static ::rocksdb::Slice slice_of(const T& value) {
        return {reinterpret_cast<const char*>(&value), sizeof value};
    }
    void take(std::uint64_t key, const ::rocksdb::Status& status,
              const ::rocksdb::PinnableSlice& state) {
        if (!status.IsNotFound()) check(status);
        Hot hot{key, {}};
        if (status.ok()) std::memcpy(&hot.account, state.data(), sizeof hot.account);
        by_use_.push_back(hot);
        table_.emplace(key, std::prev(by_use_.end()));
    }
    void read_ahead(const std::vector<Record>& records, std::size_t at, std::size_t end) {
        missing_.clear();
        for (std::size_t i = at; i != end; ++i) {
            if (!table_.contains(records[i].key)) missing_.push_back(records[i].key);
        }
        slices_.clear();
        for (const std::uint64_t& key : missing_) slices_.push_back(slice_of(key));
        std::vector<::rocksdb::PinnableSlice> states(missing_.size());
        std::vector<::rocksdb::Status> answers(missing_.size());
        database_->MultiGet({}, database_->DefaultColumnFamily(), slices_.size(), slices_.data(),
                            states.data(), answers.data());
        for (std::size_t i = 0; i != missing_.size(); ++i) {
            if (!table_.contains(missing_[i])) take(missing_[i], answers[i], states[i]);
        }
    }
    Account& account_of(std::uint64_t key) {
        auto found = table_.find(key);
        if (found == table_.end()) {
            ::rocksdb::PinnableSlice state;
            const auto answer =
                database_->Get({}, database_->DefaultColumnFamily(), slice_of(key), &state);
            take(key, answer, state);
            return by_use_.back().account;
        }
        by_use_.splice(by_use_.end(), by_use_, found->second);
        return found->second->account;
    }
    void make_room() {
        ::rocksdb::WriteBatch batch;
        while (by_use_.size() > keys_max_) {
            const Hot& hot = by_use_.front();
            check(batch.Put(slice_of(hot.key), slice_of(hot.account)));
            table_.erase(hot.key);
            by_use_.pop_front();
        }
        ::rocksdb::WriteOptions options;
        options.disableWAL = true;
        check(database_->Write(options, &batch));
    }

    std::string folder_;
    std::size_t keys_max_;
    std::unique_ptr<::rocksdb::DB> database_;
    ByUse by_use_;
    std::unordered_map<std::uint64_t, ByUse::iterator, HashOfKey> table_;
    std::vector<std::uint64_t> missing_;
    std::vector<::rocksdb::Slice> slices_;
};

/// By an array: a key is one of the first records.
std::uint64_t expected_sum(const std::vector<Record>& records, std::uint64_t keys) {
    std::unordered_map<std::uint64_t, Account> accounts;
    accounts.reserve(keys);
    std::uint64_t sum = 0;
    for (const Record& record : records) sum += accounts[record.key].add(record);
    return sum;
}

double rate_of(const char* name, const Measured& measured, std::uint64_t expected,
               std::uint64_t records) {
    if (measured.sum != expected) throw std::runtime_error(std::string(name) + ": a wrong answer");
    const double rate = static_cast<double>(records) / measured.seconds;
    std::printf("%-32s %10.0f records/s\n", name, rate);
    std::fflush(stdout);
    return rate;
}

void measure(const Settings& settings) {
    const auto records = records_of(settings);
    const std::uint64_t expected = expected_sum(records, settings.keys);
    const std::size_t bound = settings.bound_mib << 20;
    using Table = operators::StoredTable<std::uint64_t, Counts, false>;
    const std::size_t keys_max = bound / Table::bytes_of_entry;
    std::printf("%zu of %zu keys in memory\n", keys_max, static_cast<std::size_t>(settings.keys));
    double stored = 0;
    double in_memory = 0;
    double within_bound = 0;
    double by_hand = 0;
    for (std::uint64_t round = 0; round != settings.rounds; ++round) {
        const auto stores = strid::rocksdb::store(settings.folder, memory());
        const auto rate = [&](const char* name, const Measured& measured) {
            return rate_of(name, measured, expected, settings.records);
        };
        stored = std::max(stored, rate("keep_in_memory",
                                       by_graph(records, settings, keep_in_memory(bound, stores))));
        in_memory =
            std::max(in_memory, rate("all in memory", by_graph(records, settings, KeepKeys{})));
        const auto unused = strid::rocksdb::store(settings.folder, memory());
        const std::size_t enough = 2 * settings.keys * Table::bytes_of_entry;
        within_bound = std::max(within_bound,
                                rate("keep_in_memory, a large bound",
                                     by_graph(records, settings, keep_in_memory(enough, unused))));
        for (const bool reads_ahead : {true, false}) {
            ByHand hand(settings.folder + "_by_hand", keys_max);
            by_hand = std::max(by_hand, rate(reads_ahead ? "by hand, MultiGet" : "by hand, Get",
                                             hand.run(records, settings, reads_ahead)));
        }
    }
    print_bar("state ten times the bound, beside all in memory", stored / in_memory, Bar::at_least,
              0.12);
    print_reported("state within the bound, beside all in memory", within_bound / in_memory,
                   "of its rate");
    print_bar("the same, beside a cache over RocksDB by hand", stored / by_hand, Bar::at_least,
              0.8);
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    try {
        const CommandLine line{{{"--folder", text_into(settings.folder)},
                                {"--keys", number_into(settings.keys)},
                                {"--records", number_into(settings.records)},
                                {"--bound-mib", number_into(settings.bound_mib)},
                                {"--rounds", number_into(settings.rounds)}}};
        line.read(argc, argv);
        measure(settings);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "stored_keys_bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
