// SPDX-License-Identifier: Apache-2.0
//
// Tables that are exchanged while a graph looks things up in them: which version a record sees,
// when an old one is freed, and what becomes of a table that has failed.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <strid/strid.hpp>

#include "lookups.hpp"

namespace strid {
namespace {

using test::key_of_number;
using Table = test::NumberTable;

/// A number and the version of the table that it saw.
struct Seen {
    std::uint64_t number;
    std::uint64_t version;
};

/// A table whose every entry is its version.
Table table_of_version(std::uint64_t version) {
    std::vector<Table::Entry> entries;
    // Old versions may have fewer keys: what one has, the other has not.
    for (std::uint64_t key = 0; key < 1'000 + version % 7; ++key) entries.push_back({key, version});
    return Table{std::move(entries)};
}

/// Stands behind a lookup in its node: all records of a batch have seen one version, and none an
/// older one than the batch before it.
class OneVersion : public OperatorTypes<Seen, Seen> {
  public:
    static constexpr OperatorTraits traits{.kind = "watch", .hears = events<BatchEnds>};

    explicit OneVersion(std::atomic<std::uint64_t>& mixed) : mixed_(&mixed) {}

    void process(Seen& seen, auto& emit) {
        if (is_new_batch_ ? seen.version < version_ : seen.version != version_) ++*mixed_;
        version_ = seen.version;
        is_new_batch_ = false;
        emit(seen);
    }
    void on(BatchEnds) { is_new_batch_ = true; }
    auto state() { return std::tie(version_, is_new_batch_); }

  private:
    std::atomic<std::uint64_t>* mixed_;
    std::uint64_t version_ = 0;
    bool is_new_batch_ = true;
};

/// 0, 1, ... until the last version was seen by the sink, and then some.
struct UntilSeen {
    using record_type = std::uint64_t;
    static constexpr SourceTraits traits{.hears = events<>};
    std::atomic<bool>* is_over = nullptr;
    std::uint64_t next = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        // Asked first: behind a slow reader the budget is never used up.
        if (is_over->load()) return SourceStatus::finished;
        for (; budget != 0; --budget) {
            if (!emit(std::uint64_t{next++})) break;
        }
        return SourceStatus::more;
    }
    auto state() { return std::tie(next); }
};

TEST(Lookup, SeesOneVersionInABatchWhileTablesAreExchanged) {
    constexpr std::uint64_t versions = 200;
    for (const bool is_first : {false, true}) {
        for (const auto mode : {RunOptions::Mode::cooperative, RunOptions::Mode::dedicated}) {
            std::atomic<std::uint64_t> mixed{0};
            std::atomic<std::uint64_t> latest{0};
            std::atomic<bool> is_over{false};
            CurrentTable<Table> tables{table_of_version(0)};
            std::weak_ptr<const Table> first = tables.table();
            Graph graph{"exchange"};
            const auto look_up = [&](auto stream) {
                std::move(stream)
                    .lookup(
                        tables, [](const std::uint64_t& number) { return number % 1'000; },
                        [](const std::uint64_t& number, const std::uint64_t& version) {
                            return Seen{number, version};
                        },
                        {.name = "find", .parallelism = 1})
                    .apply(OneVersion{mixed})
                    .sink([&latest](const Seen& seen) { latest.store(seen.version); });
            };
            auto numbers = graph.source(UntilSeen{&is_over});
            if (is_first) {
                look_up(std::move(numbers).separate());
            } else {
                look_up(std::move(numbers));
            }
            auto running = start(graph, {.mode = mode, .workers = 2, .block_bytes = 4'096});
            for (std::uint64_t version = 1; version <= versions; ++version) {
                tables.exchange(table_of_version(version));
                if (version % 16 == 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
            }
            const auto begin = std::chrono::steady_clock::now();
            while (latest.load() != versions &&
                   std::chrono::steady_clock::now() - begin < std::chrono::seconds{60}) {
                std::this_thread::yield();
            }
            is_over.store(true);
            const RunReport report = running.wait();
            EXPECT_EQ(latest.load(), versions) << "the last version was never seen";
            EXPECT_EQ(mixed.load(), 0U);
            EXPECT_TRUE(first.expired()) << "nothing frees the first version";
            EXPECT_GT(report.find("find")->counters.at("exchanges"), 0U);
            EXPECT_LE(report.find("find")->counters.at("exchanges"), versions);
            EXPECT_EQ(report.find("find")->counters.at("missing"), 0U);
        }
    }
}

TEST(Lookup, HoldsNoVersionBetweenTwoBatches) {
    CurrentTable<Table> tables{table_of_version(0)};
    std::weak_ptr<const Table> first = tables.table();
    Graph graph{"idle"};
    auto [inlet, stream] = graph.inlet<std::uint64_t>(16);
    auto outlet =
        std::move(stream)
            .lookup(tables, key_of_number,
                    [](std::uint64_t& number, const std::uint64_t& version) { number = version; })
            .outlet(16);
    auto running = start(graph, {.workers = 1});
    ASSERT_TRUE(inlet.push(1));
    EXPECT_EQ(outlet.pop(), 0U);
    tables.exchange(table_of_version(1));
    // The batch may be on its way out still.
    for (int i = 0; i < 10'000 && !first.expired(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    EXPECT_TRUE(first.expired()) << "held by an operator that has nothing to do";
    ASSERT_TRUE(inlet.push(1));
    EXPECT_EQ(outlet.pop(), 1U) << "the first record after the exchange sees the new version";
    inlet.close();
    running.wait();
}

TEST(Lookup, EndsTheRunWhereATableHasFailed) {
    for (const bool is_first : {false, true}) {
        CurrentTable<Table> tables{table_of_version(0)};
        tables.fail(std::make_exception_ptr(InputOutputError("ads.csv:2: not an integer")));
        std::atomic<bool> is_over{false};
        Graph graph{"failure"};
        const auto look_up = [&](auto stream) {
            std::move(stream)
                .lookup(
                    tables, key_of_number,
                    [](std::uint64_t& number, const std::uint64_t& version) { number = version; },
                    {.name = "find"})
                .sink([](std::uint64_t) {});
        };
        auto numbers = graph.source(UntilSeen{&is_over});
        if (is_first) {
            look_up(std::move(numbers).separate());
        } else {
            look_up(std::move(numbers));
        }
        try {
            run(graph);
            FAIL() << "no exception";
        } catch (const OperatorError& error) {
            EXPECT_EQ(error.operator_name(), "find");
            EXPECT_NE(std::string(error.what()).find("ads.csv:2"), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace strid
