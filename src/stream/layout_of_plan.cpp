// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "layout.hpp"

namespace strid::graph {

const char* to_string(Way way) noexcept {
    switch (way) {
        case Way::within:
            return "within a node";
        case Way::same_replica:
            return "to the same replica";
        case Way::any_replica:
            return "to any replica";
        case Way::by_key:
            return "by key";
        case Way::to_all:
            return "to all";
        case Way::complex:
            return "as a window distributes";
    }
    return "?";
}

std::string node_of(const std::vector<std::string>& operators) {
    return fmt::format("{}", fmt::join(operators, "+"));
}
std::string distribution_to(const std::set<std::string>& operators) {
    return fmt::format("distribution to {}", fmt::join(operators, ", "));
}

namespace {

class PlanReader {
  public:
    PlanReader(const Segments& segments, const Plan& plan) : segments_(segments), plan_(plan) {}

    Layout read() && {
        for (const Fragment& fragment : plan_.fragments) {
            if (fragment.distributes) {
                std::set<std::string> consumers;
                for (const Edge& edge : fragment.edges) consumers.insert(first_of(edge.to));
                layout_.nodes[distribution_to(consumers)] += fragment.parallelism;
                continue;
            }
            const std::vector<std::string> names = names_of(fragment);
            layout_.nodes[node_of(names)] += fragment.parallelism;
            for (std::size_t i = 1; i < names.size(); ++i) {
                layout_.edges.emplace(std::pair{names[i - 1], names[i]}, Way::within);
            }
            for (const Edge& edge : fragment.edges) {
                const Fragment& next = plan_.fragments[edge.to];
                if (!next.distributes) {
                    add_edge(names.back(), fragment, edge);
                    continue;
                }
                for (const Edge& beyond : next.edges) add_edge(names.back(), next, beyond);
            }
        }
        return std::move(layout_);
    }

  private:
    [[nodiscard]] std::vector<std::string> names_of(const Fragment& fragment) const {
        const auto& operators = segments_.all[fragment.segment]->operators();
        std::vector<std::string> names;
        for (std::size_t i = fragment.first; i < fragment.last; ++i) {
            names.push_back(operators[i].name);
        }
        return names;
    }
    [[nodiscard]] std::string first_of(std::size_t fragment) const {
        return names_of(plan_.fragments[fragment]).front();
    }
    /// `from` sends through `sender`. Of one replica to one, any is the same.
    void add_edge(const std::string& from, const Fragment& sender, const Edge& edge) {
        const Fragment& consumer = plan_.fragments[edge.to];
        const bool one_to_one = sender.parallelism == 1 && consumer.parallelism == 1;
        const Way way = way_of(edge.delivery);
        layout_.edges.emplace(std::pair{from, first_of(edge.to)},
                              way == Way::any_replica && one_to_one ? Way::same_replica : way);
    }
    static Way way_of(Delivery delivery) noexcept {
        switch (delivery) {
            case Delivery::direct:
                return Way::same_replica;
            case Delivery::least_loaded:
                return Way::any_replica;
            case Delivery::by_key:
                return Way::by_key;
            case Delivery::to_all:
                return Way::to_all;
        }
        return Way::any_replica;
    }

    const Segments& segments_;
    const Plan& plan_;
    Layout layout_;
};

}  // namespace

Layout layout_of(const Segments& segments, const Plan& plan) {
    return PlanReader{segments, plan}.read();
}

}  // namespace strid::graph
