// SPDX-License-Identifier: Apache-2.0
#include "variants.hpp"

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include <trading/memories.hpp>
#include <trading/trading.hpp>

#include <strid/base/clock.hpp>
#include <strid/operator/source.hpp>
#include <strid/stream/graph.hpp>

namespace strid::bench {

namespace {

using apps::trading::Prediction;
using apps::trading::Quote;

template <class Carrier, class ResultMemory>
void run_farm(const Run& run) {
    const auto take = [&run](const Prediction& prediction) { run.answer.take(prediction); };
    apps::trading::Farm<Carrier, ResultMemory, apps::trading::PriceModel, decltype(take)> farm(
        run.options, run.model, take);
    apps::trading::Patience patience;
    while (!run.driver.finished()) {
        const std::size_t due = run.driver.due(now_ns());
        if (due == 0) {
            farm.flush();
            patience.wait();
            continue;
        }
        patience.reset();
        for (std::size_t i = 0; i != due; ++i) {
            farm.emit(run.feed.front());
            run.feed.pop();
        }
        run.driver.sent(due);
    }
    farm.finish();
}

/// The feed as a source of the engine.
struct DrivenSource {
    using record_type = Quote;
    static constexpr SourceTraits traits{.hears = events<>, .has = Has::wake_at_ns};
    static constexpr std::int64_t patience_ns = 50'000;

    Feed* feed;
    Driver* driver;
    std::int64_t wake_at = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        std::size_t done = 0;
        while (done < budget) {
            if (driver->finished()) return SourceStatus::finished;
            const std::int64_t now = now_ns();
            const std::size_t due = driver->due(now);
            if (due == 0) {
                wake_at = now + patience_ns;
                return SourceStatus::idle;
            }
            bool go_on = true;
            std::size_t sent = 0;
            for (; go_on && sent != due; ++sent) {
                go_on = emit(feed->front());
                feed->pop();
            }
            driver->sent(sent);
            done += sent;
            if (!go_on) break;
        }
        return SourceStatus::more;
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return wake_at; }
    auto state() { return std::tie(wake_at); }
};

using Predict = Stream<Prediction> (*)(Stream<Quote>, const apps::trading::Options&);

template <Predict predict>
void run_engine(const Run& run) {
    Graph graph{"trading"};
    predict(graph.source(DrivenSource{&run.feed, &run.driver}),
            {run.options.length, run.options.slide, run.model, run.options.workers})
        .sink([answer = &run.answer](const Prediction& prediction) { answer->take(prediction); },
              {.parallelism = 1});
    strid::run(graph);
}

}  // namespace

const std::vector<Variant>& variants() {
    static const std::vector<Variant> all = [] {
        std::vector<Variant> found;
        apps::trading::for_each_memory(
            [&found]<class Memory>(std::string_view name, std::string_view what, Memory) {
                found.push_back(
                    {name, what, run_farm<typename Memory::Carrier, typename Memory::Results>});
            });
        found.push_back({"engine", "this engine's graph: parallel windows",
                         run_engine<apps::trading::predict_by_window>});
        found.push_back({"engine-keys", "this engine's graph: key partitioning",
                         run_engine<apps::trading::predict_by_key>});
        return found;
    }();
    return all;
}

const Variant& variant_named(std::string_view name) {
    for (const Variant& one : variants()) {
        if (one.name == name) return one;
    }
    std::string names;
    for (const Variant& one : variants()) names.append(" ").append(one.name);
    throw std::invalid_argument("no variant " + std::string(name) + "; there are:" + names);
}

}  // namespace strid::bench
