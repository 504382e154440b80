// SPDX-License-Identifier: Apache-2.0
//
// Calendar windows in a graph, by key and shared, against the days of New York counted by hand.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/base/time_zone.hpp>
#include <strid/connector/replay.hpp>
#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

namespace strid {
namespace {

using namespace std::chrono_literals;
using window::CalendarSpan;
using window::TimeWindows;

struct Sale {
    std::uint32_t key;
    EventTime time;
    std::int64_t amount;
};

using Sums = std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, std::int64_t>;

/// From March to November 2011, a few days out of order.
std::vector<Sale> sales() {
    std::mt19937_64 random(7);
    std::vector<Sale> result;
    const auto begin = std::chrono::sys_days{std::chrono::year{2011} / 3 / 1}.time_since_epoch();
    for (int i = 0; i < 2'000; ++i) {
        const auto hours = std::chrono::hours{i * 3 + static_cast<int>(random() % 60)};
        result.push_back({static_cast<std::uint32_t>(random() % 5), EventTime{begin + hours},
                          static_cast<std::int64_t>(random() % 100)});
    }
    return result;
}

// The clocks of New York in 2011: five hours behind UTC, four from 13 March, 07:00 UTC, to 6
// November, 06:00 UTC.
using Days = std::chrono::local_days;
using std::chrono::days;

std::chrono::sys_time<std::chrono::hours> midnight_of(Days day) {
    using namespace std::chrono;
    const bool summer = day > local_days{2011y / March / 13} && day <= local_days{2011y / 11 / 6};
    return sys_days{day.time_since_epoch()} + hours{summer ? 4 : 5};
}
Days day_of(EventTime time) {
    using namespace std::chrono;
    auto day = Days{floor<days>(nanoseconds{time.ns()} - 5h)};
    return midnight_of(day + days{1}).time_since_epoch() <= nanoseconds{time.ns()} ? day + days{1}
                                                                                   : day;
}

/// The first day of each window that a day is in, and the one behind its last.
using Spans = std::vector<std::pair<Days, Days>>;
Spans day_by_day(Days day) {
    return {{day, day + days{1}}};
}
Spans months(Days day) {
    const std::chrono::year_month_day date{day};
    const auto first = date.year() / date.month() / 1;
    return {{Days{first}, Days{first + std::chrono::months{1}}}};
}
Spans seven_days_every_day(Days day) {
    Spans spans;
    for (int back = 0; back != 7; ++back) {
        spans.emplace_back(day - days{back}, day - days{back} + days{7});
    }
    return spans;
}
Spans mondays(Days day) {
    if (std::chrono::weekday{day} != std::chrono::Monday) return {};
    return day_by_day(day);
}

Sums expected(Spans (*spans_of)(Days)) {
    Sums sums;
    const auto ns = [](Days day) {
        return std::chrono::nanoseconds{midnight_of(day).time_since_epoch()}.count();
    };
    for (const Sale& sale : sales()) {
        for (const auto& [first, end] : spans_of(day_of(sale.time))) {
            sums[{sale.key, ns(first), ns(end)}] += sale.amount;
        }
    }
    return sums;
}

template <class Share>
Sums computed(const Share& share) {
    Graph graph{"calendar"};
    auto sums = std::make_shared<Sums>();
    auto mutex = std::make_shared<std::mutex>();
    auto stream = graph.source(replay(sales())).event_time<&Sale::time>(BoundedDisorder{72h});
    share(std::move(stream)).sink([sums, mutex](const auto& result) {
        const std::lock_guard lock(*mutex);
        (*sums)[{result.key, result.window.start.ns(), result.window.end.ns()}] += result.value;
    });
    static_cast<void>(run(graph, {.parallelism = 3}));
    return *sums;
}

constexpr auto by_key = [](const Sale& sale) { return sale.key; };
const auto amounts = window::sum<&Sale::amount>();

TEST(CalendarWindows, AreTheSameInEveryDistribution) {
    const auto zone = TimeZone::named("America/New_York");
    const CalendarSpan day{1, CalendarSpan::Unit::day};
    const CalendarSpan week{1, CalendarSpan::Unit::week};
    const std::pair<TimeWindows, Spans (*)(Days)> cases[] = {
        {TimeWindows::days(zone), day_by_day},
        {TimeWindows::months(zone), months},
        {TimeWindows::calendar(week, day, zone), seven_days_every_day},
        {TimeWindows::calendar(day, week, zone), mondays}};
    for (const auto& [windows, spans_of] : cases) {
        const Sums sums = expected(spans_of);
        EXPECT_EQ(sums, computed([&](auto stream) {
                      return std::move(stream).key_by(by_key).window(windows, amounts);
                  }));
        EXPECT_EQ(sums, computed([&](auto stream) {
                      return std::move(stream).key_by(by_key).window(windows, amounts,
                                                                     share::farmed);
                  }));
        EXPECT_EQ(sums, computed([&](auto stream) {
                      return std::move(stream).key_by(by_key).window(windows, amounts,
                                                                     share::paned);
                  }));
        EXPECT_EQ(sums, computed([&](auto stream) {
                      return std::move(stream).key_by(by_key).window(windows, amounts,
                                                                     share::combined);
                  }));
    }
}

TEST(CalendarWindows, AreNotForMapReduce) {
    Graph graph{"calendar"};
    auto stream = graph.source(replay(sales())).event_time<&Sale::time>(BoundedDisorder{72h});
    EXPECT_THROW(static_cast<void>(std::move(stream).key_by(by_key).window(
                     TimeWindows::months(), amounts, share::map_reduce)),
                 GraphError);
}

}  // namespace
}  // namespace strid
