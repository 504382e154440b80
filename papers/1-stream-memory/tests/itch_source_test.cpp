// SPDX-License-Identifier: Apache-2.0
//
// The place of the source of ITCH messages, which a snapshot or a stop stores between any two
// polls: also while a run that goes on passes the messages of the run before.
#include "../trading/itch_source.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include <strid/memory/text_arena.hpp>

#include "tests/support/folder.hpp"

namespace strid::apps::trading {
namespace {

constexpr std::uint64_t count = 20;

/// Messages without a quote: those of the system.
std::string messages() {
    std::string all;
    for (std::uint64_t i = 0; i != count; ++i) {
        const std::string message = 'S' + std::string(11, '\0');
        all += '\0';
        all += static_cast<char>(message.size());
        all += message;
    }
    return all;
}

struct OwnTask final : runtime::Task {
    OwnTask() : Task("source") {}
    runtime::StepResult step(std::int64_t& /*clock_ns*/) override {
        return runtime::StepResult::waiting;
    }
};
struct TakesQuotes {
    bool operator()(Quote&& /*quote*/) { return true; }
    void ingress_at(std::int64_t /*ns*/) {}
    void count_malformed(std::uint64_t /*messages*/) {}
};

TEST(ItchSource, GoesBackToNoEarlierPlace) {
    const test::Folder folder;
    const std::string path = folder.write("day.itch", messages());
    for (std::uint64_t before = 0; before <= count; ++before) {
        const auto market = std::make_shared<Market>(itch_decimals, 1);
        ItchSource source(path, {.policy = OnMalformed::skip}, market);
        OwnTask task;
        const Context context{"quotes"};
        source.on(Opened{context, task});
        std::get<0>(source.state()) = before;
        source.on(Restored{});
        TakesQuotes emit;
        std::uint64_t place = before;
        SourceStatus status{};
        do {
            status = source.poll(emit, 1);
            EXPECT_GE(std::get<0>(source.state()), place) << "behind " << before;
            place = std::get<0>(source.state());
        } while (status != SourceStatus::finished);
        EXPECT_EQ(place, count);
    }
}

}  // namespace
}  // namespace strid::apps::trading
