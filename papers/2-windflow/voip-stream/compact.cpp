// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <strid/operator/contract.hpp>

#include "counts.hpp"
#include "fullness.hpp"
#include "pairs.hpp"
#include "scores.hpp"
#include "shard_table.hpp"
#include "sides.hpp"
#include "voip_stream.hpp"

namespace strid::apps::voip_stream {

namespace {

/// All that is kept of the numbers of a shard.
template <template <std::size_t> class Cells, class Pairs>
class ShardFeatures {
  public:
    ShardFeatures(const Plan& plan, LineArena& arena)
        : received_(plan.lines, arena),
          made_(plan.lines, arena),
          detector_(plan.pair_lines, arena) {}

    void is_called(const Side& side, const Plan& plan) {
        received_.add(side.number, 1, side.start, side.now, plan.short_growth);
    }
    CallFeatures calls(const Side& side, const Plan& plan) {
        CallFeatures call;
        call.calling = side.number;
        call.called = side.other;
        call.start = side.start;
        call.mean = side.mean;
        const bool is_new =
            detector_.is_new(side.number, side.other, pair_of(side), side.now, plan.memory);
        call.rcr = received_.get(side.number, side.now, plan.short_growth);
        short_period_.advance(side.now, plan.short_growth, [this] {
            made_.scale_down(made_calls);
            made_.scale_down(made_fresh);
        });
        long_period_.advance(side.now, plan.long_growth, [this] {
            made_.scale_down(made_talk);
            made_.scale_down(made_day);
        });
        const Weights brief = short_period_.weights(side.start, side.now, plan.short_growth);
        const Weights whole = long_period_.weights(side.start, side.now, plan.long_growth);
        auto place = made_.find_or_make(side.number);
        call.ct24 = add(place, made_talk, side.duration, whole);
        call.ecr24 = add(place, made_day, 1, whole);
        call.ecr = add(place, made_calls, 1, brief);
        call.encr = is_new ? add(place, made_fresh, 1, brief)
                           : static_cast<double>(place.sum(made_fresh)) / brief.now;
        return call;
    }
    void bring_near(const Side& side) noexcept {
        received_.bring_near(side.number);
        if (!side.calls) return;
        made_.bring_near(side.number);
        detector_.bring_near(pair_of(side));
    }
    void add_fullness_to(Fullness& called, Fullness& calling, Fullness& pairs) const noexcept {
        if constexpr (Pairs::is_filter) {
            called.add(received_.cells().numbers());
            calling.add(made_.numbers());
            pairs.add(detector_.previous().pairs());
            pairs.add(detector_.current().pairs());
        }
    }
    auto state() { return std::tie(received_, made_, short_period_, long_period_, detector_); }

  private:
    // Lanes.
    static constexpr std::size_t made_calls = 0;
    static constexpr std::size_t made_fresh = 1;
    static constexpr std::size_t made_talk = 2;
    static constexpr std::size_t made_day = 3;

    [[nodiscard]] static std::uint64_t pair_of(const Side& side) noexcept {
        return hash_of_pair(side.number, side.other);
    }

    Count<Cells> received_;
    Cells<4> made_;
    Period short_period_;
    Period long_period_;
    Detector<Pairs> detector_;
};

/// The shards that a replica has, each made when its first number comes.
template <template <std::size_t> class Cells, class Pairs>
class Features : public OperatorTypes<message::Hashed<Side>, CallFeatures> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "features",
        .emits = Emits::at_most_one,
        .hears = events<Opened, Coming<message::Hashed<Side>>, Closed>,
        .only_reads = true};

    // Five counts and two generations.
    explicit Features(SharedPlan plan)
        : plan_(std::move(plan)), arena_(shards * (5 * plan_->lines + 2 * plan_->pair_lines)) {}

    void on([[maybe_unused]] const Opened& opened) {
        if constexpr (Pairs::is_filter) {
            called_.open(opened.context, "numbers called", plan_->numbers);
            calling_.open(opened.context, "numbers that call", plan_->numbers);
            pairs_.open(opened.context, "pairs", plan_->pairs);
            arena_.make_ready(opened.context.parallelism);
        }
    }
    [[nodiscard]] std::size_t on(Coming<message::Hashed<Side>> coming) noexcept {
        constexpr std::size_t at_once = 16;
        const std::size_t count = std::min(at_once, coming.records.size());
        for (const auto& arriving : coming.records.first(count)) {
            auto* const shard = shards_.find(ShardOfNumber{}(arriving.record));
            if (shard != nullptr) shard->bring_near(arriving.record);
        }
        return count;
    }
    void process(const message::Hashed<Side>& arrived, auto& emit) {
        const Side& side = arrived.record;
        auto& shard = shards_.find_or_make(ShardOfNumber{}(side), *plan_, arena_);
        if (!side.calls) return shard.is_called(side, *plan_);
        emit(shard.calls(side, *plan_));
    }
    void on(const Closed&) noexcept {
        shards_.for_each(
            [this](const auto& shard) { shard.add_fullness_to(called_, calling_, pairs_); });
    }
    auto state() { return saved_shards(shards_, arena_, *plan_); }

  private:
    SharedPlan plan_;
    LineArena arena_;
    ShardTable<ShardFeatures<Cells, Pairs>> shards_;
    Fullness called_;
    Fullness calling_;
    Fullness pairs_;
};

/// Scores calls, and passes those on that reach the threshold.
class Scoring {
  public:
    static constexpr FunctionTraits traits{.hears = events<>, .stateless = true};

    explicit Scoring(double threshold) noexcept : threshold_(threshold) {}

    void operator()(const CallFeatures& call, auto& emit) const {
        const CallScore scored = score_of(call);
        if (scored.score >= threshold_) emit(scored);
    }

  private:
    double threshold_;
};

template <class Made>
void write_features(CallSides sides, const Endpoints& endpoints, double threshold, Made features) {
    auto scores = std::move(sides)
                      .apply(std::move(features), {.name = "features"})
                      .template flat_map<CallScore>(Scoring{threshold}, {.name = "score"});
    write_results<CallScore>(std::move(scores), endpoints);
}

}  // namespace

void write_scores(CallSides sides, const Endpoints& endpoints, const Options& options,
                  const SharedPlan& plan) {
    if (options.filters == Filters::exact) {
        write_features(std::move(sides), endpoints, options.threshold,
                       Features<ExactCells, ExactPairs>{plan});
    } else {
        write_features(std::move(sides), endpoints, options.threshold,
                       Features<FilterCells, FilterPairs>{plan});
    }
}

}  // namespace strid::apps::voip_stream
