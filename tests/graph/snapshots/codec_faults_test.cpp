// SPDX-License-Identifier: Apache-2.0
//
// A state that cannot be saved ends the run, also where it is saved because a record is about to
// change it, and records on which the operator throws are left out.
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/strid.hpp>

#include "../../support/seeds.hpp"
#include "crash.hpp"

namespace strid::test {
namespace {

constexpr std::int64_t unsaved = -1;

/// It cannot be saved when it is -1.
struct Fragile {
    std::int64_t value = 0;
};
void save_state(StateWriter& writer, const Fragile& fragile) {
    if (fragile.value == unsaved) throw StateError("it is fragile");
    state::save(writer, fragile.value);
}
void load_state(StateReader& reader, Fragile& fragile) {
    state::load(reader, fragile.value);
}

/// Keeps all.
class AllSnapshots final : public SnapshotStore {
  public:
    [[nodiscard]] std::vector<std::uint64_t> numbers() const override {
        std::vector<std::uint64_t> found;
        for (const Snapshot& one : all) found.push_back(one.description.number);
        return found;
    }
    [[nodiscard]] std::optional<Snapshot> newest(const SnapshotWarning& /*warn*/,
                                                 const SnapshotFault& /*fault_of*/) const override {
        if (all.empty()) return std::nullopt;
        return all.back();
    }
    void store(const Snapshot& snapshot) override { all.push_back(snapshot); }

    std::vector<Snapshot> all;
};

/// The next record of the key makes the state of record `fragile` one that can be saved.
Graph last_numbers(const std::shared_ptr<World>& world, std::int64_t fragile) {
    Graph graph{"last numbers"};
    graph.source(NumbersInWorld(world, 0, 400, 17), {.name = "numbers", .parallelism = 1})
        .key_by<&Number::key>()
        .accumulate(Fragile{},
                    [fragile](Fragile& last, const Number& one) {
                        last.value = one.number == fragile ? unsaved : one.number;
                    },
                    Emit::every_update,
                    {.name = "last", .parallelism = 1, .on_exception = OnException::skip})
        .sink([](const Keyed<std::uint32_t, Fragile>&) {});
    return graph;
}

TEST(Snapshots, AStateThatCannotBeSavedEndsTheRun) {
    std::size_t ended = 0;
    for (const std::uint64_t seed : seeds(60)) {
        const auto world = std::make_shared<World>();
        world->begin_process(0);
        const auto store = std::make_shared<AllSnapshots>();
        RunOptions options{.mode = RunOptions::Mode::simulation, .seed = seed};
        options.snapshots.store = store;
        const auto fragile = static_cast<std::int64_t>(seed % 300);
        try {
            const RunReport report = run(last_numbers(world, fragile), options);
            EXPECT_EQ(report.find("last")->records_skipped, 0U) << "seed " << seed;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("it is fragile"), std::string::npos)
                << error.what();
            ++ended;
        }
        for (const Snapshot& one : store->all) {
            if (one.description.is_finished) continue;
            const auto from_one = std::make_shared<AllSnapshots>();
            from_one->all.push_back(one);
            options.snapshots.store = from_one;
            try {
                (void)run(last_numbers(world, 1'000), options);
            } catch (const std::exception& error) {
                ADD_FAILURE() << "seed " << seed << ": " << error.what();
            }
        }
    }
    EXPECT_GE(ended, 5U);
}

}  // namespace
}  // namespace strid::test
