// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <utility>

#include "branch_join.hpp"
#include "features.hpp"
#include "voip_stream.hpp"

namespace strid::apps::voip_stream {

namespace {

constexpr auto both_numbers = [](const TimedCall& call, auto& emit) {
    emit(number_at(call, false));
    emit(number_at(call, true));
};
constexpr auto fofir = [](const Part& part, const std::array<double, 2>& values) {
    return part_of(part, fofir_of(values[1], values[0]), 0);
};
constexpr auto url = [](const Part& part, const std::array<double, 2>& values) {
    return part_of(part, url_of(values[1], values[0]), 1);
};

template <template <std::size_t> class Cells, class Pairs>
Stream<CallScore> full_graph_by(Calls calls, const SharedPlan& plan) {
    auto [to_dispatcher, to_global, to_rcr] = std::move(calls).template tee<3>();
    auto [to_ct24, to_ecr24, to_ecr_1, to_ecr_2, to_encr] =
        std::move(to_dispatcher)
            .key_by(ShardOfCaller{})
            .apply(Dispatcher<Pairs>{plan}, {.name = "dispatcher"})
            .template tee<5>();
    const auto counted = [&plan](auto stream, const Counted& what, MakePart to, const char* name) {
        using Operator = CallerCount<Cells, message::Hashed<MarkedCall>, MakePart>;
        return std::move(stream)
            .key_by(ShardOfCaller{})
            .apply(Operator{plan, what, to}, {.name = name});
    };
    auto ct24 = counted(std::move(to_ct24), {.over_long = true, .talk = true}, {0}, "ct24");
    auto ecr24 = counted(std::move(to_ecr24), {.over_long = true}, {2}, "ecr24");
    auto ecr_1 = counted(std::move(to_ecr_1), {}, {1}, "ecr_1");
    auto ecr_2 = counted(std::move(to_ecr_2), {}, {0}, "ecr_2");
    auto encr = counted(std::move(to_encr), {.only_new = true}, {1}, "encr");
    auto global = std::move(to_global).apply(GlobalAcd<TimedCall>{plan}, {.name = "global_acd"});
    auto rcr =
        std::move(to_rcr)
            .template flat_map<NumberAtCall>(both_numbers, {.name = "pre_rcr", .parallelism = 1})
            .key_by(ShardOfNumberAtCall{})
            .apply(Rcr<Cells, message::Hashed<NumberAtCall>, MakePart>{plan, {0}}, {.name = "rcr"});
    const auto by_caller = [](auto stream) {
        return std::move(stream).key_by(ShardOfCaller{}).sealed();
    };
    auto acds = by_caller(std::move(ct24))
                    .merge(by_caller(std::move(global)))
                    .merge(by_caller(std::move(ecr24)))
                    .apply(branch_join<3, Part>(AcdOfParts{}), {.name = "acd"});
    auto fofirs = by_caller(std::move(rcr))
                      .merge(by_caller(std::move(ecr_1)))
                      .apply(branch_join<2, Part>(fofir), {.name = "fofir"});
    auto urls = by_caller(std::move(ecr_2))
                    .merge(by_caller(std::move(encr)))
                    .apply(branch_join<2, Part>(url), {.name = "url"});
    return by_caller(std::move(acds))
        .merge(by_caller(std::move(fofirs)))
        .merge(by_caller(std::move(urls)))
        .apply(branch_join<3, CallScore>(ScoreOfParts{}), {.name = "score"});
}

}  // namespace

Stream<CallScore> full_graph(Calls calls, const Options& options, const SharedPlan& plan) {
    return options.filters == Filters::exact
               ? full_graph_by<ExactCells, ExactPairs>(std::move(calls), plan)
               : full_graph_by<FilterCells, FilterPairs>(std::move(calls), plan);
}

}  // namespace strid::apps::voip_stream
