// SPDX-License-Identifier: Apache-2.0
//
// Records that a function throws on are set aside as they came, each once and with the error, and
// the others come out. The right values are those of the numbers that do not throw.
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/stream/dead_letter.hpp>

#include "../test_sources.hpp"
#include "throwing_numbers.hpp"

namespace strid {
namespace {

using test::all_ways;
using test::bad;
using test::check;
using test::Collection;
using test::good;
using test::Numbers;
using test::sorted;

constexpr std::uint64_t count = test::number_count;

/// A record that owns its text.
struct Text {
    std::string text;
};
Text text_of(const std::uint64_t& n) {
    return {std::to_string(n)};
}

struct Letters {
    std::vector<std::string> records;
    std::vector<std::string> errors;
    auto teller() {
        return [this](const Text& record, std::string_view error) {
            records.push_back(record.text);  // without a lock: one call at a time
            errors.emplace_back(error);
        };
    }
};

void expect_letters(const Letters& letters) {
    std::vector<std::string> records;
    std::vector<std::string> errors;
    for (const std::uint64_t n : bad) {
        records.push_back(std::to_string(n));
        errors.push_back("bad " + std::to_string(n));
    }
    EXPECT_EQ(sorted(letters.records), sorted(records));
    EXPECT_EQ(sorted(letters.errors), sorted(errors));
}

TEST(DeadLetters, HaveTheRecordAsItCame) {
    const auto by_constant = [](const Text& t) { return check(std::stoull(t.text)), t; };
    const auto by_value = [](Text t) { return check(std::stoull(t.text)), t; };
    const auto by_move = [](Text&& t) {
        Text mine = std::move(t);
        check(std::stoull(mine.text));
        return mine;
    };
    const auto in_place = [](Text& t) {
        const std::uint64_t n = std::stoull(t.text);
        t.text = "half changed";
        check(n);
        t.text = std::to_string(n);
    };
    const auto generic = [](auto& t) {
        const std::uint64_t n = std::stoull(t.text);
        t.text += "?";
        check(n);
        t.text.pop_back();
    };
    const auto expect = [](const auto& function) {
        for (const auto& way : all_ways()) {
            SCOPED_TRACE(way.name);
            Letters letters;
            Collection<std::string> taken;
            Graph graph{"letters"};
            graph.source(Numbers{count})
                .map(text_of)
                .rebalance()
                .map(dead_letter<Text>(function, letters.teller()), {.name = "broken"})
                .rebalance()
                .sink([&taken](const Text& t) { taken.add(t.text); });
            const RunReport report = run(graph, way.options);
            std::vector<std::string> expected;
            for (const std::uint64_t n : good) expected.push_back(std::to_string(n));
            EXPECT_EQ(sorted(taken.take()), sorted(expected));
            EXPECT_EQ(report.find("broken")->records_skipped, bad.size());
            expect_letters(letters);
        }
    };
    expect(by_constant);
    expect(by_value);
    expect(by_move);
    expect(in_place);
    expect(generic);
}

struct Processing {
    static constexpr FunctionTraits traits{.hears = events<>, .sets_no_timers = true};
    void operator()(const Text& t, Timers&, Emitter<int>& emit) const {
        check(std::stoull(t.text));
        emit(1);
    }
};

TEST(DeadLetters, AreOfEveryOperatorByRecord) {
    Letters letters;
    Graph graph{"letters"};
    const auto checks = [](const Text& t) { check(std::stoull(t.text)); };
    const auto last = [](std::uint64_t& state, const Text& t) {
        check(std::stoull(t.text));
        ++state;
    };
    const auto emitting = [](const Text& t, auto& emit) {
        check(std::stoull(t.text));
        emit(1);
    };
    auto all = graph.source(Numbers{count}).map(text_of).split(5, [](const Text&) {
        return std::array{0, 1, 2, 3, 4};
    });
    const auto ignore = [](const auto&) {};
    const auto length = [](const Text& t) { return t.text.size(); };
    all.select(0).sink(dead_letter<Text>(checks, letters.teller()), {.name = "0"});
    all.select(1)
        .filter(dead_letter<Text>([](const Text& t) { return check(std::stoull(t.text)), true; },
                                  letters.teller()),
                {.name = "1"})
        .sink(ignore);
    all.select(2)
        .key_by(length)
        .accumulate(std::uint64_t{0}, dead_letter<Text>(last, letters.teller()), Emit::every_update,
                    {.name = "2"})
        .sink(ignore);
    all.select(3)
        .key_by(length)
        .process<int>(dead_letter<Text>(Processing{}, letters.teller()), {.name = "3"})
        .sink(ignore);
    all.select(4)
        .key_by(length)
        .flat_map<int>(dead_letter<Text>(emitting, letters.teller()), {.name = "4"})
        .sink(ignore);
    const RunReport report = run(graph, {.workers = 1});  // one thread: five operators, one list
    for (const char* name : {"0", "1", "2", "3", "4"}) {
        EXPECT_EQ(report.find(name)->records_skipped, bad.size()) << name;
    }
    EXPECT_EQ(letters.records.size(), 5 * bad.size());
}

TEST(DeadLetters, ThatThrowEndTheRun) {
    Graph graph{"letters"};
    const auto fail_to_write = [](const std::uint64_t&, std::string_view) {
        throw std::runtime_error("the disk is full");
    };
    graph.source(Numbers{count})
        .map(dead_letter<std::uint64_t>([](const std::uint64_t& n) { return check(n), n; },
                                        fail_to_write),
             {.name = "broken"})
        .sink([](std::uint64_t) {});
    try {
        run(graph);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const OperatorError& error) {
        EXPECT_STREQ(error.what(), "operator 'broken': the disk is full");
    }
}

}  // namespace
}  // namespace strid
