// SPDX-License-Identifier: Apache-2.0
#include "replicas.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/kernel/router.hpp>

namespace strid::graph {
namespace {

class Sizing {
  public:
    Sizing(const Segments& segments, const RunOptions& options, std::size_t workers)
        : segments_(segments), options_(options), workers_(workers) {}

    std::vector<SegmentReplicas> resolve() && {
        for (std::size_t s = 0; s < segments_.all.size(); ++s) {
            const auto& operators = segments_.all[s]->operators();
            auto [inherited, why] = first(s);
            if (requested(operators.front()) != 0) why = {};
            SegmentReplicas& replicas =
                replicas_.emplace_back(SegmentReplicas{.of = {}, .why = why});
            for (const auto& op : operators) {
                const std::size_t request = requested(op);
                if (request != 0 || !op.parallel_by_default)
                    inherited = std::max<std::size_t>(request, 1);
                replicas.of.push_back(inherited);
            }
            if (segments_.all[s]->kernels() == Kernels::whole_only) give_one_number(s, replicas);
            check_input(s);
        }
        return std::move(replicas_);
    }

  private:
    /// The number that is requested for an operator: by the run's options with its name, else by
    /// its own. 0: none.
    [[nodiscard]] std::size_t requested(const OperatorInfo& op) const {
        const auto named = options_.operator_parallelism.find(op.name);
        return named != options_.operator_parallelism.end() ? named->second : op.parallelism;
    }

    struct Replicas {
        std::size_t count;
        std::string_view why = {};  ///< For `explain()`, where it is not the usual.
    };

    /// Replicas of segment `s`, which can have any number. The papers' model starts with one. Where
    /// the operators were measured: its share of the work in workers (paper 2, section 5.3).
    [[nodiscard]] Replicas automatic(std::size_t s) const {
        if (options_.parallelism != 0) return {options_.parallelism};
        if (options_.mode == RunOptions::Mode::dedicated && options_.loads.empty()) return {1};
        double all = 0;
        for (std::size_t i = 0; i < segments_.all.size(); ++i) all += load_of(i);
        if (all <= 0) return unmeasured(segments_.all[s]->operators().front());
        constexpr double slack = 0.05;  // for what measuring is unsure of
        const double cores = static_cast<double>(workers_) * load_of(s) / all - slack;
        return {std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(cores)), 1, workers_)};
    }

    /// A replica per worker. A light operator costs about as much as the sources that feed it (note
    /// 0007): where these fill less than half of the workers, a replica for each of the others.
    /// Else workers have a share of both, and two replicas for each divide the work more evenly.
    [[nodiscard]] Replicas unmeasured(const OperatorInfo& op) const {
        if (!op.light || workers_ == 1) return {workers_};
        const std::size_t sources = source_replicas();
        if (workers_ > 2 * sources) {
            return {workers_ - sources, "light: each source is left a worker"};
        }
        return {2 * workers_, "light: two a worker, since sources may fill half of the workers"};
    }

    /// Sources have one replica, or as many as they ask for.
    [[nodiscard]] std::size_t source_replicas() const {
        std::size_t count = 0;
        for (const auto& segment : segments_.all) {
            if (segment->has_source())
                count += std::max<std::size_t>(requested(segment->operators().front()), 1);
        }
        return count;
    }

    [[nodiscard]] double load_of(std::size_t s) const {
        double load = 0;
        for (const auto& op : segments_.all[s]->operators())
            if (options_.loads.contains(op.name)) load += options_.loads.at(op.name);
        return load;
    }

    /// Replicas of the first operator of segment `s`, for which no number is requested.
    [[nodiscard]] Replicas first(std::size_t s) const {
        if (segments_.all[s]->has_source() || segments_.all[s]->restores_order()) return {1};
        std::size_t producers = 0;
        Replicas result{1};
        for (std::size_t p = 0; p < s; ++p) {
            const SegmentBase& producer = *segments_.all[p];
            for (const std::size_t target : producer.targets()) {
                if (target != s) continue;
                ++producers;
                switch (producer.routing()) {
                    case Routing::key_by:
                        result = automatic(s);
                        result.count = std::min(result.count, operators::key_groups);
                        return result;
                    case Routing::rebalance:
                        return automatic(s);
                    case Routing::broadcast:
                        if (segments_.all[s]->operators().front().shares_broadcast)
                            return automatic(s);
                        result = {1};
                        break;
                    case Routing::forward:
                        result = {replicas_[p].of.back()};
                        break;
                    default:
                        result = {1};
                        break;
                }
            }
        }
        return producers == 1 ? result : Replicas{1};
    }

    /// A segment whose parts have no kernel has one number of replicas. Where none is requested,
    /// that is the 1 of the operator that cannot have more.
    void give_one_number(std::size_t s, SegmentReplicas& replicas) const {
        const auto other =
            std::adjacent_find(replicas.of.begin(), replicas.of.end(), std::not_equal_to<>{});
        if (other == replicas.of.end()) return;
        const auto& operators = segments_.all[s]->operators();
        const bool is_requested =
            options_.parallelism != 0 ||
            std::any_of(operators.begin(), operators.end(),
                        [this](const OperatorInfo& op) { return requested(op) != 0; });
        if (is_requested) {
            const auto first = static_cast<std::size_t>(other - replicas.of.begin());
            throw GraphError(fmt::format(
                "operators '{}' and '{}' are one segment and cannot have {} and {} replicas: the "
                "program was compiled with STRID_WHOLE_SEGMENTS (call separate() between them)",
                operators[first].name, operators[first + 1].name, replicas.of[first],
                replicas.of[first + 1]));
        }
        std::fill(replicas.of.begin(), replicas.of.end(), std::size_t{1});
        replicas.why = "compiled as a whole segment, in which one operator has one replica";
    }

    void check_input(std::size_t s) const {
        const SegmentBase& segment = *segments_.all[s];
        const std::size_t first = replicas_[s].of.front();
        const std::string& name = segment.operators().front().name;
        if (segment.restores_order() && first != 1) {
            throw GraphError(
                fmt::format("operator '{}' comes behind ordered() and cannot have parallelism {}",
                            name, first));
        }
        for (std::size_t p = 0; p < s; ++p) {
            const SegmentBase& producer = *segments_.all[p];
            if (producer.routing() != Routing::key_by || producer.targets().front() != s) continue;
            if (first > operators::key_groups) {
                throw GraphError(fmt::format(
                    "operator '{}': parallelism {} is above the number of key groups, {}", name,
                    first, operators::key_groups));
            }
        }
    }

    const Segments& segments_;
    const RunOptions& options_;
    std::size_t workers_;
    std::vector<SegmentReplicas> replicas_;  // of the segments so far
};

}  // namespace

std::vector<SegmentReplicas> replicas_of(const Segments& segments, const RunOptions& options,
                                         std::size_t workers) {
    return Sizing{segments, options, workers}.resolve();
}

}  // namespace strid::graph
