// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <strid/operator/contract.hpp>

#include "counts.hpp"
#include "fullness.hpp"
#include "pairs.hpp"
#include "scores.hpp"
#include "shard_table.hpp"
#include "voip_stream.hpp"

namespace strid::apps::voip_stream {

namespace {

/// A call as the shard of one of its numbers sees it.
struct Side {
    Number number;  ///< of the shard
    Number other;
    double mean;
    std::uint32_t start;
    std::uint32_t duration;
    std::uint32_t now;
    bool calls;  ///< `number` calls `other`; otherwise it is called
};
struct ShardOfNumber {
    std::uint32_t operator()(const Side& side) const noexcept {
        return shard_of(hash_of_number(side.number));
    }
};

/// Makes the two sides of a call, the callee's first.
class Sides : public OperatorTypes<TimedCall, Side> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "sides", .emits = Emits::any_number, .only_reads = true, .one_replica = true};

    explicit Sides(SharedPlan plan) : plan_(std::move(plan)) {}

    void process(const TimedCall& call, auto& emit) {
        const double mean = mean_.add(call.duration, call.start, call.now, plan_->long_growth);
        emit(Side{call.called, call.calling, mean, call.start, call.duration, call.now, false});
        emit(Side{call.calling, call.called, mean, call.start, call.duration, call.now, true});
    }

  private:
    SharedPlan plan_;
    MeanDuration mean_;
};

/// All that is kept of the numbers of a shard.
template <template <std::size_t> class Cells, class Pairs>
class ShardFeatures {
  public:
    explicit ShardFeatures(const Plan& plan)
        : received_(plan.lines), made_(plan.lines), detector_(plan.pair_lines) {}

    void is_called(const Side& side, const Plan& plan) {
        received_.add(side.number, 1, side.start, side.now, plan.short_growth);
    }
    CallFeatures calls(const Side& side, const Plan& plan) {
        CallFeatures call;
        call.calling = side.number;
        call.called = side.other;
        call.start = side.start;
        call.mean = side.mean;
        const std::uint64_t hash = hash_of_number(side.number);
        const bool is_new =
            detector_.is_new(side.number, side.other, pair_of(side, hash), side.now, plan.memory);
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
        auto place = made_.find_or_make(side.number, hash);
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
        const std::uint64_t hash = hash_of_number(side.number);
        made_.bring_near(hash);
        detector_.bring_near(pair_of(side, hash));
    }
    void tell(Fullness& numbers, Fullness& pairs) const noexcept {
        if constexpr (Pairs::is_filter) {
            numbers.tell(received_.cells().numbers());
            numbers.tell(made_.numbers());
            pairs.tell(detector_.previous().pairs());
            pairs.tell(detector_.current().pairs());
        }
    }

  private:
    // Lanes.
    static constexpr std::size_t made_calls = 0;
    static constexpr std::size_t made_fresh = 1;
    static constexpr std::size_t made_talk = 2;
    static constexpr std::size_t made_day = 3;

    [[nodiscard]] static std::uint64_t pair_of(const Side& side, std::uint64_t hash) noexcept {
        return hash_of_pair(hash, hash_of_number(side.other));
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
        .kind = "features", .emits = Emits::at_most_one, .only_reads = true, .looks_ahead = true};

    explicit Features(SharedPlan plan) : plan_(std::move(plan)) {}

    void on(const Opened& opened) {
        numbers_.open(opened.context, "numbers", plan_->numbers);
        pairs_.open(opened.context, "pairs", plan_->pairs);
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
        auto& shard = shards_.find_or_make(ShardOfNumber{}(side), *plan_);
        if (!side.calls) return shard.is_called(side, *plan_);
        emit(shard.calls(side, *plan_));
    }
    void on(const Closed&) noexcept {
        shards_.for_each([this](const auto& shard) { shard.tell(numbers_, pairs_); });
    }

  private:
    SharedPlan plan_;
    ShardTable<ShardFeatures<Cells, Pairs>> shards_;
    Fullness numbers_;
    Fullness pairs_;
};

template <class Made>
Stream<CallScore> features_by(Calls calls, const Options& options, const SharedPlan& plan,
                              Made features) {
    return std::move(calls)
        .apply(Sides{plan}, {.name = "sides"})
        .key_by(ShardOfNumber{})
        .apply(std::move(features), {.name = "features"})
        .template flat_map<CallScore>(
            [threshold = options.threshold](const CallFeatures& call, auto& emit) {
                const CallScore scored = score_of(call);
                if (scored.score >= threshold) emit(scored);
            },
            {.name = "score"});
}

}  // namespace

Stream<CallScore> compact_graph(Calls calls, const Options& options, const SharedPlan& plan) {
    if (options.filters == Filters::exact)
        return features_by(std::move(calls), options, plan, Features<ExactCells, ExactPairs>{plan});
    return features_by(std::move(calls), options, plan, Features<FilterCells, FilterPairs>{plan});
}

}  // namespace strid::apps::voip_stream
