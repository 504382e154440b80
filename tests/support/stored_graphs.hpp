// SPDX-License-Identifier: Apache-2.0
//
// Graphs whose state by key is partly in a store, beside the same graphs with all of it in memory:
// the rows are the same, one by one. A few keys have most of the records.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/connector/collect.hpp>
#include <strid/connector/replay.hpp>
#include <strid/operator/stored_keys.hpp>
#include <strid/strid.hpp>
#include <strid/window/stored_process.hpp>
#include <strid/window/timers.hpp>

#include "seeds.hpp"

namespace strid::test {

struct Payment {
    std::string payer;
    EventTime time;
    std::int64_t amount;
    friend auto operator<=>(const Payment&, const Payment&) = default;
};

/// Payers by Zipf's law with exponent 1, about.
inline std::vector<Payment> payments(std::uint64_t seed, std::size_t count, double payers) {
    std::mt19937_64 random(seed);
    std::vector<Payment> made;
    std::int64_t now = 0;
    for (std::size_t i = 0; i != count; ++i) {
        const double uniform = std::uniform_real_distribution<double>(0, 1)(random);
        const auto rank = static_cast<std::uint64_t>(std::pow(payers, uniform));
        now += static_cast<std::int64_t>(random() % 20);
        made.push_back({"payer " + std::to_string(rank), EventTime::of_ns(now),
                        static_cast<std::int64_t>(random() % 1'000)});
    }
    return made;
}

/// A state that owns memory.
struct Last {
    static constexpr FunctionTraits traits{.hears = events<>};
    Payment operator()(const Payment& one) {
        amounts.push_back(one.amount);
        if (amounts.size() > 8) amounts.erase(amounts.begin());
        std::int64_t sum = 0;
        for (const std::int64_t amount : amounts) sum += amount;
        return {one.payer, one.time, sum};
    }
    auto state() { return std::tie(amounts); }
    std::vector<std::int64_t> amounts;
};

/// Gives the number of payments when there was none for a while; some payers are forgotten then.
/// The rows do not depend on whether a timer fires before the next payment.
struct Pauses {
    static constexpr FunctionTraits traits{.hears = events<>};
    void operator()(const Payment& one, Timers& timers, auto& emit) {
        if (payments_since != 0) {
            timers.cancel(due);
            if (due <= one.time) (void)pause(emit);
        }
        payer = one.payer;
        ++payments;
        ++payments_since;
        due = one.time + Duration{400};
        timers.at(due);
        emit(Payment{payer, one.time, payments});
    }
    void on_timer(EventTime, Timers& timers, auto& emit) {
        if (pause(emit)) timers.forget_key();
    }
    auto state() { return std::tie(payer, payments, payments_since, due); }

    std::string payer;
    std::int64_t payments = 0;
    std::int64_t payments_since = 0;  // the last pause
    EventTime due = {};

  private:
    bool pause(auto& emit) {
        emit(Payment{payer, due, -payments});
        payments_since = 0;
        const bool forgets = payments % 3 == 0;
        if (forgets) payments = 0;
        return forgets;
    }
};

constexpr auto added = [](const Payment& a, const Payment& b) {
    return Payment{b.payer, b.time, a.amount + b.amount};
};
constexpr auto add_to = [](std::int64_t& sum, const Payment& one) { sum += one.amount; };

/// The rows of each operator, with keys that are kept so.
template <class Life>
std::vector<std::vector<Payment>> rows_of(const std::vector<Payment>& payments, const Life& life,
                                          const RunOptions& options) {
    std::vector<std::shared_ptr<Collected<Payment>>> rows;
    Graph graph{"payments"};
    const auto source = [&](const std::string& name) {
        return graph.source(replay(payments), {.name = name, .parallelism = 1})
            .template event_time<&Payment::time>(MonotonousTime{}, {.name = "time of " + name})
            .template key_by<&Payment::payer>(life);
    };
    const auto end = [&](auto stream) {
        rows.push_back(std::make_shared<Collected<Payment>>());
        std::move(stream).sink(collect_into(rows.back()), {.parallelism = 1});
    };
    const auto row = [](const auto& keyed) {
        return Payment{std::string(keyed.key), {}, keyed.value};
    };
    end(source("a").map(Last{}, {.name = "map"}));
    end(source("b").reduce(added, {.name = "reduce"}));
    end(source("c").template process<Payment>(Pauses{}, {.name = "process"}));
    end(source("d")
            .accumulate(std::int64_t{0}, add_to, Emit::every_update, {.name = "accumulate"})
            .map(row));
    end(source("e").accumulate(std::int64_t{0}, add_to, Emit::at_end, {.name = "at end"}).map(row));
    (void)run(graph, options);
    std::vector<std::vector<Payment>> all;
    for (const auto& one : rows) {
        all.push_back(one->records());
        std::stable_sort(all.back().begin(), all.back().end(), [](const auto& a, const auto& b) {
            return a.payer < b.payer;  // the order of the records of a payer stays
        });
    }
    return all;
}

template <class MakeStores>
void graphs_agree(std::uint64_t cases, const MakeStores& make_stores) {
    for (const std::uint64_t seed : seeds(cases)) {
        std::mt19937_64 random(seed);
        const auto made = payments(seed, 3'000, 1'000);
        RunOptions options;
        options.seed = seed;
        options.parallelism = 1 + random() % 3;
        if (random() % 2 == 0) options.mode = RunOptions::Mode::simulation;
        const auto expected = rows_of(made, KeepKeys{}, options);
        const auto found =
            rows_of(made, keep_in_memory(1 + random() % 8'000, make_stores()), options);
        ASSERT_EQ(found, expected) << "seed " << seed;
    }
}

}  // namespace strid::test
