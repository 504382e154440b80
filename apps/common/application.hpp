// SPDX-License-Identifier: Apache-2.0
//
// An application as its program sees it: facts, options of its own, and a graph. The objects hold
// the options that were parsed; one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <strid/stream/graph.hpp>

#include "endpoints.hpp"

namespace CLI {
class App;
}

namespace strid::apps {

/// The properties of an application that the command line uses before it reads an option.
struct ApplicationFacts {
    std::string_view name;         ///< As in the table (applications.hpp).
    std::string_view details;      ///< Its input, its output, and examples; whole lines.
    std::string_view source_name;  ///< The operator that reads the input.
    bool generates = false;        ///< It can make its records (Endpoints::generate).
    /// Its answer depends on the order of all records: a replay has one source.
    bool needs_order = false;
};

class Application {
  public:
    explicit Application(const ApplicationFacts& facts) : facts_(facts) {}
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;
    virtual ~Application() = default;

    [[nodiscard]] const ApplicationFacts& facts() const noexcept { return facts_; }
    [[nodiscard]] std::string_view name() const noexcept { return facts_.name; }

    /// Adds the application's own options to a command line.
    virtual void add_options(CLI::App& command) = 0;
    /// Throws GraphError when an option is missing that a run cannot do without.
    virtual void check() const {}
    virtual void build(Graph& graph, const Endpoints& endpoints) = 0;
    /// Files that build() reads.
    [[nodiscard]] virtual std::vector<FileUse> files() const { return {}; }
    /// Whether its own options have it make its records, so that it reads no input.
    [[nodiscard]] virtual bool makes_records() const noexcept { return false; }
    /// Of the graph that was built last: bytes of input that were handled, from any thread. Empty
    /// where the application does not count them.
    [[nodiscard]] virtual std::function<std::uint64_t()> bytes_done() const { return {}; }

  private:
    ApplicationFacts facts_;
};

}  // namespace strid::apps
