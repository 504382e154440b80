// SPDX-License-Identifier: Apache-2.0
//
// The applications as the command line sees them: a name, words about them, options of their own,
// and a graph. The objects hold the options that were parsed; one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <strid/graph/graph.hpp>

#include "endpoints.hpp"

namespace CLI {
class App;
}

namespace strid::apps {

class Application {
  public:
    Application() = default;
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;
    virtual ~Application() = default;

    [[nodiscard]] virtual std::string_view name() const noexcept = 0;
    /// One line.
    [[nodiscard]] virtual std::string_view summary() const noexcept = 0;
    /// The input, the output, and examples; whole lines.
    [[nodiscard]] virtual std::string_view details() const noexcept = 0;
    /// The operator that reads the input.
    [[nodiscard]] virtual std::string_view source_name() const noexcept = 0;

    /// Adds the application's own options to a command line.
    virtual void add_options(CLI::App& command) = 0;
    /// Throws GraphError when an option is missing that a run cannot do without.
    virtual void check() const {}
    virtual void build(Graph& graph, const Endpoints& endpoints) = 0;
    /// Files that build() reads.
    [[nodiscard]] virtual std::vector<FileUse> files() const { return {}; }
    /// Whether it can make its records (Endpoints::generate).
    [[nodiscard]] virtual bool generates() const noexcept { return false; }
    /// Whether its own options have it make them, so that it reads no input.
    [[nodiscard]] virtual bool makes_records() const noexcept { return false; }
    /// Whether its answer depends on the order of all records: a replay has one source.
    [[nodiscard]] virtual bool needs_order() const noexcept { return false; }
    /// Of the graph that was built last: bytes of input that were handled, from any thread. Empty
    /// where the application does not count them.
    [[nodiscard]] virtual std::function<std::uint64_t()> bytes_done() const { return {}; }
};

[[nodiscard]] std::unique_ptr<Application> make_word_count();
[[nodiscard]] std::unique_ptr<Application> make_spike_detection();
[[nodiscard]] std::unique_ptr<Application> make_fraud_detection();
[[nodiscard]] std::unique_ptr<Application> make_flights();
[[nodiscard]] std::unique_ptr<Application> make_yahoo_benchmark();
[[nodiscard]] std::unique_ptr<Application> make_traffic_monitoring();
[[nodiscard]] std::unique_ptr<Application> make_linear_road();
[[nodiscard]] std::unique_ptr<Application> make_voip_stream();

/// One of each, in the order in which they are listed.
[[nodiscard]] std::vector<std::unique_ptr<Application>> all_applications();

}  // namespace strid::apps
