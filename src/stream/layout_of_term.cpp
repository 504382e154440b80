// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "layout.hpp"

namespace strid::graph {

namespace {

using block::DistributionKind;
using block::Function;
using block::ParallelBlock;
using block::SequentialBlock;

class TermReader {
  public:
    explicit TermReader(std::vector<std::string>& faults) : faults_(faults) {}

    Layout read(const block::DagComposition& term) && {
        if (term.multipipes) {
            for (const ParallelBlock& multipipe : *term.multipipes) {
                expect_none_addressed(read(multipipe, 1).last);
            }
        } else {
            read_sections(term.sections);
        }
        pass_through_distributions();
        return std::move(layout_);
    }

  private:
    using Addressed = std::map<std::string, DistributionKind>;
    /// The operators, or nodes that only distribute, at the two ends of a block; of the last ones
    /// those to which they distribute.
    struct Ends {
        std::set<std::string> first;
        std::map<std::string, Addressed> last;
    };

    Ends read(const ParallelBlock& block, std::size_t replicas) {
        switch (block.kind()) {
            case ParallelBlock::Kind::pipe:
                return read_pipe(block.nodes(), replicas);
            case ParallelBlock::Kind::container: {
                Ends ends;
                const std::vector<ParallelBlock> parts = block.elements();
                for (std::size_t i = 0, equal = 1; i < parts.size(); i += equal, equal = 1) {
                    while (i + equal < parts.size() && parts[i + equal] == parts[i]) ++equal;
                    Ends inner = read(parts[i], replicas * equal);
                    ends.first.merge(inner.first);
                    ends.last.merge(inner.last);
                }
                return ends;
            }
            case ParallelBlock::Kind::all_to_all: {
                Ends left = read(block.left(), replicas);
                Ends right = read(block.right(), replicas);
                connect(left.last, right.first);
                return {std::move(left.first), std::move(right.last)};
            }
        }
        return {};
    }

    Ends read_pipe(const std::vector<SequentialBlock>& nodes, std::size_t replicas) {
        Ends ends;
        std::string last;
        Addressed addressed;
        for (const SequentialBlock& node : nodes) {
            std::vector<std::string> names;
            std::set<std::string> consumers;
            for (const Function& function : node.functions()) {
                if (function.role == Function::Role::logic) names.push_back(function.operator_name);
                if (function.role != Function::Role::distribution) continue;
                consumers.insert(function.operator_name);
                addressed.emplace(function.operator_name, function.distribution);
            }
            const bool distributes = names.empty();
            layout_.nodes[distributes ? distribution_to(consumers) : node_of(names)] += replicas;
            // Behind its operator in a pipe it is that operator's; by itself it stands for one.
            if (distributes && !last.empty()) continue;
            if (distributes) names = {distribution_to(consumers)};
            for (std::size_t i = 0; i < names.size(); ++i) {
                if (last.empty()) {
                    ends.first.insert(names[i]);
                } else {
                    add_edge(last, names[i], i == 0 ? Way::same_replica : Way::within);
                }
                last = names[i];
            }
        }
        ends.last.emplace(last, std::move(addressed));
        return ends;
    }

    void connect(const std::map<std::string, Addressed>& from, const std::set<std::string>& to) {
        for (const auto& [name, addressed] : from) {
            for (const std::string& next : to) {
                const auto found = addressed.find(next);
                if (found != addressed.end()) {
                    add_edge(name, next, way_of(found->second));
                } else if (addressed.empty() && next.starts_with(distribution_to({}))) {
                    add_edge(name, next, Way::any_replica);
                } else {
                    faults_.push_back(
                        fmt::format("the term: '{}' feeds '{}' across an all-to-all "
                                    "and does not distribute to it",
                                    name, next));
                }
            }
            for (const auto& [next, kind] : addressed) {
                if (!to.contains(next)) {
                    faults_.push_back(
                        fmt::format("the term: '{}' distributes to '{}', which does "
                                    "not follow it",
                                    name, next));
                }
            }
        }
    }
    void expect_none_addressed(const std::map<std::string, Addressed>& last) { connect(last, {}); }

    void read_sections(const std::vector<block::DagComposition::Section>& sections) {
        std::vector<Ends> ends;
        for (const auto& section : sections) ends.push_back(read(section.matryoshka, 1));
        for (std::size_t i = 0; i < sections.size(); ++i) {
            std::set<std::string> next;
            for (const std::size_t successor : sections[i].successors) {
                next.insert(ends[successor].first.begin(), ends[successor].first.end());
            }
            connect(ends[i].last, next);
        }
    }

    /// An edge to a node that only distributes goes on to those that this feeds.
    void pass_through_distributions() {
        const auto edges = std::exchange(layout_.edges, {});
        const auto is_through = [](const std::string& name) {
            return name.starts_with(distribution_to({}));
        };
        for (const auto& [ends, way] : edges) {
            if (is_through(ends.first)) continue;
            if (!is_through(ends.second)) {
                layout_.edges.emplace(ends, way);
                continue;
            }
            for (const auto& [beyond, how] : edges) {
                if (beyond.first == ends.second) {
                    layout_.edges.emplace(std::pair{ends.first, beyond.second}, how);
                }
            }
        }
    }

    void add_edge(const std::string& from, const std::string& to, Way way) {
        layout_.edges.emplace(std::pair{from, to}, way);
    }
    static Way way_of(DistributionKind kind) noexcept {
        switch (kind) {
            case DistributionKind::keyby:
                return Way::by_key;
            case DistributionKind::broadcast:
                return Way::to_all;
            case DistributionKind::complex:
                return Way::complex;
            case DistributionKind::none:
            case DistributionKind::forward:
            case DistributionKind::rebalance:
                return Way::any_replica;
        }
        return Way::any_replica;
    }

    std::vector<std::string>& faults_;
    Layout layout_;
};

}  // namespace

Layout layout_of(const block::DagComposition& term, std::vector<std::string>& faults) {
    return TermReader{faults}.read(term);
}

}  // namespace strid::graph
