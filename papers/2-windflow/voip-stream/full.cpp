// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include <strid/operator/contract.hpp>

#include "branch_join.hpp"
#include "counts.hpp"
#include "fullness.hpp"
#include "pairs.hpp"
#include "scores.hpp"
#include "shard_table.hpp"
#include "voip_stream.hpp"

namespace strid::apps::voip_stream {

namespace {

/// The records that the dispatcher makes of a call.
struct MarkedCall {
    Key calling;
    Key called;
    std::uint32_t start;
    std::uint32_t duration;
    std::uint32_t now;
    bool is_new;
};

/// A call as the count of those that are called takes it, and as it is asked for that count.
struct NumberAtCall {
    Key calling;
    Key called;
    std::uint32_t start;
    std::uint32_t now;
    bool asks;

    [[nodiscard]] Key number() const noexcept { return asks ? calling : called; }
};
struct ShardOfNumberAtCall {
    std::uint32_t operator()(const NumberAtCall& call) const noexcept {
        return shard_of(call.number());
    }
};

template <class Record>
Part part_of(const Record& call, double value, std::uint32_t branch) noexcept {
    return {call.calling, call.called, value, call.start, branch};
}

template <class Pairs>
class Dispatcher : public OperatorTypes<message::Hashed<TimedCall>, MarkedCall> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "dispatcher", .hears = events<Opened, Closed>, .only_reads = true};

    explicit Dispatcher(SharedPlan plan)
        : plan_(std::move(plan)), arena_(2 * shards * plan_->pair_lines) {}

    void on([[maybe_unused]] const Opened& opened) {
        if constexpr (Pairs::is_filter) {
            pairs_.open(opened.context, "pairs", plan_->pairs);
            arena_.make_ready(opened.context.parallelism);
        }
    }
    void process(const message::Hashed<TimedCall>& arrived, auto& emit) {
        const TimedCall& call = arrived.record;
        auto& detector = detectors_.find_or_make(shard_of(call.calling), plan_->pair_lines, arena_);
        const bool is_new =
            detector.is_new(call.calling, call.called, hash_of_pair(call.calling, call.called),
                            call.now, plan_->memory);
        emit(MarkedCall{call.calling, call.called, call.start, call.duration, call.now, is_new});
    }
    void on(const Closed&) noexcept {
        if constexpr (Pairs::is_filter) {
            detectors_.for_each([this](const auto& detector) {
                pairs_.add(detector.previous().pairs());
                pairs_.add(detector.current().pairs());
            });
        }
    }
    auto state() { return saved_shards(detectors_, arena_, plan_->pair_lines); }

  private:
    SharedPlan plan_;
    LineArena arena_;
    ShardTable<Detector<Pairs>> detectors_;
    Fullness pairs_;
};

/// Which count of the caller an operator keeps.
struct Counted {
    bool over_long = false;    ///< with the long time, otherwise the short one
    bool talk = false;         ///< seconds, otherwise calls
    bool only_new = false;     ///< calls to new callees
    std::uint32_t branch = 0;  ///< of the join that follows
};

template <template <std::size_t> class Cells>
class CallerCount : public OperatorTypes<message::Hashed<MarkedCall>, Part> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "caller-count", .hears = events<Opened, Closed>, .only_reads = true};

    CallerCount(SharedPlan plan, Counted counted)
        : plan_(std::move(plan)), counted_(counted), arena_(shards * plan_->lines) {}

    void on([[maybe_unused]] const Opened& opened) {
        if constexpr (Cells<1>::is_filter) {
            numbers_.open(opened.context, "numbers", plan_->numbers);
            arena_.make_ready(opened.context.parallelism);
        }
    }
    void process(const message::Hashed<MarkedCall>& arrived, auto& emit) {
        const MarkedCall& call = arrived.record;
        const Growth& growth = counted_.over_long ? plan_->long_growth : plan_->short_growth;
        auto& count = counts_.find_or_make(ShardOfCaller{}(call), plan_->lines, arena_);
        const double value = counted_.only_new && !call.is_new
                                 ? count.get(call.calling, call.now, growth)
                                 : count.add(call.calling, counted_.talk ? call.duration : 1.0,
                                             call.start, call.now, growth);
        emit(part_of(call, value, counted_.branch));
    }
    void on(const Closed&) noexcept {
        if constexpr (Cells<1>::is_filter) {
            counts_.for_each([this](const auto& count) { numbers_.add(count.cells().numbers()); });
        }
    }
    auto state() { return saved_shards(counts_, arena_, plan_->lines); }

  private:
    SharedPlan plan_;
    Counted counted_;
    LineArena arena_;
    ShardTable<Count<Cells>> counts_;
    Fullness numbers_;
};

class GlobalAcd : public OperatorTypes<TimedCall, Part> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "global-acd", .hears = events<>, .only_reads = true, .one_replica = true};

    explicit GlobalAcd(SharedPlan plan) : plan_(std::move(plan)) {}

    void process(const TimedCall& call, auto& emit) {
        constexpr std::uint32_t branch = 1;
        const double mean = mean_.add(call.duration, call.start, call.now, plan_->long_growth);
        emit(part_of(call, mean, branch));
    }
    auto state() { return std::tie(mean_); }

  private:
    SharedPlan plan_;
    MeanDuration mean_;
};

template <template <std::size_t> class Cells>
class Rcr : public OperatorTypes<message::Hashed<NumberAtCall>, Part> {
  public:
    static constexpr OperatorTraits traits{.kind = "rcr",
                                           .emits = Emits::at_most_one,
                                           .hears = events<Opened, Closed>,
                                           .only_reads = true};

    explicit Rcr(SharedPlan plan) : plan_(std::move(plan)), arena_(shards * plan_->lines) {}

    void on([[maybe_unused]] const Opened& opened) {
        if constexpr (Cells<1>::is_filter) {
            numbers_.open(opened.context, "numbers", plan_->numbers);
            arena_.make_ready(opened.context.parallelism);
        }
    }
    void process(const message::Hashed<NumberAtCall>& arrived, auto& emit) {
        const NumberAtCall& call = arrived.record;
        const Growth& growth = plan_->short_growth;
        auto& received = received_.find_or_make(ShardOfNumberAtCall{}(call), plan_->lines, arena_);
        if (call.asks) {
            emit(part_of(call, received.get(call.calling, call.now, growth), 0));
        } else {
            received.add(call.called, 1, call.start, call.now, growth);
        }
    }
    void on(const Closed&) noexcept {
        if constexpr (Cells<1>::is_filter) {
            received_.for_each(
                [this](const auto& count) { numbers_.add(count.cells().numbers()); });
        }
    }
    auto state() { return saved_shards(received_, arena_, plan_->lines); }

  private:
    SharedPlan plan_;
    LineArena arena_;
    ShardTable<Count<Cells>> received_;
    Fullness numbers_;
};

constexpr auto both_numbers = [](const TimedCall& call, auto& emit) {
    emit(NumberAtCall{call.calling, call.called, call.start, call.now, false});
    emit(NumberAtCall{call.calling, call.called, call.start, call.now, true});
};
constexpr auto fofir = [](const Part& part, const std::array<double, 2>& values) {
    return part_of(part, fofir_of(values[1], values[0]), 0);
};
constexpr auto url = [](const Part& part, const std::array<double, 2>& values) {
    return part_of(part, url_of(values[1], values[0]), 1);
};
constexpr auto acd = [](const Part& part, const std::array<double, 3>& values) {
    return part_of(part, acd_of(values[0], values[2], values[1]), 2);
};
constexpr auto scored = [](const Part& part, const std::array<double, 3>& values) {
    return CallScore{number_of(part.calling),
                     number_of(part.called),
                     {part.start},
                     values[0],
                     values[1],
                     values[2],
                     score_of(values[0], values[1], values[2])};
};

template <template <std::size_t> class Cells, class Pairs>
Stream<CallScore> full_graph_by(Calls calls, const SharedPlan& plan) {
    auto [to_dispatcher, to_global, to_rcr] = std::move(calls).template tee<3>();
    auto [to_ct24, to_ecr24, to_ecr_1, to_ecr_2, to_encr] =
        std::move(to_dispatcher)
            .key_by(ShardOfCaller{})
            .apply(Dispatcher<Pairs>{plan}, {.name = "dispatcher"})
            .template tee<5>();
    const auto counted = [&plan](auto stream, const Counted& what, const char* name) {
        return std::move(stream)
            .key_by(ShardOfCaller{})
            .apply(CallerCount<Cells>{plan, what}, {.name = name});
    };
    auto ct24 = counted(std::move(to_ct24), {.over_long = true, .talk = true}, "ct24");
    auto ecr24 = counted(std::move(to_ecr24), {.over_long = true, .branch = 2}, "ecr24");
    auto ecr_1 = counted(std::move(to_ecr_1), {.branch = 1}, "ecr_1");
    auto ecr_2 = counted(std::move(to_ecr_2), {}, "ecr_2");
    auto encr = counted(std::move(to_encr), {.only_new = true, .branch = 1}, "encr");
    auto global = std::move(to_global).apply(GlobalAcd{plan}, {.name = "global_acd"});
    auto rcr =
        std::move(to_rcr)
            .template flat_map<NumberAtCall>(both_numbers, {.name = "pre_rcr", .parallelism = 1})
            .key_by(ShardOfNumberAtCall{})
            .apply(Rcr<Cells>{plan}, {.name = "rcr"});
    const auto by_caller = [](auto stream) {
        return std::move(stream).key_by(ShardOfCaller{}).sealed();
    };
    auto acds = by_caller(std::move(ct24))
                    .merge(by_caller(std::move(global)))
                    .merge(by_caller(std::move(ecr24)))
                    .apply(branch_join<3, Part>(acd), {.name = "acd"});
    auto fofirs = by_caller(std::move(rcr))
                      .merge(by_caller(std::move(ecr_1)))
                      .apply(branch_join<2, Part>(fofir), {.name = "fofir"});
    auto urls = by_caller(std::move(ecr_2))
                    .merge(by_caller(std::move(encr)))
                    .apply(branch_join<2, Part>(url), {.name = "url"});
    return by_caller(std::move(acds))
        .merge(by_caller(std::move(fofirs)))
        .merge(by_caller(std::move(urls)))
        .apply(branch_join<3, CallScore>(scored), {.name = "score"});
}

}  // namespace

Stream<CallScore> full_graph(Calls calls, const Options& options, const SharedPlan& plan) {
    return options.filters == Filters::exact
               ? full_graph_by<ExactCells, ExactPairs>(std::move(calls), plan)
               : full_graph_by<FilterCells, FilterPairs>(std::move(calls), plan);
}

}  // namespace strid::apps::voip_stream
