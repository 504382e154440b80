// SPDX-License-Identifier: Apache-2.0
//
// A window or a join that takes another time of its records than `event_time` did: in builds that
// compare them (STRID_ASSERT_LEVEL=2) the run ends with an error of that operator.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/engine/operator/agreed_time.hpp>
#include <strid/operator/time_order.hpp>
#include <strid/stream/graph.hpp>
#include <strid/window/aggregates.hpp>

#include "../test_sources.hpp"

namespace strid {
namespace {

using namespace test;
using namespace std::chrono_literals;
using testing::HasSubstr;
using window::SessionWindows;
using window::TimeWindows;

struct Parcel {
    std::uint64_t key;
    EventTime sent;
    EventTime received;
};
struct LargeParcel : Parcel {
    std::array<char, 200> label;
};

Stream<Parcel> parcels(Graph& graph, const std::string& name) {
    return graph.source(Numbers{200}, {.name = name}).map([](std::uint64_t n) {
        const auto time = static_cast<std::int64_t>(n);
        return Parcel{n % 3, EventTime::of_ns(10 * time), EventTime::of_ns(10 * time + 7)};
    });
}
Stream<Parcel> timed(Graph& graph, const std::string& name = "parcels") {
    return parcels(graph, name)
        .event_time([](const Parcel& parcel) { return parcel.sent; }, MonotonousTime{});
}

using Build = std::function<void(Graph&)>;
/// The error that ends the run; "" if none does.
std::string error_of(const Build& build) {
    Graph graph{"times"};
    build(graph);
    try {
        run(graph);
    } catch (const OperatorError& error) {
        return error.operator_name() + ": " + error.what();
    }
    return "";
}
const auto nowhere = [](const auto&) {};
const auto windows = TimeWindows::sliding(100ns, 50ns);

void expect_differ(const Build& build) {
    EXPECT_THAT(error_of(build), AllOf(HasSubstr("taken: "), HasSubstr("that of event_time")));
}

class AgreedTime : public testing::Test {
  protected:
    void SetUp() override {
        if (!operators::compares_times) GTEST_SKIP() << "times are not compared";
    }
};

TEST_F(AgreedTime, WindowsThatTakeAnotherTimeEndTheRun) {
    expect_differ([](Graph& graph) {
        timed(graph)
            .timed_by<&Parcel::received>()
            .key_by<&Parcel::key>()
            .window(windows, window::count(), {.name = "taken"})
            .sink(nowhere);
    });
    expect_differ([](Graph& graph) {
        Stream<Parcel> some =
            timed(graph).filter([](const Parcel& parcel) { return parcel.key != 0; });
        std::move(some)
            .timed_by<&Parcel::received>()
            .key_by<&Parcel::key>()
            .window(SessionWindows::with_gap(5ns), window::count(), {.name = "taken"})
            .sink(nowhere);
    });
    expect_differ([](Graph& graph) {
        auto [left, right] = timed(graph).tee<2>();
        std::move(left).sink(nowhere);
        std::move(right)
            .rebalance()
            .timed_by<&Parcel::received>()
            .apply(in_order_of_time(), {.name = "taken"})
            .sink(nowhere);
    });
}

TEST_F(AgreedTime, SoDoSharedOnes) {
    expect_differ([](Graph& graph) {
        timed(graph)
            .timed_by<&Parcel::received>()
            .key_by<&Parcel::key>()
            .window(windows, window::count(), share::farmed, {.name = "taken"})
            .sink(nowhere);
    });
    EXPECT_THAT(error_of([](Graph& graph) {
                    timed(graph)
                        .timed_by<&Parcel::received>()
                        .key_by<&Parcel::key>()
                        .window(windows, window::count(), share::combined)
                        .sink(nowhere);
                }),
                HasSubstr("that of event_time"));
}

template <class Join, class Left, class Right>
std::string error_of_join(const Join& join, Left left, Right right) {
    return error_of([&](Graph& graph) {
        join(timed(graph, "left").timed_by(left), timed(graph, "right").timed_by(right))
            .sink(nowhere);
    });
}

TEST_F(AgreedTime, SoDoJoinsOfEitherSide) {
    const auto pair = [](const Parcel& left, const Parcel&) { return left; };
    constexpr auto key = on<&Parcel::key>();
    constexpr JoinInterval interval = within(-20ns, 20ns);
    const auto by_interval = [&](auto left, auto right) {
        return std::move(left).join(std::move(right), key, interval, pair);
    };
    const auto shared = [&](auto left, auto right) {
        return std::move(left).join(std::move(right), key, interval, pair, share::farmed);
    };
    const auto latest = [&](auto left, auto right) {
        return std::move(left).as_of(std::move(right), key, pair);
    };
    const auto expect_differ_of_either = [](const auto& join) {
        EXPECT_EQ(error_of_join(join, field<&Parcel::sent>, field<&Parcel::sent>), "");
        EXPECT_THAT(error_of_join(join, field<&Parcel::received>, field<&Parcel::sent>),
                    HasSubstr("that of event_time"));
        EXPECT_THAT(error_of_join(join, field<&Parcel::sent>, field<&Parcel::received>),
                    HasSubstr("that of event_time"));
    };
    expect_differ_of_either(by_interval);
    expect_differ_of_either(shared);
    expect_differ_of_either(latest);
}

/// Also where what the window needs is asked for before the edge
/// (engine/window/operators/lift.hpp).
TEST_F(AgreedTime, SoDoWindowsOfLargeRecords) {
    EXPECT_THAT(error_of([](Graph& graph) {
                    timed(graph)
                        .map([](const Parcel& parcel) {
                            return LargeParcel{parcel, {}};
                        })
                        .event_time([](const LargeParcel& parcel) { return parcel.sent; },
                                    MonotonousTime{})
                        .timed_by([](const LargeParcel& parcel) { return parcel.received; })
                        .key_by([](const LargeParcel& parcel) { return parcel.key; })
                        .window(windows, window::count())
                        .sink(nowhere);
                }),
                HasSubstr("that of event_time"));
}

/// The same time in other words, what is no longer known, and streams of different times in one.
TEST_F(AgreedTime, WhatAgreesOrIsNotKnownGoesOn) {
    EXPECT_EQ(error_of([](Graph& graph) {
                  timed(graph)
                      .merge(timed(graph, "others"))
                      .timed_by<&Parcel::sent>()
                      .key_by<&Parcel::key>()
                      .window(windows, window::count())
                      .sink(nowhere);
              }),
              "");
    EXPECT_EQ(error_of([](Graph& graph) {
                  Stream<Parcel> turned = timed(graph).map(
                      [](Parcel& parcel) { std::swap(parcel.sent, parcel.received); });
                  std::move(turned)
                      .timed_by<&Parcel::received>()
                      .key_by<&Parcel::key>()
                      .window(windows, window::count())
                      .sink(nowhere);
              }),
              "");
    EXPECT_EQ(error_of([&](Graph& graph) {
                  Stream<Parcel> others =
                      parcels(graph, "others").event_time<&Parcel::received>(MonotonousTime{});
                  timed(graph)
                      .merge(std::move(others))
                      .timed_by<&Parcel::sent>()
                      .key_by<&Parcel::key>()
                      .window(windows, window::count())
                      .sink(nowhere);
              }),
              "");
}

}  // namespace
}  // namespace strid
