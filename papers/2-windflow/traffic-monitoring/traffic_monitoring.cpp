// SPDX-License-Identifier: Apache-2.0
#include "traffic_monitoring.hpp"

#include <utility>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>

namespace strid::apps::traffic_monitoring {

namespace {

/// The speeds of a road.
struct Speeds {
    double sum = 0;
    std::uint64_t count = 0;
};

/// The mean speed of a road after each of its matches: a copy for each road.
struct SpeedOfRoad {
    Speeds speeds;

    RoadSpeed operator()(const Match& match) {
        speeds.sum += match.speed;
        ++speeds.count;
        return {match.road, speeds.sum / static_cast<double>(speeds.count), speeds.count};
    }
};

Stream<Fix> fixes_of(Graph& graph, const Endpoints& endpoints, const Options& options) {
    auto file = csv_file<Fix>(endpoints.input, {.columns = options.columns,
                                                .on_malformed = endpoints.on_malformed,
                                                .dead_letter = endpoints.dead_letter});
    return with_pace(std::move(file), endpoints, [&](auto source) -> Stream<Fix> {
        return graph.source(std::move(source), {.name = "fixes"});
    });
}

/// Ends the stream of matches.
void write_speeds(Stream<Match> matches, const Endpoints& endpoints, const Options& options) {
    auto speeds = std::move(matches)
                      .key_by<&Match::road>()
                      .accumulate(Speeds{},
                                  [](Speeds& speeds, const Match& match) {
                                      speeds.sum += match.speed;
                                      ++speeds.count;
                                  },
                                  options.emit, {.name = "speed"})
                      .map(
                          [](const Keyed<std::int64_t, Speeds>& road) {
                              const auto& [sum, count] = road.value;
                              return RoadSpeed{road.key, sum / static_cast<double>(count), count};
                          },
                          {.name = "rows"});
    write_results<RoadSpeed>(std::move(speeds), endpoints);
}

}  // namespace

void build(Graph& graph, const Endpoints& endpoints, const Options& options,
           std::shared_ptr<const RoadIndex> index) {
    const bool follows_vehicles = options.matcher == Matcher::hidden_markov;
    if (options.ordered && follows_vehicles) {
        throw GraphError(
            "--ordered goes with --matcher nearest: the vehicles of hidden-markov are spread over "
            "replicas by key, which leaves each its own order");
    }
    Stream<Fix> fixes = fixes_of(graph, endpoints, options);
    if (follows_vehicles) {
        Stream<Match> matches = std::move(fixes).key_by<&Fix::vehicle>().flat_map<Match>(
            HiddenMarkovRoad(std::move(index), options.markov), {.name = "match"});
        return write_speeds(std::move(matches), endpoints, options);
    }
    auto matches = std::move(fixes).rebalance().flat_map<Match>(NearestRoad(std::move(index)),
                                                                {.name = "match"});
    if (options.ordered) return write_speeds(std::move(matches).ordered(), endpoints, options);
    write_speeds(std::move(matches), endpoints, options);
}

void build_papers_form(Graph& graph, const Endpoints& endpoints, const Options& options,
                       std::shared_ptr<const RoadIndex> index) {
    auto speeds = fixes_of(graph, endpoints, options)
                      .flat_map<Match>(NearestRoad(std::move(index)), {.name = "match"})
                      .key_by<&Match::road>()
                      .map(SpeedOfRoad{}, {.name = "speed"});
    write_results<RoadSpeed>(std::move(speeds), endpoints);
}

}  // namespace strid::apps::traffic_monitoring
