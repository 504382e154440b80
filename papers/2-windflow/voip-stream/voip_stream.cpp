// SPDX-License-Identifier: Apache-2.0
#include "voip_stream.hpp"

#include <utility>

#include <strid/base/error.hpp>

#include "call_generator.hpp"
#include "call_source.hpp"
#include "calls_in_order.hpp"
#include "sides.hpp"

namespace strid::apps::voip_stream {

namespace {

/// The objects that are made for all, by shard.
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

/// The calls go to a file, too.
Stream<Call> copied(Stream<Call> calls, const std::string& path, const Endpoints& endpoints) {
    auto [read, copy] = std::move(calls).tee<2>();
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
    return std::move(read);
}

/// The graph behind the calls.
template <class CallStream>
void score_calls(CallStream calls, const Endpoints& endpoints, const Options& options) {
    const auto plan = std::make_shared<const Plan>(options);
    auto in_order = std::move(calls).apply(CallsInOrder{}, {.name = "parser"});
    if (options.form == Form::compact) {
        write_scores(std::move(in_order)
                         .apply(Sides{plan}, {.name = "sides"})
                         .key_by(ShardOfNumber{})
                         .sealed(),
                     endpoints, options, plan);
        return;
    }
    Stream<CallScore> scores =
        options.form == Form::full
            ? full_graph(std::move(in_order), options, plan)
            : papers_graph(std::move(in_order).key_by(ShardOfCaller{}).sealed(), options, plan);
    if (options.threshold > 0) {
        write_results<CallScore>(
            std::move(scores).filter([threshold = options.threshold](
                                         const CallScore& call) { return call.score >= threshold; },
                                     {.name = "threshold"}),
            endpoints);
    } else {
        write_results<CallScore>(std::move(scores), endpoints);
    }
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
    const auto score = [&](auto source) {
        auto calls = graph.source(std::move(source), {.name = "calls", .parallelism = 1});
        const std::string path = endpoints.output_of(options.calls_path);
        if (path.empty()) {
            score_calls(std::move(calls), endpoints, options);
        } else {
            score_calls(copied(std::move(calls), path, endpoints), endpoints, options);
        }
    };
    if (endpoints.generate == 0) {
        if (!options.truth_path.empty()) {
            throw GraphError("--telemarketers-file is for calls that are made: name --generate");
        }
        return with_pace(CallSource(endpoints.input,
                                    {.on_malformed = endpoints.on_malformed,
                                     .dead_letter = endpoints.dead_letter},
                                    CallCheck(options.jump.count())),
                         endpoints, score);
    }
    CallGenerator made(endpoints.generate, endpoints.seed, options.telemarketers);
    if (!options.truth_path.empty()) made.write_telemarketers(options.truth_path);
    with_pace(std::move(made), endpoints, score);
}

}  // namespace strid::apps::voip_stream
