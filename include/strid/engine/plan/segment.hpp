// SPDX-License-Identifier: Apache-2.0
//
// A segment: neighbouring operators that were fused when the template was instantiated, as the
// graph remembers them until a run makes replicas. Also the type-erased half that the planner sees:
// names, options, and how the output is routed.
//
// A segment can be cut: the planner may ask for the operators [first, last) only, when their
// parallelisms differ or the run has one node per operator. Not every range has a kernel of its
// own, because each costs compile time (design note 0002): `has_kernel` says which have one. With
// STRID_WHOLE_SEGMENTS, for development builds, only the whole segment has one, and the planner
// refuses a run that would cut it. Chains and segments of the two kinds are in different inline
// namespaces: a stream that is passed between files of different kinds does not link.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/file_use.hpp>
#include <strid/engine/kernel/kernel.hpp>
#include <strid/engine/kernel/stage_list.hpp>
#include <strid/engine/operator/declared.hpp>
#include <strid/engine/operator/per_record.hpp>
#include <strid/stream/options.hpp>

namespace strid::graph {

/// How a segment's output reaches the next one.
enum class Routing : std::uint8_t { none, forward, rebalance, key_by, broadcast, split };

[[nodiscard]] const char* to_string(Routing routing) noexcept;

struct OperatorInfo {
    OperatorInfo(std::string named, std::string of_kind, const OperatorOptions& options);
    OperatorInfo(const OperatorInfo&);
    OperatorInfo(OperatorInfo&&) noexcept;
    OperatorInfo& operator=(const OperatorInfo&);
    OperatorInfo& operator=(OperatorInfo&&) noexcept;
    ~OperatorInfo();

    std::string name;
    std::string kind;       ///< "source", "map", "filter", ...
    bool is_named = false;  ///< By the user, and not by its kind and place.
    std::size_t parallelism = 0;
    OnException on_exception = OnException::stop;
    /// False: replicas would share what they must not (a sink with captured state), so that the
    /// planner gives it one replica unless the options ask for more.
    bool parallel_by_default = true;
    bool draws_watermarks = false;
    bool needs_watermarks = false;  ///< A window of event time.
    bool ends_time = false;         ///< The stream behind it has none.
    /// It cannot have more than one replica, whatever the options ask for.
    bool one_replica = false;
    /// Its replicas share the work on a stream that each of them has: windows in turns.
    bool shares_broadcast = false;
    /// A record costs it no more than it costs a source to make one. If its number of replicas is
    /// not given, the default leaves a worker to each source.
    bool light = false;
    std::vector<std::string> notes = {};  ///< Why it is as it is, for `explain()`.
    std::vector<FileUse> files = {};      ///< That it reads and writes.

    /// Adds the note, unless it is empty.
    void add_note(std::string_view why);
    /// Properties that the operator has by its options.
    void take(OperatorFacts facts);
};

/// One consumer of a segment's output; a split has one per branch.
inline constexpr std::size_t no_segment = static_cast<std::size_t>(-1);

/// Whether the operators [first, last) of a segment of `count` are fused in a kernel: all, all but
/// the source (which often has one replica), all but a sink (which has, too), and each alone.
[[nodiscard]] constexpr bool has_kernel(std::size_t first, std::size_t last, std::size_t count,
                                        bool has_source, bool has_sink) noexcept {
    const bool from_begin = first == 0 || (first == 1 && has_source);
    if (last - first == 1 || (from_begin && last == count)) return true;
    return first == 0 && last + 1 == count && has_sink;
}

/// The kernels that a segment was compiled with.
enum class Kernels : std::uint8_t { whole_and_parts, whole_only };

/// The operators [first, last) of a segment as those of a kernel. Its output is that of the
/// segment, or a plain one to the next node.
struct KernelPart {
    std::size_t first = 0;
    std::size_t last = 0;
    bool has_plain_output = false;

    bool operator==(const KernelPart&) const = default;
};

/// The properties of a segment that decide which of its parts have a kernel.
struct SegmentShape {
    std::size_t count;  ///< Of operators.
    bool has_source;
    bool has_sink;
    Kernels kernels;

    /// Calls `visit` with each part that has a kernel.
    template <class Visit>
    constexpr void each_part(const Visit& visit) const {
        if (kernels == Kernels::whole_only) return visit(KernelPart{0, count, false});
        for (std::size_t first = 0; first != count; ++first) {
            for (std::size_t last = first + 1; last <= count; ++last) {
                if (!has_kernel(first, last, count, has_source, has_sink)) continue;
                if (last == count) visit(KernelPart{first, last, false});
                if (last != count || (last == first + 1 && !has_sink)) {
                    visit(KernelPart{first, last, true});
                }
            }
        }
    }
};

/// The parts of a segment of this shape that have a kernel.
template <SegmentShape shape>
inline constexpr auto kernel_parts = [] {
    constexpr std::size_t count = [] {
        std::size_t parts = 0;
        shape.each_part([&parts](const KernelPart&) { ++parts; });
        return parts;
    }();
    std::array<KernelPart, count> parts{};
    std::size_t next = 0;
    shape.each_part([&](const KernelPart& part) { parts[next++] = part; });
    return parts;
}();

class SegmentBase {
  public:
    SegmentBase(std::vector<OperatorInfo> operators, Routing routing, std::size_t branches,
                const SegmentShape& shape);
    SegmentBase(const SegmentBase&) = delete;
    SegmentBase& operator=(const SegmentBase&) = delete;
    virtual ~SegmentBase();

    /// A replica of the operators [first, last), which have a kernel. Where `last` is the end, it
    /// routes as the segment does, unless `plain_output`, for the last operator alone: then it
    /// forwards to a distributing node (figure 17).
    [[nodiscard]] std::unique_ptr<operators::Node> instantiate(std::size_t first, std::size_t last,
                                                               bool plain_output,
                                                               std::size_t replica,
                                                               std::size_t parallelism) const;
    /// The distributing node of the segment's output. Null for segments without a router, or whose
    /// parts have no kernel.
    [[nodiscard]] std::unique_ptr<operators::Node> instantiate_distribution(
        std::size_t replica, std::size_t parallelism) const;
    [[nodiscard]] bool has_source() const noexcept { return shape_.has_source; }
    [[nodiscard]] bool has_sink() const noexcept { return shape_.has_sink; }

    [[nodiscard]] const std::vector<OperatorInfo>& operators() const noexcept { return operators_; }
    [[nodiscard]] std::vector<OperatorInfo>& operators() noexcept { return operators_; }
    [[nodiscard]] Routing routing() const noexcept { return routing_; }
    /// The segment behind each branch; `no_segment` where the stream was never consumed.
    [[nodiscard]] const std::vector<std::size_t>& targets() const noexcept { return targets_; }
    void set_target(std::size_t branch, std::size_t segment) { targets_[branch] = segment; }
    /// The input is put back into its order before a parallel section.
    [[nodiscard]] bool restores_order() const noexcept { return restores_order_; }
    void restore_order() noexcept { restores_order_ = true; }
    [[nodiscard]] Kernels kernels() const noexcept { return shape_.kernels; }

  private:
    /// Null for a part without a kernel.
    [[nodiscard]] virtual std::unique_ptr<operators::Node> node_of(
        const KernelPart& part, const operators::NodePlace& place) const = 0;
    [[nodiscard]] virtual std::unique_ptr<operators::Node> distribution(
        const operators::NodePlace& place) const = 0;

    std::vector<OperatorInfo> operators_;
    Routing routing_;
    std::vector<std::size_t> targets_;
    bool restores_order_ = false;
    SegmentShape shape_;
};

#ifdef STRID_WHOLE_SEGMENTS
inline namespace whole_segments {
inline constexpr Kernels compiled_kernels = Kernels::whole_only;
#else
inline namespace segments_and_parts {
inline constexpr Kernels compiled_kernels = Kernels::whole_and_parts;
#endif

/// A head and the operators behind it: the type of a fused chain.
template <class Head, class... Operators>
struct Chain {
    Head head;
    operators::StageList<Operators...> operators;
};

template <class Router, class Head, class... Operators>
class Segment final : public SegmentBase {
    static constexpr std::size_t operator_count = Head::operators + sizeof...(Operators);

    /// The records that arrive at operator I; at the end: that leave the segment.
    template <std::size_t I>
    static auto arriving() {
        if constexpr (I <= Head::operators) {
            return std::type_identity<typename Head::Arrived>{};
        } else {
            using At =
                operators::StageTypeAt<I - Head::operators - 1, operators::StageList<Operators...>>;
            return std::type_identity<typename At::Emitted>{};
        }
    }
    template <std::size_t I>
    using Arriving = typename decltype(arriving<I>())::type;

  public:
    Segment(Chain<Head, Operators...> chain, Router router, std::vector<OperatorInfo> infos,
            Routing routing, std::size_t branches)
        : SegmentBase(std::move(infos), routing, branches, shape),
          chain_(std::move(chain)),
          router_(std::move(router)) {}

  private:
    static constexpr SegmentShape shape = {.count = operator_count,
                                           .has_source = Head::operators == 1,
                                           .has_sink = !Router::has_output,
                                           .kernels = compiled_kernels};
    static constexpr const auto& parts = kernel_parts<shape>;

    [[nodiscard]] std::unique_ptr<operators::Node> node_of(
        const KernelPart& part, const operators::NodePlace& place) const override {
        return [&]<std::size_t... N>(std::index_sequence<N...>) {
            std::unique_ptr<operators::Node> node;
            (void)((part == parts[N] && (node = make<N>(place)) != nullptr) || ...);
            return node;
        }(std::make_index_sequence<parts.size()>{});
    }

    [[nodiscard]] std::unique_ptr<operators::Node> distribution(
        [[maybe_unused]] const operators::NodePlace& place) const override {
        if constexpr (Router::has_output && compiled_kernels == Kernels::whole_and_parts) {
            using Record = Arriving<operator_count>;
            using Identity = operators::Identity<Record>;
            using K = operators::Kernel<operators::InputHead<Record>, Router, Identity>;
            return std::unique_ptr<operators::Node>(new K({}, {{Identity{}}}, router_, place));
        } else {
            return nullptr;
        }
    }

    /// A kernel of the part number N.
    template <std::size_t N>
    std::unique_ptr<operators::Node> make(const operators::NodePlace& place) const {
        constexpr KernelPart part = parts[N];
        constexpr bool has_head = part.first == 0;
        constexpr std::size_t first = has_head ? 0 : part.first - Head::operators;
        using All = operators::StageList<Operators...>;
        using H = std::conditional_t<has_head, Head, operators::InputHead<Arriving<part.first>>>;
        using R = std::conditional_t<part.has_plain_output,
                                     operators::SingleSlotRouter<Arriving<part.last>>, Router>;
        const auto made = [&]<std::size_t... S>(const H& head, const R& router,
                                                std::index_sequence<S...>) {
            using K = operators::Kernel<H, R, operators::StageTypeAt<first + S, All>...>;
            return std::unique_ptr<operators::Node>(new K(
                head, {{operators::stage_at<first + S>(chain_.operators)}...}, router, place));
        };
        constexpr std::make_index_sequence<part.last - Head::operators - first> stages;
        if constexpr (has_head && part.has_plain_output) {
            return made(chain_.head, R{}, stages);
        } else if constexpr (has_head) {
            return made(chain_.head, router_, stages);
        } else if constexpr (part.has_plain_output) {
            return made(H{}, R{}, stages);
        } else {
            return made(H{}, router_, stages);
        }
    }

    Chain<Head, Operators...> chain_;
    Router router_;
};

}  // namespace whole_segments or segments_and_parts

/// The segments of a graph; what the streams of a graph add to.
struct Segments {
    std::vector<std::unique_ptr<SegmentBase>> all;
    std::vector<std::string> described;  // every operator, also of streams that lead nowhere

    std::size_t add(std::unique_ptr<SegmentBase> segment) {
        all.push_back(std::move(segment));
        return all.size() - 1;
    }
};

/// Where a stream comes from: a branch of a segment's output.
struct Origin {
    std::size_t segment;
    std::size_t branch;
};

}  // namespace strid::graph
