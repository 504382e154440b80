// SPDX-License-Identifier: Apache-2.0
//
// voip-stream: calls come in; out goes for each how much its caller behaves like a telemarketer.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <strid/stream/graph.hpp>

#include "apps/common/endpoints.hpp"
#include "call.hpp"
#include "growth.hpp"

namespace strid::apps::voip_stream {

enum class Filters : std::uint8_t { bloom, exact };
enum class Form : std::uint8_t {
    compact,  ///< all features of a caller in one operator
    full,     ///< an operator for each feature, as figure 11 of paper 2 has it
    paper     ///< the operators whose blocks table 3 of paper 2 counts, none of them chained
};

struct Options {
    Filters filters = Filters::bloom;
    Form form = Form::compact;
    std::uint64_t numbers = 100'000;  ///< That the filters are made for.
    std::uint64_t pairs = 1'000'000;  ///< In a generation.
    std::chrono::seconds short_time = std::chrono::hours{6};
    std::chrono::seconds long_time = std::chrono::hours{24};
    std::chrono::seconds memory = std::chrono::hours{24 * 7};  ///< Of pairs: a generation.
    std::chrono::seconds jump = std::chrono::hours{24 * 30};
    double threshold = 0;         ///< Calls with a score below it are left out.
    double telemarketers = 0.01;  ///< Share of the numbers that are made.
    std::string calls_path = {};  ///< The calls go there, too; empty: they do not.
    std::string truth_path = {};  ///< The telemarketers that are made.
};

/// The values that are the same for all shards and replicas. Immutable.
struct Plan {
    explicit Plan(const Options& options);

    Growth short_growth;
    Growth long_growth;
    std::int64_t memory;
    std::uint64_t lines;       ///< of a filter of numbers, by shard
    std::uint64_t pair_lines;  ///< of a generation of pairs, by shard
    double numbers;            ///< that a shard is made for
    double pairs;
};
using SharedPlan = std::shared_ptr<const Plan>;

/// The results of the operator `parser` for the calls: established ones, in their order.
using Calls = Stream<TimedCall>;
/// The same by the shard of the caller.
using CallsOfCallers = decltype(std::declval<Calls>().key_by(ShardOfCaller{}).sealed());
/// The results of the operator `sides` for those.
using CallSides = decltype(std::declval<Stream<Side>>().key_by(ShardOfNumber{}).sealed());

/// The rest of the compact graph, with the writer.
void write_scores(CallSides sides, const Endpoints& endpoints, const Options& options,
                  const SharedPlan& plan);
/// The operators between calls and scores.
[[nodiscard]] Stream<CallScore> full_graph(Calls calls, const Options& options,
                                           const SharedPlan& plan);
/// The same in the paper's form.
[[nodiscard]] Stream<CallScore> papers_graph(CallsOfCallers calls, const Options& options,
                                             const SharedPlan& plan);

void build(Graph& graph, const Endpoints& endpoints, const Options& options);

}  // namespace strid::apps::voip_stream
