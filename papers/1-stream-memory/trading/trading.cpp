// SPDX-License-Identifier: Apache-2.0
#include "trading.hpp"

#include <cstdint>
#include <utility>

#include <strid/operator/contract.hpp>
#include <strid/window/aggregates/content.hpp>

namespace strid::apps::trading {

namespace {

WindowOptions window_options(const Options& options) {
    return {.name = "predict", .parallelism = options.parallelism, .at_end = OpenWindows::drop};
}

class ToPrediction {
  public:
    static constexpr FunctionTraits traits{.hears = events<>, .stateless = true};

    explicit ToPrediction(const Options& options) : slide_(options.slide) {}

    Prediction operator()(const auto& result) const {
        return {result.key, result.window.start / slide_, result.value};
    }

  private:
    std::uint64_t slide_;
};

}  // namespace

Stream<Prediction> predict_by_key(Stream<Quote> quotes, const Options& options) {
    return std::move(quotes)
        .key_by<&Quote::symbol>()
        .window(window::CountWindows::sliding(options.length, options.slide),
                window::content<Quote>(options.model), window_options(options))
        .map(ToPrediction(options));
}

Stream<Prediction> predict_by_window(Stream<Quote> quotes, const Options& options) {
    return std::move(quotes)
        .key_by<&Quote::symbol>()
        .window(window::CountWindows::sliding(options.length, options.slide),
                window::content<Quote>(options.model), share::farmed, window_options(options))
        .map(ToPrediction(options), {.parallelism = 1});
}

}  // namespace strid::apps::trading
