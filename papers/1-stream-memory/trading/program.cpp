// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <memory>
#include <ranges>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/connector/paced.hpp>

#include "apps/common/any_source.hpp"
#include "apps/common/application_main.hpp"
#include "farm_sink.hpp"
#include "itch_source.hpp"
#include "made_quotes.hpp"
#include "quote_rows.hpp"
#include "writers.hpp"

namespace strid::apps::trading {

namespace {

using QuoteSource = AnySource<QuoteRows, ItchSource, MadeQuotes>;

bool reads_itch(const Endpoints& endpoints, const ProgramOptions& options) {
    return options.format == Format::itch ||
           (options.format == Format::by_content && begins_like_itch(endpoints.input));
}

QuoteSource source_of(const Endpoints& endpoints, const ProgramOptions& options,
                      const std::shared_ptr<Market>& market, bool itch) {
    if (endpoints.generate > 0) {
        return QuoteSource{MadeQuotes{endpoints.generate, endpoints.seed, market}};
    }
    if (itch) {
        return QuoteSource{
            ItchSource{endpoints.input,
                       {.policy = endpoints.on_malformed, .dead_letter = endpoints.dead_letter},
                       market}};
    }
    return QuoteSource{QuoteRows{endpoints.input,
                                 {.columns = options.columns,
                                  .on_malformed = endpoints.on_malformed,
                                  .dead_letter = endpoints.dead_letter},
                                 QuoteCheck{market}}};
}

void predict(Stream<Quote> quotes, const Endpoints& endpoints, const ProgramOptions& options,
             const std::shared_ptr<Market>& market) {
    PredictionWriter writer(endpoints.output_of(endpoints.output), endpoints.writing, market);
    if (options.memory == "engine" || options.memory == "engine-keys") {
        const auto predict = options.memory == "engine" ? predict_by_window : predict_by_key;
        predict(std::move(quotes), options.windows).sink(std::move(writer), {.name = "write"});
        return;
    }
    const FarmOptions farm{.workers = endpoints.parallelism != 0 ? endpoints.parallelism : cores(),
                           .length = options.windows.length,
                           .slide = options.windows.slide};
    std::move(quotes).sink(FarmSink{options.memory, farm, options.windows.model, std::move(writer)},
                           {.name = "predict", .parallelism = 1});
}

}  // namespace

bool begins_like_itch(const std::string& path) {
    if (path == "-" || input_may_block(path)) return false;
    try {
        constexpr int wait_ms = 100;
        char first = 1;
        ByteReader reader(path);
        const auto got = reader.read({&first, 1}, wait_ms);
        return got.status == ByteReader::Status::read && first == 0;
    } catch (const InputOutputError&) {
        return false;  // the source says why
    }
}

void build(Graph& graph, const Endpoints& endpoints, const ProgramOptions& options) {
    if (endpoints.replays()) {
        throw GraphError("trading cannot be replayed: its times would begin again");
    }
    const bool itch = endpoints.generate == 0 && reads_itch(endpoints, options);
    const bool in_ns = itch || endpoints.generate > 0;
    const auto market = std::make_shared<Market>(in_ns ? itch_decimals : options.decimals,
                                                 in_ns ? 1 : options.time_unit_ns);
    Stream<Quote> quotes =
        graph
            .source(paced(source_of(endpoints, options, market, itch), endpoints.rate_per_second),
                    {.name = "quotes"})
            .filter([](const Quote& quote) { return quote.bid != 0 && quote.ask != 0; },
                    {.name = "two-sided"});
    if (options.quotes.empty()) return predict(std::move(quotes), endpoints, options, market);
    auto twice = std::move(quotes).split(
        2, [](const Quote&) { return std::views::iota(std::size_t{0}, std::size_t{2}); });
    predict(twice.select(0), endpoints, options, market);
    twice.select(1).sink(
        QuoteWriter{endpoints.output_of(options.quotes), endpoints.writing, market},
        {.name = "write-quotes", .parallelism = 1});
}

}  // namespace strid::apps::trading
