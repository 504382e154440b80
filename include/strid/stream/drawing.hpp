// SPDX-License-Identifier: Apache-2.0
//
// Pictures of a graph: for a terminal, as Graphviz DOT, and as SVG. They are drawn from a plain
// description, before a run or after it; with figures of a run they show rates, load and queues.
// Pure functions of the description, any thread; only `to_svg` touches the system (it runs `dot`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace strid {

/// The description of a graph, and the figures of a run.
struct GraphDescription {
    /// One operator of a segment, all replicas together.
    struct Operator {
        std::string name;                     ///< Unique in the graph.
        std::string kind;                     ///< "source", "map", "filter", ...
        std::size_t parallelism = 1;          ///< Replicas.
        std::uint64_t records_in = 0;         ///< Records that arrived.
        std::uint64_t records_out = 0;        ///< Records that were emitted.
        std::vector<std::string> notes = {};  ///< why it is as it is
    };
    /// The parts of the latency, means of a record in nanoseconds; all 0: unknown (LatencySplit).
    struct Split {
        double user_ns = 0;     ///< In the operators.
        double engine_ns = 0;   ///< In the engine.
        double waiting_ns = 0;  ///< Waiting in queues and batches.

        /// All three.
        [[nodiscard]] double sum_ns() const noexcept { return user_ns + engine_ns + waiting_ns; }
    };
    /// Operators fused into one loop, in the order of the stream.
    struct Segment {
        std::vector<Operator> operators;  ///< In the order of the stream.
        std::size_t parallelism = 1;      ///< Replicas.
        double busy_fraction = 0;         ///< of the run, mean over replicas, 0 to 1
        /// The part of the run in which it waited for room at its output, 0 to 1; negative:
        /// unknown.
        double refused_fraction = 0;
        std::int64_t latency_p50_ns = 0;  ///< from the source to the end of the segment; 0: unknown
        std::int64_t latency_p99_ns = 0;  ///< As latency_p50_ns, the 99th percentile.
        Split split = {};                 ///< of what the segment adds
    };
    /// The connection between two segments.
    struct Edge {
        std::size_t from_segment = 0;  ///< Index of the segment that sends.
        std::size_t to_segment = 0;    ///< Index of the segment that receives.
        std::string routing;           ///< "key_by", "forward", "broadcast", ...
        bool direct = false;           ///< a call within one task, no ring between
        std::uint64_t records = 0;     ///< Records sent over it.
        double fill = 0;               ///< of the ring, mean, 0 to 1; negative: unknown
        bool back = false;             ///< closes a cycle on purpose, as the end of a loop does
        std::string note = {};         ///< what bounds it
    };

    std::string name;               ///< Of the graph.
    std::vector<Segment> segments;  ///< In the order in which they were declared.
    std::vector<Edge> edges;        ///< Between them.
    double seconds = 0;  ///< how long it ran; 0 before a run: the pictures then show no figures
    Split path = {};     ///< of the latency from a record's entry to the sinks
};

/// Which characters a terminal picture may use.
enum class Characters : std::uint8_t {
    unicode,  ///< Lines and arrows of Unicode.
    ascii     ///< ASCII only.
};

/// A picture for a terminal: one box for each segment, producers above consumers, one rail on the
/// left for each edge but those that lead back, which only name where to. Lines end in '\n' and
/// carry no colour codes. Throws GraphError when an edge names a segment that is not there or other
/// edges form a cycle.
[[nodiscard]] std::string to_text(const GraphDescription& description,
                                  Characters characters = Characters::unicode);

/// The graph in the DOT language of Graphviz: a cluster for each segment, tinted by how busy it
/// was; edges as thick as their rate, dashed where they are direct calls. Throws GraphError as
/// above (a cycle is fine here).
[[nodiscard]] std::string to_dot(const GraphDescription& description);

/// The same picture as an SVG document, by running Graphviz's `dot`. Throws Error when `dot` is not
/// installed, naming the Debian package, or fails, with its message.
[[nodiscard]] std::string to_svg(const GraphDescription& description);

}  // namespace strid
