// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/plan/plan.hpp>

#include "replicas.hpp"
#include "shared_streams.hpp"

namespace strid::graph {

const char* to_string(Routing routing) noexcept {
    switch (routing) {
        case Routing::none:
            return "none";
        case Routing::forward:
            return "forward";
        case Routing::rebalance:
            return "rebalance";
        case Routing::key_by:
            return "key_by";
        case Routing::broadcast:
            return "broadcast";
        case Routing::split:
            return "split";
    }
    return "?";
}

const char* to_string(Delivery delivery) noexcept {
    switch (delivery) {
        case Delivery::direct:
            return "direct";
        case Delivery::least_loaded:
            return "least loaded";
        case Delivery::by_key:
            return "by key";
        case Delivery::to_all:
            return "to all";
    }
    return "?";
}

namespace {

class Planner {
  public:
    Planner(const Segments& segments, const RunOptions& options, std::size_t cores)
        : segments_(segments), options_(options) {
        plan_.workers = options.mode == RunOptions::Mode::cooperative
                            ? (options.workers != 0 ? options.workers : cores)
                            : cores;
        replicas_ = replicas_of(segments, options, plan_.workers);
    }

    Plan make() {
        cut();
        connect();
        find_producers();
        mark_ordered_sections();
        if (options_.composition != Composition::combined) insert_distributions();
        find_shared_streams(plan_, segments_);
        group();
        return std::move(plan_);
    }

  private:
    // ---- fragments and edges -------------------------------------------------------------------

    void cut() {
        for (std::size_t s = 0; s < segments_.all.size(); ++s) {
            const auto& [parallelism, why] = replicas_[s];
            if (!options_.fuse && parallelism.size() > 1) {
                require_parts(s, "with a node for each operator (--no-fuse)");
            }
            head_.push_back(plan_.fragments.size());
            std::size_t first = 0;
            for (std::size_t last = 1; last <= parallelism.size(); ++last) {
                if (last != parallelism.size() && options_.fuse &&
                    parallelism[last] == parallelism[first]) {
                    continue;
                }
                Fragment fragment;
                fragment.segment = s;
                fragment.first = first;
                fragment.last = last;
                fragment.parallelism = parallelism[first];
                if (first == 0) fragment.why_as_many = why;
                fragment.restores_order = first == 0 && segments_.all[s]->restores_order();
                for (Fragment& piece : pieces(fragment)) {
                    plan_.fragments.push_back(std::move(piece));
                }
                first = last;
            }
        }
    }

    void require_parts(std::size_t segment, const char* layout) const {
        if (segments_.all[segment]->kernels() == Kernels::whole_and_parts) return;
        throw GraphError(
            fmt::format("the segment that begins with operator '{}' cannot run {}: the program was "
                        "compiled with STRID_WHOLE_SEGMENTS",
                        segments_.all[segment]->operators().front().name, layout));
    }

    /// The fragment as it is where its operators are fused in a kernel, otherwise one for each.
    [[nodiscard]] std::vector<Fragment> pieces(const Fragment& whole) const {
        const SegmentBase& segment = *segments_.all[whole.segment];
        if (has_kernel(whole.first, whole.last, segment.operators().size(), segment.has_source(),
                       segment.has_sink())) {
            return {whole};
        }
        std::vector<Fragment> pieces;
        for (std::size_t one = whole.first; one != whole.last; ++one) {
            Fragment& piece = pieces.emplace_back(whole);
            piece.first = one;
            piece.last = one + 1;
            if (one == whole.first) continue;
            piece.why_as_many = {};
            piece.restores_order = false;
        }
        return pieces;
    }

    [[nodiscard]] Edge forward_edge(std::size_t from, std::size_t to) const {
        const bool same = plan_.fragments[from].parallelism == plan_.fragments[to].parallelism;
        return {to, same ? Delivery::direct : Delivery::least_loaded};
    }

    void connect() {
        for (std::size_t f = 0; f < plan_.fragments.size(); ++f) {
            Fragment& fragment = plan_.fragments[f];
            const SegmentBase& segment = *segments_.all[fragment.segment];
            if (fragment.last != segment.operators().size()) {
                fragment.edges.push_back(forward_edge(f, f + 1));
                continue;
            }
            fragment.splits = segment.routing() == Routing::split;
            for (const std::size_t target : segment.targets()) {
                const std::size_t to = head_[target];
                switch (segment.routing()) {
                    case Routing::key_by:
                        fragment.edges.push_back({to, Delivery::by_key});
                        break;
                    case Routing::broadcast:
                        fragment.edges.push_back({to, Delivery::to_all});
                        break;
                    case Routing::rebalance:
                        fragment.edges.push_back({to, Delivery::least_loaded});
                        break;
                    default:
                        fragment.edges.push_back(forward_edge(f, to));
                        break;
                }
            }
        }
    }

    /// Figure 17: a shuffle connection gets distributing nodes, which take plain batches from the
    /// producers and route them. The end of an ordered section is none: all of it goes to the one
    /// replica that restores the order.
    void insert_distributions() {
        const std::size_t count = plan_.fragments.size();
        std::vector<Fragment> result;
        std::vector<std::size_t> moved(count);
        for (std::size_t f = 0; f < count; ++f) {
            moved[f] = result.size();
            const Fragment& whole = plan_.fragments[f];
            const bool shuffles =
                std::any_of(whole.edges.begin(), whole.edges.end(),
                            [](const Edge& edge) { return edge.delivery != Delivery::direct; });
            if (!shuffles || whole.last != operators_of(whole) || whole.keeps_sequences) {
                result.push_back(whole);
                continue;
            }
            require_parts(whole.segment, "with distributing nodes (--composition)");
            // The last operator forwards, and so stands alone.
            if (whole.last - whole.first > 1) {
                Fragment before = whole;
                --before.last;
                before.splits = before.stamps_sequences = false;
                before.edges = {{no_segment, Delivery::direct}};
                for (Fragment& piece : pieces(before)) result.push_back(std::move(piece));
            }
            Fragment& producer = result.emplace_back(whole);
            producer.first = producer.last - 1;
            if (producer.first != whole.first) {
                producer.why_as_many = {};
                producer.restores_order = false;
            }
            Fragment distribution = producer;
            distribution.first = distribution.last;
            distribution.distributes = true;
            distribution.why_as_many = {};
            distribution.restores_order = false;
            if (options_.composition == Composition::centralised) distribution.parallelism = 1;
            producer.plain_output = true;
            producer.splits = false;
            producer.stamps_sequences = false;
            producer.edges = {{no_segment, distribution.parallelism == producer.parallelism
                                               ? Delivery::direct
                                               : Delivery::least_loaded}};
            result.push_back(std::move(distribution));
        }
        for (std::size_t f = 0; f < result.size(); ++f) {
            for (Edge& edge : result[f].edges) {
                edge.to = edge.to == no_segment ? f + 1 : moved[edge.to];
            }
        }
        plan_.fragments = std::move(result);
        find_producers();
    }

    [[nodiscard]] std::size_t operators_of(const Fragment& fragment) const {
        return segments_.all[fragment.segment]->operators().size();
    }

    void find_producers() {
        for (Fragment& fragment : plan_.fragments) fragment.producers.clear();
        for (std::size_t f = 0; f < plan_.fragments.size(); ++f) {
            for (const Edge& edge : plan_.fragments[f].edges) {
                plan_.fragments[edge.to].producers.push_back(f);
            }
        }
    }

    // ---- ordered sections ----------------------------------------------------------------------

    /// From a fragment that shall see the order back to the one that spread the batches. Where the
    /// last of several replicas hands to one, that one restores the order, and everything between
    /// keeps the batches' numbers.
    void mark_ordered_sections() {
        std::vector<std::size_t> asked;
        for (std::size_t f = 0; f < plan_.fragments.size(); ++f) {
            if (std::exchange(plan_.fragments[f].restores_order, false)) asked.push_back(f);
        }
        for (const std::size_t f : asked) {
            const std::string& name = first_name(plan_.fragments[f]);
            for (std::size_t at = f; at != no_segment;) at = mark_ordered(at, name);
        }
    }

    /// Marks the edge that leads to fragment `at`, and returns the fragment from which marking goes
    /// on upstream, if any.
    std::size_t mark_ordered(std::size_t at, const std::string& name) {
        Fragment& to = plan_.fragments[at];
        const bool inside = to.parallelism > 1;
        if (to.restores_order) return no_segment;  // for an operator downstream
        if (to.producers.size() != 1) {
            if (!inside) return no_segment;
            throw unordered(name, to.producers.empty() ? "a source with several replicas in it"
                                                       : "a merge in it");
        }
        const std::size_t before = to.producers.front();
        Fragment& from = plan_.fragments[before];
        Edge& edge = from.edges.front();
        if (from.parallelism == 1 && !inside) {
            return edge.delivery == Delivery::direct && !from.splits ? before : no_segment;
        }
        if (from.splits) throw unordered(name, "a split in it");
        if (inside && (edge.delivery == Delivery::by_key || edge.delivery == Delivery::to_all)) {
            throw unordered(name, fmt::format("'{}' in it", to_string(edge.delivery)));
        }
        if (from.parallelism == 1) {
            from.stamps_sequences = true;
            return no_segment;
        }
        from.keeps_sequences = true;
        if (!inside) {
            to.restores_order = true;
        } else if (from.parallelism == to.parallelism) {
            edge.delivery = Delivery::direct;  // spread again, batches would overtake each other
        } else {
            throw unordered(name, fmt::format("operator '{}' with {} replicas and '{}' with {} "
                                              "(give them the same parallelism)",
                                              first_name(from), from.parallelism, first_name(to),
                                              to.parallelism));
        }
        return before;
    }

    [[nodiscard]] const std::string& first_name(const Fragment& fragment) const {
        return segments_.all[fragment.segment]->operators()[fragment.first].name;
    }

    static GraphError unordered(const std::string& name, const std::string& what) {
        return GraphError(
            fmt::format("ordered() before operator '{}' restores the order of a section that "
                        "starts with rebalance(), but finds {}",
                        name, what));
    }

    // ---- tasks ---------------------------------------------------------------------------------

    void group() {
        plan_.groups.resize(plan_.fragments.size());
        std::iota(plan_.groups.begin(), plan_.groups.end(), std::size_t{0});
        if (options_.mode == RunOptions::Mode::dedicated || !options_.fuse) return;
        for (std::size_t f = 0; f < plan_.fragments.size(); ++f) {
            for (const Edge& edge : plan_.fragments[f].edges) {
                if (!joins(plan_.fragments[f], edge)) continue;
                const std::size_t from = plan_.groups[edge.to];
                const std::size_t to = plan_.groups[f];
                std::replace(plan_.groups.begin(), plan_.groups.end(), std::max(from, to),
                             std::min(from, to));
            }
        }
    }

    /// One worker gains nothing from separate tasks. Several do, but not along a plain forward
    /// edge: what one replica hands to one other is best handled at once, while it is hot.
    [[nodiscard]] bool joins(const Fragment& from, const Edge& edge) const {
        const Fragment& to = plan_.fragments[edge.to];
        if (from.parallelism != to.parallelism) return false;
        if (edge.delivery != Delivery::direct && from.parallelism != 1) return false;
        if (options_.mode == RunOptions::Mode::simulation) return options_.seed % 2 == 0;
        if (plan_.workers == 1) return true;
        return edge.delivery == Delivery::direct && !from.splits && to.producers.size() == 1;
    }

    const Segments& segments_;
    const RunOptions& options_;
    Plan plan_;
    std::vector<SegmentReplicas> replicas_;  // per segment
    std::vector<std::size_t> head_;          // per segment, its first fragment
};

}  // namespace

Plan make_plan(const Segments& segments, const RunOptions& options, std::size_t cores) {
    check(segments, options);
    return Planner{segments, options, cores}.make();
}

}  // namespace strid::graph
