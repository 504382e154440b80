// SPDX-License-Identifier: Apache-2.0
//
// Where an application's records come from and go to, as the command line says. Plain values; the
// functions here build a graph and touch no record.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <strid/connector/connector.hpp>
#include <strid/stream/graph.hpp>

namespace strid::apps {

struct Endpoints {
    std::string input = "-";     ///< "-": standard input.
    std::string output = "-";    ///< "-": standard output; empty: results are dropped.
    double rate_per_second = 0;  ///< Records, open loop; 0: as fast as it goes.
    /// Above 0: the input is read into memory and replayed for so long.
    std::chrono::nanoseconds duration{0};
    OnMalformed on_malformed = OnMalformed::stop;  ///< Of every input.
    std::function<void(const MalformedLine&)> dead_letter{};
    Writing writing = Writing::whole;  ///< Of every output.
    std::uint64_t generate = 0;        ///< Above 0: so many records are made instead of read.
    std::uint64_t seed = 1;            ///< Of those.
    /// Replicas of every operator that the command line asks for; 0: the planner's choice.
    std::size_t parallelism = 0;
    bool measures = false;  ///< The cost counts: results are written to /dev/null, not to files.

    [[nodiscard]] bool replays() const noexcept { return duration.count() > 0; }
    /// The file for results that are asked for at `path`; empty where none are.
    [[nodiscard]] std::string output_of(const std::string& path) const {
        return measures && !path.empty() ? "/dev/null" : path;
    }
};

/// Calls `next` with `source` as it is, at the rate that is asked for, or replayed from memory.
template <class Source, class Next>
auto with_pace(Source source, const Endpoints& endpoints, Next next) {
    if (endpoints.replays()) {
        return next(replay(std::move(source), {.duration = endpoints.duration,
                                               .rate_per_second = endpoints.rate_per_second}));
    }
    if (endpoints.rate_per_second > 0) {
        return next(paced(std::move(source), endpoints.rate_per_second));
    }
    return next(std::move(source));
}

/// Ends the stream: rows of CSV where they are asked for.
template <class T, class Results>
void write_results(Results results, const Endpoints& endpoints) {
    const std::string path = endpoints.output_of(endpoints.output);
    if (path.empty()) {
        std::move(results).sink(discard(), {.name = "drop"});
    } else {
        std::move(results).sink(csv_writer<T>(path, {.writing = endpoints.writing}),
                                {.name = "write"});
    }
}

}  // namespace strid::apps
