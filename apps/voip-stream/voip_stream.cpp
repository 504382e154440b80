// SPDX-License-Identifier: Apache-2.0
#include "voip_stream.hpp"

#include <utility>

#include "call_generator.hpp"
#include "call_source.hpp"
#include "calls_in_order.hpp"

namespace strid::apps::voip_stream {

namespace {

/// What is made for all, by shard.
constexpr std::uint64_t part(std::uint64_t all, std::uint64_t per_line) noexcept {
    const std::uint64_t per_shard_line = shards * per_line;
    return (all + per_shard_line - 1) / per_shard_line;
}

/// A call as a row of the input.
struct WrittenCall {
    Number calling;
    Number called;
    Second start;
    std::uint32_t duration;
    std::string_view established;
};

template <class Source>
Calls calls_of(Graph& graph, Source source, const Options& options, const Endpoints& endpoints) {
    auto calls = graph.source(std::move(source), {.name = "calls", .parallelism = 1});
    const std::string path = endpoints.output_of(options.calls_path);
    if (path.empty()) return std::move(calls).apply(CallsInOrder{}, {.name = "parser"});
    auto [read, copy] = std::move(calls).template tee<2>();
    std::move(copy)
        .map(
            [](const Call& call) {
                return WrittenCall{call.calling,
                                   call.called,
                                   {call.start},
                                   call.duration,
                                   call.established ? "true" : "false"};
            },
            {.name = "rows"})
        .sink(csv_writer<WrittenCall>(path, {.writing = endpoints.writing}),
              {.name = "write-calls"});
    return std::move(read).apply(CallsInOrder{}, {.name = "parser"});
}

}  // namespace

Plan::Plan(const Options& options)
    : short_growth(static_cast<std::uint32_t>(options.short_time.count())),
      long_growth(static_cast<std::uint32_t>(options.long_time.count())),
      memory(options.memory.count()),
      // Half a number a line, and 40 pairs.
      lines((options.numbers + shards / 2 - 1) / (shards / 2)),
      pair_lines(part(options.pairs, 40)),
      numbers(static_cast<double>(options.numbers) / shards),
      pairs(static_cast<double>(options.pairs) / shards) {}

void build(Graph& graph, const Endpoints& endpoints, const Options& options) {
    const auto plan = std::make_shared<const Plan>(options);
    const auto begin = [&](auto source) -> Calls {
        return calls_of(graph, std::move(source), options, endpoints);
    };
    const auto read_or_made = [&]() -> Calls {
        if (endpoints.generate == 0) {
            return with_pace(CallSource(endpoints.input,
                                        {.on_malformed = endpoints.on_malformed,
                                         .dead_letter = endpoints.dead_letter},
                                        options.jump.count()),
                             endpoints, begin);
        }
        CallGenerator made(endpoints.generate, endpoints.seed, options.telemarketers);
        if (!options.truth_path.empty()) made.write_telemarketers(options.truth_path);
        return with_pace(std::move(made), endpoints, begin);
    };
    Calls calls = read_or_made();
    auto scores = options.form == Form::full ? full_graph(std::move(calls), options, plan)
                                             : compact_graph(std::move(calls), options, plan);
    if (options.form == Form::full && options.threshold > 0) {
        write_results<CallScore>(
            std::move(scores).filter([threshold = options.threshold](
                                         const CallScore& call) { return call.score >= threshold; },
                                     {.name = "threshold"}),
            endpoints);
    } else {
        write_results<CallScore>(std::move(scores), endpoints);
    }
}

}  // namespace strid::apps::voip_stream
