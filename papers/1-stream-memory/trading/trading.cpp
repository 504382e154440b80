// SPDX-License-Identifier: Apache-2.0
#include "trading.hpp"

#include <utility>

#include <strid/window/aggregates/content.hpp>

namespace strid::apps::trading {

namespace {

WindowOptions window_options(const Options& options) {
    return {.name = "predict", .parallelism = options.parallelism, .at_end = OpenWindows::drop};
}

auto to_prediction(const Options& options) {
    return [slide = options.slide](const auto& result) {
        return Prediction{result.key, result.window.start / slide, result.value};
    };
}

}  // namespace

Stream<Prediction> predict_by_key(Stream<Quote> quotes, const Options& options) {
    return std::move(quotes)
        .key_by<&Quote::symbol>()
        .window(window::CountWindows::sliding(options.length, options.slide),
                window::content<Quote>(options.model), window_options(options))
        .map(to_prediction(options));
}

Stream<Prediction> predict_by_window(Stream<Quote> quotes, const Options& options) {
    return std::move(quotes)
        .key_by<&Quote::symbol>()
        .window(window::CountWindows::sliding(options.length, options.slide),
                window::content<Quote>(options.model), share::farmed, window_options(options))
        .map(to_prediction(options), {.parallelism = 1});
}

}  // namespace strid::apps::trading
