// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <strid/engine/plan/block_term.hpp>

namespace strid::graph {

namespace {

block::OperatorKind kind_of(const std::string& kind) {
    static const std::map<std::string, block::OperatorKind> kinds{
        {"source", block::OperatorKind::source},
        {"sink", block::OperatorKind::sink},
        {"map", block::OperatorKind::map},
        {"route", block::OperatorKind::map},
        {"filter", block::OperatorKind::filter},
        {"flat_map", block::OperatorKind::flat_map},
        {"accumulate", block::OperatorKind::accumulator},
        {"reduce", block::OperatorKind::accumulator},
        {"window", block::OperatorKind::keyed_windows},
        {"join", block::OperatorKind::accumulator},
        {"parallel_windows", block::OperatorKind::parallel_windows},
        {"paned_windows", block::OperatorKind::paned_windows},
        {"map_reduce_windows", block::OperatorKind::map_reduce_windows}};
    // Operators made of others (the time of a stream, combining before sending, collectors) stand
    // in the algebra by their behaviour seen from outside. Of the two levels of paned and
    // map-reduce windows the first has the paper's name and its distribution, the second is a keyed
    // window.
    const auto found = kinds.find(kind);
    return found == kinds.end() ? block::OperatorKind::flat_map : found->second;
}

/// A plan as a graph of operators: distributing fragments are no operators but say how the one
/// before them routes.
class DagOfPlan {
  public:
    DagOfPlan(const Segments& segments, const Plan& plan) : segments_(segments), plan_(plan) {}

    block::Dag make() && {
        ends_.resize(plan_.fragments.size());
        for (std::size_t f = 0; f < plan_.fragments.size(); ++f) {
            if (!plan_.fragments[f].distributes) add_operators(f);
        }
        for (std::size_t f = 0; f < plan_.fragments.size(); ++f) {
            if (!plan_.fragments[f].distributes) add_edges(f);
        }
        return std::move(dag_);
    }

  private:
    struct Ends {
        std::size_t first;
        std::size_t last;
    };

    void add_operators(std::size_t f) {
        const Fragment& fragment = plan_.fragments[f];
        const auto& operators = segments_.all[fragment.segment]->operators();
        for (std::size_t i = fragment.first; i < fragment.last; ++i) {
            const bool leads = i == fragment.first;
            const block::OperatorKind kind = kind_of(operators[i].kind);
            const std::size_t vertex =
                dag_.add_vertex({.name = operators[i].name,
                                 .kind = kind,
                                 .distribution = leads ? distribution_of(f, kind)
                                                       : block::DistributionKind::forward,
                                 .replicas = fragment.parallelism},
                                leads ? block::Attachment::add : block::Attachment::chain);
            if (leads) {
                ends_[f].first = vertex;
            } else {
                dag_.add_edge(ends_[f].last, vertex);
            }
            ends_[f].last = vertex;
        }
    }

    void add_edges(std::size_t f) {
        for (const Edge& edge : plan_.fragments[f].edges) {
            const Fragment& next = plan_.fragments[edge.to];
            if (!next.distributes) {
                dag_.add_edge(ends_[f].last, ends_[edge.to].first);
                dag_.route(ends_[f].last, block::ShuffleComposition::combined);
                continue;
            }
            for (const Edge& beyond : next.edges) {
                dag_.add_edge(ends_[f].last, ends_[beyond.to].first);
            }
            dag_.route(ends_[f].last, next.parallelism == plan_.fragments[f].parallelism
                                          ? block::ShuffleComposition::dedicated
                                          : block::ShuffleComposition::centralised);
        }
    }

    /// Of the first operator of a fragment, as the algebra names it.
    [[nodiscard]] block::DistributionKind distribution_of(std::size_t f,
                                                          block::OperatorKind kind) const {
        using block::DistributionKind;
        const Fragment& fragment = plan_.fragments[f];
        if (fragment.producers.empty()) return DistributionKind::none;
        if (block::default_distribution(kind) == DistributionKind::complex) {
            return DistributionKind::complex;
        }
        DistributionKind result = DistributionKind::forward;
        for (const std::size_t p : fragment.producers) {
            const Fragment& producer = plan_.fragments[p];
            for (const Edge& edge : producer.edges) {
                if (edge.to != f) continue;
                if (edge.delivery == Delivery::by_key) return DistributionKind::keyby;
                if (edge.delivery == Delivery::to_all) return DistributionKind::broadcast;
                // From one replica to one other, every delivery is forwarding, whatever its name.
                const bool one_to_one = producer.parallelism == 1 && fragment.parallelism == 1;
                if (producer.distributes ||
                    (edge.delivery == Delivery::least_loaded && !one_to_one)) {
                    result = DistributionKind::rebalance;
                }
            }
        }
        return result;
    }

    const Segments& segments_;
    const Plan& plan_;
    block::Dag dag_;
    std::vector<Ends> ends_;  // per fragment, of vertices
};

}  // namespace

block::DagComposition composition_of(const Segments& segments, const Plan& plan) {
    return block::compose(DagOfPlan{segments, plan}.make());
}

}  // namespace strid::graph
