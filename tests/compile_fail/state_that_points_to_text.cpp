// SPDX-License-Identifier: Apache-2.0
//
// State that outlives a batch owns its text: as far as the compiler sees, which is what is
// public, at any depth.
// error: this state is kept longer than the batches
// error: this state is kept longer than the batches
// error: this state is kept longer than the batches
// error: this state is kept longer than the batches
// error: this state is kept longer than the batches
// error: windows of full content keep records longer than the batches
// error: what decides among equal times is kept
// error: the function has members that point to text
// error: the function has members that point to text
// error: the function has members that point to text
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <strid/operator/time_order.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/content.hpp>
#include <strid/window/aggregates/fold.hpp>

#include "numbers.hpp"

struct Visit {
    int user;
    std::string_view page;
};

#ifdef STRID_MUST_NOT_COMPILE
using Text = std::string_view;
#else
using Text = std::string;
#endif

struct Last {
    int visits = 0;
    struct {
        std::optional<Text> page;
    } seen;
};
struct Alarm {
    Text last;
    void operator()(const Visit& visit, strid::Timers&, auto&) { last = visit.page; }
    void on_timer(strid::EventTime, strid::Timers&, auto&) {}
    auto state() { return std::tie(last); }
};
struct Changed {
    Text last;
    bool operator()(const Visit& visit) { return std::exchange(last, visit.page) != visit.page; }
    auto state() { return std::tie(last); }
};
struct OnPage {
    Text wanted;
    strid::window::Trigger operator()(const Visit& visit) {
        wanted = visit.page;
        return strid::window::Trigger::wait;
    }
    auto state() { return std::tie(wanted); }
};
/// State may point to text that is never written, such as a literal.
struct IsPage {
    std::string_view page;
    bool operator()(const Visit& visit) const { return visit.page == page; }
};

void build(strid::Graph& graph) {
    namespace window = strid::window;
    const auto visits = [&] {
        return graph.source(Numbers{}).map([](int number) { return Visit{number, "/"}; });
    };
    const auto time_of = [](const Visit&) { return strid::EventTime::of_ns(0); };
    const auto keyed = [&] { return visits().timed_by(time_of).key_by<&Visit::user>(); };
    const auto hours = window::TimeWindows::tumbling(std::chrono::hours{1});

    keyed().accumulate(Text{}, [](Text& last, const Visit& visit) { last = visit.page; });
    keyed().accumulate(Last{}, [](Last& last, const Visit& v) { last.seen.page = Text{v.page}; });
    (void)window::fold<Visit>(std::map<Text, int>{},
                              [](auto& pages, const Visit& visit) { ++pages[Text{visit.page}]; });
    (void)window::fold<int>(std::vector<Text>{}, [](auto& texts, int) { texts.emplace_back(); });
    keyed().window(hours,
                   window::maximum<Visit>([](const Visit& visit) { return Text{visit.page}; }));
    graph.source(Numbers{})
        .map([](int) { return Text{}; })
        .key_by([](const Text& text) { return text.size(); })
        .window(window::CountWindows::tumbling(2),
                window::content<Text>([](std::span<const Text> all) { return all.size(); }));
    graph.source(Numbers{})
        .timed_by([](int number) { return strid::EventTime::of_ns(number); })
        .apply(strid::in_order_of_time([](int) { return Text{}; }));
    keyed().process<int>(Alarm{});
    keyed().filter(Changed{});
    keyed().window(window::global(OnPage{}), window::count());
    visits().filter(IsPage{"/"});
}
