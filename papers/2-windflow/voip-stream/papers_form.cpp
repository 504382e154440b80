// SPDX-License-Identifier: Apache-2.0
//
// `--form paper`: the graph of the authors' program whose Seqs and Combiners table 3 of paper 2
// prints, in which the dispatcher and the count of calls come before the branches.
//
//   parser ── dispatcher ── ecr ─┬─ ct24 ────────────┐
//                                ├─ global_acd ──────┼─ acd ─┐
//                                ├─ ecr24 ───────────┘       │
//                                ├─ pre_rcr ── rcr ── fofir ─┼─ score ── write
//                                └─ encr ── url ─────────────┘
//
// The mean of all calls and the counts of those called depend on the order of all calls, so that
// each operator up to the branches has one replica. Those behind the next key have any number.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "branch_join.hpp"
#include "features.hpp"
#include "voip_stream.hpp"

namespace strid::apps::voip_stream {

namespace {

/// A call with the calls that its caller has made.
struct CountedCall : MarkedCall {
    double ecr;
};
struct MakeCountedCall {
    CountedCall operator()(const MarkedCall& call, double ecr) const noexcept {
        return {call, ecr};
    }
};
struct CountedNumber : NumberAtCall {
    double ecr;
};

/// Two counts of a caller at a call, for the ratio of both.
struct TwoCounts {
    Key calling;
    Key called;
    double ecr;
    double other;
    std::uint32_t start;
};
struct MakeTwoCounts {
    template <class Call>
    TwoCounts operator()(const Call& call, double other) const noexcept {
        return {call.calling, call.called, call.ecr, other, call.start};
    }
};

constexpr auto both_counted_numbers = [](const CountedCall& call, auto& emit) {
    emit(CountedNumber{number_at(call, false), call.ecr});
    emit(CountedNumber{number_at(call, true), call.ecr});
};
constexpr auto fofir_of_counts = [](const TwoCounts& counts) {
    return part_of(counts, fofir_of(counts.ecr, counts.other), 0);
};
constexpr auto url_of_counts = [](const TwoCounts& counts) {
    return part_of(counts, url_of(counts.other, counts.ecr), 1);
};

template <template <std::size_t> class Cells, class Make>
using CountOfBranch = CallerCount<Cells, CountedCall, Make>;

template <template <std::size_t> class Cells, class Pairs>
Stream<CallScore> papers_graph_by(CallsOfCallers calls, const SharedPlan& plan) {
    constexpr bool one_replica = true;
    using Ecr = CallerCount<Cells, message::Hashed<MarkedCall>, MakeCountedCall, one_replica>;
    const auto by_caller = [](auto stream) {
        return std::move(stream).key_by(ShardOfCaller{}).sealed();
    };
    auto [to_ct24, to_global, to_ecr24, to_pre_rcr, to_encr] =
        by_caller(
            std::move(calls).apply(Dispatcher<Pairs, one_replica>{plan}, {.name = "dispatcher"}))
            .apply(Ecr{plan, {}, {}}, {.name = "ecr"})
            .template tee<5>();
    auto ct24 = std::move(to_ct24).apply(
        CountOfBranch<Cells, MakePart>{plan, {.over_long = true, .talk = true}, {0}},
        {.name = "ct24"});
    auto global = std::move(to_global).apply(GlobalAcd<CountedCall>{plan}, {.name = "global_acd"});
    auto ecr24 = std::move(to_ecr24).apply(
        CountOfBranch<Cells, MakePart>{plan, {.over_long = true}, {2}}, {.name = "ecr24"});
    auto acds = by_caller(std::move(ct24))
                    .merge(by_caller(std::move(global)))
                    .merge(by_caller(std::move(ecr24)))
                    .apply(branch_join<3, Part>(AcdOfParts{}), {.name = "acd"});
    auto rcr = std::move(to_pre_rcr)
                   .template flat_map<CountedNumber>(both_counted_numbers,
                                                     {.name = "pre_rcr", .parallelism = 1})
                   .key_by(ShardOfNumberAtCall{})
                   .apply(Rcr<Cells, message::Hashed<CountedNumber>, MakeTwoCounts>{plan, {}},
                          {.name = "rcr"});
    auto fofirs = by_caller(std::move(rcr)).map(fofir_of_counts, {.name = "fofir"});
    auto encr = std::move(to_encr).apply(
        CountOfBranch<Cells, MakeTwoCounts>{plan, {.only_new = true}, {}}, {.name = "encr"});
    auto urls = by_caller(std::move(encr)).map(url_of_counts, {.name = "url"});
    return by_caller(std::move(acds))
        .merge(by_caller(std::move(fofirs)))
        .merge(by_caller(std::move(urls)))
        .apply(branch_join<3, CallScore>(ScoreOfParts{}), {.name = "score"});
}

}  // namespace

Stream<CallScore> papers_graph(CallsOfCallers calls, const Options& options,
                               const SharedPlan& plan) {
    return options.filters == Filters::exact
               ? papers_graph_by<ExactCells, ExactPairs>(std::move(calls), plan)
               : papers_graph_by<FilterCells, FilterPairs>(std::move(calls), plan);
}

}  // namespace strid::apps::voip_stream
