// SPDX-License-Identifier: Apache-2.0
//
// Two streams of different types in one function by key, with timers: against the obvious
// sequential computation.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/stream/connect.hpp>

#include "../../support/folder.hpp"
#include "../test_sources.hpp"
#include "../windows.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;

struct Order {
    std::uint32_t number;
    EventTime time;
};
struct Payment {
    EventTime time;
    std::uint32_t order;
};

constexpr Duration term = 100ns;
constexpr Duration disorder = 50ns;

enum class Fate : std::uint8_t { paid, unpaid, unordered };

struct Verdict {
    std::uint32_t number;
    Fate fate;
    EventTime time;
    friend auto operator<=>(const Verdict&, const Verdict&) = default;
};

constexpr bool pays(EventTime payment, EventTime order) {
    return payment >= order && payment < order + term;
}

/// A payment between the order's time and the end of its term pays it. A record without a partner
/// is reported when no partner can come any more.
struct Pay {
    std::optional<Order> order;
    std::optional<Payment> payment;

    void operator()(const Order& one, Timers& timers, Emitter<Verdict>& emit) {
        order = one;
        timers.at(one.time + term);
        meet(timers, emit);
    }
    void operator()(const Payment& one, Timers& timers, Emitter<Verdict>& emit) {
        payment = one;
        timers.at(one.time + 1ns);
        meet(timers, emit);
    }
    void on_timer(EventTime time, Timers& timers, Emitter<Verdict>& emit) {
        if (order && order->time + term == time) {
            emit({order->number, Fate::unpaid, time});
            order.reset();
        }
        if (payment && payment->time + 1ns == time) {
            emit({payment->order, Fate::unordered, payment->time});
            payment.reset();
        }
        if (!order && !payment) timers.forget_key();
    }

  private:
    void meet(Timers& timers, Emitter<Verdict>& emit) const {
        if (!order || !payment || !pays(payment->time, order->time)) return;
        emit({order->number, Fate::paid, payment->time});
        timers.forget_key();
    }
};

struct Trade {
    std::vector<Order> orders;
    std::vector<Payment> payments;
    std::vector<Verdict> verdicts;  // sorted
};

/// Orders and payments of which some are missing, early or too late, out of order by less than the
/// bounded disorder.
Trade random_trade(std::uint64_t seed) {
    std::mt19937_64 random{seed};
    const auto up_to = [&random](std::int64_t limit) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit + 1));
    };
    const std::uint32_t count = test::perturbed ? 300 : 2'000;
    Trade trade;
    for (std::uint32_t number = 0; number != count; ++number) {
        const EventTime ordered = at(number * 7 + up_to(20));
        const EventTime paid = ordered + Duration{up_to(180) - 40};
        const bool has_order = up_to(9) != 0;
        const bool has_payment = up_to(4) != 0;
        if (has_order) trade.orders.push_back({number, ordered});
        if (has_payment) trade.payments.push_back({paid, number});
        if (has_order && has_payment && pays(paid, ordered)) {
            trade.verdicts.push_back({number, Fate::paid, paid});
            continue;
        }
        if (has_order) trade.verdicts.push_back({number, Fate::unpaid, ordered + term});
        if (has_payment) trade.verdicts.push_back({number, Fate::unordered, paid});
    }
    const auto shuffle = [&](auto& records) {
        std::vector<std::pair<std::int64_t, std::size_t>> places;
        for (std::size_t i = 0; i != records.size(); ++i) {
            places.emplace_back(records[i].time.ns() + up_to(disorder.count()), i);
        }
        std::sort(places.begin(), places.end());
        auto shuffled = records;
        for (std::size_t i = 0; i != places.size(); ++i) shuffled[i] = records[places[i].second];
        records = std::move(shuffled);
    };
    shuffle(trade.orders);
    shuffle(trade.payments);
    std::sort(trade.verdicts.begin(), trade.verdicts.end());
    return trade;
}

template <class Record>
auto timed(Graph& graph, const std::vector<Record>& records) {
    return graph.source(replay(records))
        .template event_time<&Record::time>(BoundedDisorder{disorder});
}

template <class T>
std::vector<T> sorted(std::vector<T> records) {
    std::sort(records.begin(), records.end());
    return records;
}

TEST(Connect, OrdersAndPaymentsMeetByKeyOrByTimer) {
    std::array<std::size_t, 3> fates{};
    for (const std::uint64_t seed : test::seeds(36)) {
        const Trade trade = random_trade(seed);
        for (const Verdict& one : trade.verdicts) ++fates[static_cast<std::size_t>(one.fate)];
        Graph graph{"trade"};
        auto verdicts = std::make_shared<Collected<Verdict>>();
        connect(timed(graph, trade.orders), timed(graph, trade.payments),
                on<&Order::number, &Payment::order>())
            .process<Verdict>(Pay{}, {.name = "pay"})
            .sink(collect_into(verdicts));
        const RunReport report = run(graph, run_options(seed));
        ASSERT_EQ(sorted(verdicts->records()), trade.verdicts) << "seed " << seed;
        ASSERT_EQ(report.find("pay")->records_in, trade.orders.size() + trade.payments.size());
    }
    for (const std::size_t count : fates) EXPECT_NE(count, 0U);
}

/// The rate of a currency that came last, for what is asked of it: no timer, and so no time.
struct Convert {
    static constexpr FunctionTraits traits{.hears = events<Opened>, .sets_no_timers = true};

    std::int64_t rate = 0;
    std::string name = {};

    void on(const Opened& opened) { name = opened.context.name; }
    void operator()(const Order& question, Timers& timers, auto& emit) {
        EXPECT_EQ(name, "convert");
        emit(question.time.ns() * rate);
        timers.forget_key();
    }
    void operator()(const Payment& one, Timers&, auto& emit) {
        rate = one.time.ns();
        emit(rate);
    }
    auto state() { return std::tie(rate); }
};

TEST(Connect, NeedsNoTimeWithoutTimers) {
    for (const auto& way : test::all_ways()) {
        if (way.options.mode == RunOptions::Mode::simulation) continue;  // it has no doors
        SCOPED_TRACE(way.name);
        Graph graph{"rates"};
        auto [questions, question_stream] = graph.inlet<Order>();
        auto [rates, rate_stream] = graph.inlet<Payment>();
        auto outlet =
            connect(std::move(question_stream), std::move(rate_stream),
                    on([](const Order& one) { return one.number; }, field<&Payment::order>))
                .process<std::int64_t>(Convert{}, {.name = "convert"})
                .outlet();
        Running running = start(graph, way.options);
        for (std::uint32_t key = 0; key != 3; ++key) {
            ASSERT_TRUE(rates.push({at(key + 10), key}));
            EXPECT_EQ(outlet.pop(), key + 10);
            ASSERT_TRUE(questions.push({key, at(5)}));
            EXPECT_EQ(outlet.pop(), 5 * (key + 10));
            ASSERT_TRUE(questions.push({key, at(5)}));
            EXPECT_EQ(outlet.pop(), 0) << "the key was forgotten";
        }
        questions.close();
        rates.close();
        EXPECT_FALSE(outlet.pop());
        running.wait();
    }
}

/// An order that is not paid within a time of the clock. Even ones have hardly any; odd ones a day,
/// and are paid.
struct Reminder {
    std::uint32_t number = 0;
    ProcessingTime due = {};

    void operator()(const Order& order, Timers& timers, Emitter<std::uint32_t>& emit) {
        number = order.number;
        due = timers.now() + (number % 2 == 0 ? Duration{1ms} : Duration{24h});
        timers.at(due);
        emit(1'000 + number);
    }
    void operator()(const Payment& payment, Timers& timers, Emitter<std::uint32_t>& emit) {
        EXPECT_EQ(payment.order, number);
        timers.cancel(due);
        emit(2'000 + number);
    }
    void on_timer(ProcessingTime time, Timers& timers, Emitter<std::uint32_t>& emit) {
        EXPECT_EQ(time, due);
        EXPECT_GE(timers.now(), due);
        emit(number);
        timers.forget_key();
    }
};

TEST(Connect, TimersOfTheClockFireThoughNothingComes) {
    Graph graph{"reminders"};
    auto [orders, order_stream] = graph.inlet<Order>();
    auto [payments, payment_stream] = graph.inlet<Payment>();
    auto outlet = connect(std::move(order_stream), std::move(payment_stream),
                          on<&Order::number, &Payment::order>())
                      .process<std::uint32_t>(Reminder{})
                      .outlet();
    Running running = start(graph, {.workers = 2});
    for (std::uint32_t number = 0; number != 8; ++number) {
        ASSERT_TRUE(orders.push({number, at(0)}));
        EXPECT_EQ(outlet.pop(), 1'000 + number);
        if (number % 2 == 0) {
            EXPECT_EQ(outlet.pop(), number);
        } else {
            ASSERT_TRUE(payments.push({at(0), number}));
            EXPECT_EQ(outlet.pop(), 2'000 + number);
        }
    }
    orders.close();
    payments.close();
    EXPECT_FALSE(outlet.pop());
    running.wait();
}

// ---- text --------------------------------------------------------------------------------------

struct Page {
    std::string_view visitor;
    std::int64_t number;
};
struct Name {
    std::string_view visitor, name;
};
struct Visits {
    static constexpr FunctionTraits traits{.hears = events<>, .sets_no_timers = true};
    std::string name;
    std::int64_t sum = 0;
    void operator()(const Page& page, Timers& timers, auto& emit) {
        add(page.number, timers, emit);
    }
    void operator()(const Name& one, Timers& timers, auto& emit) {
        name = one.name;
        add(0, timers, emit);
    }
    void add(std::int64_t number, Timers& timers, auto& emit) {
        sum += number;
        // Each visitor has the numbers 1 to 4.
        if (name.empty() || sum != 10) return;
        emit(name);
        timers.forget_key();
    }
    auto state() { return std::tie(name, sum); }
};

/// Text fields, also those of keys, are valid during the call: chunks are so small that they are
/// used again soon.
TEST(Connect, RecordsWithText) {
    const int visitors = test::perturbed ? 200 : 1'000;
    const test::Folder folder;
    std::string pages;
    for (int i = 0; i != 4 * visitors; ++i) {
        pages += "visitor-" + std::to_string(i % visitors) + ',' +
                 std::to_string(i / visitors + 1) + '\n';
    }
    std::string names;
    std::vector<std::string> expected;
    for (int i = 0; i != visitors; ++i) {
        expected.push_back("the name of visitor " + std::to_string(i));
        names += "visitor-" + std::to_string(i) + ',' + expected.back() + '\n';
    }
    const std::string page_file = folder.write("pages.csv", pages);
    const std::string name_file = folder.write("names.csv", names);
    std::sort(expected.begin(), expected.end());
    CsvOptions options;
    options.text.chunk_bytes = 2 << 10;
    for (const std::uint64_t seed : test::seeds(6)) {
        Graph graph{"visitors"};
        auto done = std::make_shared<Collected<std::string>>();
        connect(graph.source(csv_file<Page>(page_file, options)),
                graph.source(csv_file<Name>(name_file, options)),
                on<&Page::visitor, &Name::visitor>())
            .process<std::string>(Visits{})
            .sink(collect_into(done));
        run(graph, run_options(seed));
        ASSERT_EQ(sorted(done->records()), expected) << "seed " << seed;
    }
}

// ---- what is refused ---------------------------------------------------------------------------

TEST(Connect, WhatItRefuses) {
    Graph graph{"one"};
    Graph other{"other"};
    const Trade trade = random_trade(1);
    EXPECT_THROW((void)connect(timed(graph, trade.orders), timed(other, trade.payments),
                               on<&Order::number, &Payment::order>())
                     .process<Verdict>(Pay{}),
                 GraphError);
    Graph timeless{"timeless"};
    connect(timed(timeless, trade.orders), timeless.source(replay(trade.payments)),
            on<&Order::number, &Payment::order>())
        .process<Verdict>(Pay{})
        .sink([](const Verdict&) {});
    EXPECT_THROW((void)run(timeless), GraphError);
}

}  // namespace
}  // namespace strid
