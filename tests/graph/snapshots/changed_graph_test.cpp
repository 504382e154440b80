// SPDX-License-Identifier: Apache-2.0
//
// Graphs that have changed since their snapshot: operators that are new, or are gone, and states
// with which a graph cannot go on, of a struct that had other members, or not by key for more
// replicas.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/strid.hpp>

#include "crash.hpp"

namespace strid::test {
namespace {

RunOptions simulated() {
    return {.mode = RunOptions::Mode::simulation, .seed = 1};
}

/// A table by key of structs, of which a run has stored a snapshot before it crashed.
struct Total {
    std::int64_t sum = 0;
    std::uint32_t records = 0;
};
auto totals_of(Graph& graph, const std::shared_ptr<World>& world, OperatorOptions options) {
    return graph.source(NumbersInWorld(world, 0, 50, 3), {.parallelism = 1})
        .key_by<&Number::key>()
        .accumulate(
            Total{},
            [](Total& total, const Number& one) {
                total.sum += one.number;
                ++total.records;
            },
            Emit::every_update, std::move(options));
}
Graph totals(const std::shared_ptr<World>& world) {
    Graph graph{"totals"};
    totals_of(graph, world, {.name = "totals", .parallelism = 1})
        .sink([world](const Keyed<std::uint32_t, Total>&) { world->call(); });
    return graph;
}

/// The sum of all that a replica got, whatever the key.
struct AddsUp {
    static constexpr FunctionTraits traits{.hears = events<>};
    std::int64_t operator()(const Keyed<std::uint32_t, Total>& one) { return sum += one.value.sum; }
    auto state() { return std::tie(sum); }
    std::int64_t sum = 0;
};
Graph sums_of_totals(const std::shared_ptr<World>& world, std::size_t replicas) {
    Graph graph{"sums"};
    totals_of(graph, world, {.parallelism = 2})
        .map(AddsUp{}, {.name = "sums", .parallelism = replicas})
        .sink([](const std::int64_t&) {}, {.parallelism = 1});
    return graph;
}

TEST(Snapshots, AStateBehindNoKeyIsNotCopiedIntoMoreReplicas) {
    const auto world = std::make_shared<World>();
    RunOptions options = simulated();
    options.snapshots.store = std::make_shared<StoreInWorld>(world);
    world->begin_process(40);
    EXPECT_THROW((void)run(sums_of_totals(world, 1), options), std::runtime_error);
    world->begin_process(0);
    try {
        (void)run(sums_of_totals(world, 2), options);
        FAIL() << "it goes on";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("'sums'"), std::string::npos) << text;
        EXPECT_NE(text.find("not by key"), std::string::npos) << text;
    }
    EXPECT_NO_THROW((void)run(sums_of_totals(world, 1), options));
}

/// A function whose replicas count records, and that other numbers of them go on from.
struct Tally {
    static constexpr FunctionTraits traits{.hears = events<Opened, Closed>};
    Tally(std::shared_ptr<World> in, std::shared_ptr<std::vector<std::int64_t>> all)
        : world(std::move(in)), counts(std::move(all)) {}
    void on(const Opened& opened) { replica = opened.context.replica; }
    Number operator()(const Number& one) {
        world->call();
        ++count;
        return one;
    }
    void on(Closed) { counts->at(replica) = count; }
    auto state() { return std::tie(count); }
    void merge_state(const Tally& other) { count += other.count; }
    void split_state(StateShare share) {
        if (share.replica != 0) count = 0;
    }
    std::shared_ptr<World> world;
    std::shared_ptr<std::vector<std::int64_t>> counts;
    std::size_t replica = 0;
    std::int64_t count = 0;
};

/// Its states cannot be merged.
struct Alone {
    static constexpr FunctionTraits traits{.hears = events<>};
    Number operator()(const Number& one) {
        world->call();
        return one;
    }
    auto state() { return std::tie(count); }
    void merge_state(const Alone&) { throw std::runtime_error("cannot merge"); }
    void split_state(StateShare) {}
    std::shared_ptr<World> world;
    std::int64_t count = 0;
};

TEST(Snapshots, AnExceptionOfAMergeNamesItsOperator) {
    const auto world = std::make_shared<World>();
    const auto graph = [&](std::size_t replicas) {
        Graph made{"alone"};
        made.source(NumbersInWorld(world, 0, 50, 3), {.name = "numbers", .parallelism = 1})
            .rebalance()
            .map(Alone{world}, {.name = "alone", .parallelism = replicas})
            .sink([](const Number&) {}, {.parallelism = 1});
        return made;
    };
    RunOptions options = simulated();
    options.snapshots.store = std::make_shared<StoreInWorld>(world);
    world->begin_process(75);
    EXPECT_THROW((void)run(graph(2), options), std::runtime_error);
    ASSERT_GT(world->snapshots.size(), 1U);
    world->begin_process(0);
    try {
        (void)run(graph(3), options);
        FAIL() << "nothing is thrown";
    } catch (const OperatorError& error) {
        EXPECT_EQ(error.operator_name(), "alone");
        EXPECT_NE(std::string(error.what()).find("cannot merge"), std::string::npos);
    }
}

TEST(Snapshots, AStateThatIsMergedAndSplitGoesOnInOtherNumbersOfReplicas) {
    for (const std::size_t before : {1U, 2U, 3U}) {
        for (const std::size_t after : {1U, 2U, 3U}) {
            const auto world = std::make_shared<World>();
            const auto counts = std::make_shared<std::vector<std::int64_t>>(3);
            const auto graph = [&](std::size_t replicas) {
                Graph made{"tally"};
                made.source(NumbersInWorld(world, 0, 50, 3), {.name = "numbers", .parallelism = 1})
                    .rebalance()
                    .map(Tally{world, counts}, {.name = "tally", .parallelism = replicas})
                    .sink([](const Number&) {}, {.parallelism = 1});
                return made;
            };
            RunOptions options = simulated();
            options.snapshots.store = std::make_shared<StoreInWorld>(world);
            world->begin_process(75);
            EXPECT_THROW((void)run(graph(before), options), std::runtime_error);
            ASSERT_GT(world->snapshots.size(), 1U);
            world->begin_process(0);
            (void)run(graph(after), options);
            EXPECT_EQ(counts->at(0) + counts->at(1) + counts->at(2), 50)
                << before << " replicas, then " << after;
        }
    }
}

TEST(Snapshots, OfAStructWithOtherMembersAreRefused) {
    const auto world = std::make_shared<World>();
    RunOptions options = simulated();
    options.snapshots.store = std::make_shared<StoreInWorld>(world);
    world->begin_process(60);
    EXPECT_THROW((void)run(totals(world), options), std::runtime_error);
    ASSERT_FALSE(world->snapshots.empty());
    const std::string members = "Total{long, unsigned int}";
    std::size_t changed = 0;
    for (Snapshot& snapshot : world->snapshots) {
        for (SnapshotNode& node : snapshot.description.nodes) {
            for (std::string& type : node.types) {
                const auto at = type.find(members);
                if (at == std::string::npos) continue;
                type.replace(at, members.size(), "Total{long, float}");
                ++changed;
            }
        }
    }
    ASSERT_NE(changed, 0U);
    world->begin_process(0);
    try {
        (void)run(totals(world), options);
        FAIL() << "it is loaded";
    } catch (const GraphError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("the state of operator 'totals'"), std::string::npos) << text;
        EXPECT_NE(text.find("Total{long, float}"), std::string::npos) << text;
    }
}

/// The same totals in two releases of a program.
struct TotalOfRelease1 {
    std::int64_t sum = 0;
    std::uint32_t records = 0;
};
struct TotalNow {
    std::int64_t sum = 0;
    std::uint32_t records = 0;
    std::int64_t greatest = -1;

    using saved_before = TotalOfRelease1;
    void go_on_from(const TotalOfRelease1& before) {
        if (refuses) throw std::invalid_argument("this sum means nothing");
        sum = before.sum;
        records = before.records;
    }
    static inline bool refuses = false;
};
template <class T>
struct Adds {
    void operator()(T& total, const Number& one) const {
        total.sum += one.number;
        ++total.records;
        if constexpr (requires { total.greatest; }) {
            total.greatest = std::max(total.greatest, one.number);
        }
    }
};
template <class T>
std::string text_of_total(const Keyed<std::uint32_t, T>& one) {
    return std::to_string(one.key) + " " + std::to_string(one.value.sum) + " " +
           std::to_string(one.value.records);
}
template <class T>
Graph release(const std::shared_ptr<World>& world) {
    Graph graph{"totals"};
    graph.source(NumbersInWorld(world, 0, 50, 3), {.name = "numbers", .parallelism = 1})
        .key_by<&Number::key>()
        .accumulate(T{}, Adds<T>{}, Emit::every_update, {.name = "totals", .parallelism = 2})
        .sink(WriteInWorld<Keyed<std::uint32_t, T>>(world, std::make_shared<FileInWorld>(world),
                                                    &text_of_total<T>));
    return graph;
}
TEST(Snapshots, AStructWithAnEarlierVersionGoesOnFromIt) {
    const auto undisturbed = std::make_shared<World>();
    (void)run(release<TotalOfRelease1>(undisturbed), simulated());

    const auto world = std::make_shared<World>();
    RunOptions options = simulated();
    options.snapshots.store = std::make_shared<StoreInWorld>(world);
    world->begin_process(90);
    EXPECT_THROW((void)run(release<TotalOfRelease1>(world), options), std::runtime_error);
    // The struct had this name in the first release.
    const std::string before = "TotalOfRelease1";
    std::size_t renamed = 0;
    for (Snapshot& snapshot : world->snapshots) {
        for (SnapshotNode& node : snapshot.description.nodes) {
            for (std::string& type : node.types) {
                for (auto at = type.find(before); at != std::string::npos;
                     at = type.find(before, at), ++renamed) {
                    type.replace(at, before.size(), "TotalNow");
                }
            }
        }
    }
    ASSERT_NE(renamed, 0U);
    world->begin_process(0);
    TotalNow::refuses = true;
    try {
        (void)run(release<TotalNow>(world), options);
        FAIL() << "it is loaded";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("'totals'"), std::string::npos) << text;
        EXPECT_NE(text.find("TotalNow is refused: this sum means nothing"), std::string::npos)
            << text;
    }
    TotalNow::refuses = false;
    EXPECT_LT(run(release<TotalNow>(world), options).records_in(), 50U);
    EXPECT_EQ(sorted_rows(world->result), sorted_rows(undisturbed->result));
}

/// Numbers, with an operator whose state is how many came, or without it.
struct Counts {
    static constexpr FunctionTraits traits{.hears = events<>};
    Number operator()(const Number& one) {
        *seen = ++records;
        return one;
    }
    auto state() { return std::tie(records); }
    std::shared_ptr<std::uint64_t> seen;
    std::uint64_t records = 0;
};
constexpr std::int64_t records = 50;
std::string text_of(const Number& one) {
    return std::to_string(one.number);
}
struct Parts {
    const char* source = "numbers";
    const char* counts = nullptr;  // nullptr: it is not there
    bool writes = true;
};
Graph passing(const std::shared_ptr<World>& world, const Parts& parts,
              const std::shared_ptr<std::uint64_t>& seen) {
    Graph graph{"passing"};
    Stream<Number> numbers = graph.source(NumbersInWorld(world, 0, records, 3),
                                          {.name = parts.source, .parallelism = 1});
    if (parts.counts != nullptr) {
        numbers = std::move(numbers).map(Counts{seen}, {.name = parts.counts, .parallelism = 1});
    }
    if (parts.writes) {
        std::move(numbers).sink(
            WriteInWorld<Number>(world, std::make_shared<FileInWorld>(world), &text_of));
    } else {
        std::move(numbers).sink([world](const Number&) { world->call(); });
    }
    return graph;
}

class ChangedGraph : public testing::Test {
  protected:
    /// Crashes after so many calls; 0: not at all. Returns the error of a graph that cannot go on.
    std::string run_one(const Parts& parts, std::uint64_t calls, bool allow_lost = false) {
        RunOptions options = simulated();
        options.snapshots.store = std::make_shared<StoreInWorld>(world);
        options.snapshots.allow_lost = allow_lost;
        options.on_warning = [this](const std::string& text) { warnings += text + ";"; };
        world->begin_process(calls);
        try {
            (void)run(passing(world, parts, seen), options);
        } catch (const GraphError& error) {
            return error.what();
        } catch (const std::runtime_error&) {
            EXPECT_TRUE(world->is_over());
        }
        return {};
    }
    [[nodiscard]] std::int64_t rows() const {
        return std::count(world->result.begin(), world->result.end(), '\n');
    }

    std::shared_ptr<World> world = std::make_shared<World>();
    std::shared_ptr<std::uint64_t> seen = std::make_shared<std::uint64_t>(0);
    std::string warnings;
};

TEST_F(ChangedGraph, ANewOperatorBeginsAnew) {
    EXPECT_EQ(run_one({}, 80), "");
    EXPECT_EQ(run_one({.counts = "counts"}, 0), "");
    EXPECT_NE(warnings.find("operator 'counts' is new;"), std::string::npos) << warnings;
    EXPECT_EQ(rows(), records);
    EXPECT_GT(*seen, 0U);
    EXPECT_LT(*seen, static_cast<std::uint64_t>(records));
}

TEST_F(ChangedGraph, AStateIsGivenUpOnlyWhereThatIsAllowed) {
    const Parts before{.counts = "counts"};
    EXPECT_EQ(run_one(before, 60), "");
    EXPECT_NE(run_one({}, 0).find("operator 'counts' is not there any more, and its state has 8 "
                                  "bytes: --allow-lost gives it up"),
              std::string::npos);
    // The refusal has left all as it was.
    EXPECT_EQ(run_one(before, 20), "");
    EXPECT_EQ(run_one({}, 0, true), "");
    EXPECT_NE(warnings.find("the 8 bytes of its state are given up;"), std::string::npos);
    EXPECT_EQ(rows(), records);
}

TEST_F(ChangedGraph, AnOperatorWithoutANameIsNotTakenForAnother) {
    EXPECT_EQ(run_one({.source = ""}, 60), "");
    EXPECT_NE(warnings.find("no names of their own, so that a changed program could not find their "
                            "states: 'source-1';"),
              std::string::npos)
        << warnings;
    EXPECT_NE(run_one({.source = "", .counts = "counts"}, 0)
                  .find("operator 'counts' is new; then an operator with state needs a name of "
                        "its own (.name) to find it by, and 'source-1' has none"),
              std::string::npos);
    EXPECT_EQ(run_one({.source = ""}, 0), "");
    EXPECT_EQ(rows(), records);
}

TEST_F(ChangedGraph, AResultIsGivenUpOnlyWhereThatIsAllowed) {
    EXPECT_EQ(run_one({}, 60), "");
    EXPECT_NE(run_one({.writes = false}, 0).find("'file' is not written any more"),
              std::string::npos);
    EXPECT_EQ(run_one({.writes = false}, 0, true), "");
    EXPECT_EQ(rows(), 0);
}

}  // namespace
}  // namespace strid::test
