// SPDX-License-Identifier: Apache-2.0
//
// An application as its program sees it: its row of the table, options of its own, and a graph. The
// objects hold the options that were parsed; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <strid/base/time.hpp>
#include <strid/connector/csv_options.hpp>
#include <strid/stream/graph.hpp>

#include "applications.hpp"
#include "endpoints.hpp"

namespace CLI {
class App;
}

namespace strid::apps {

/// The graph of an application that a paper has, too.
enum class GraphForm : std::uint8_t {
    own,   ///< what runs best here
    paper  ///< the operators of paper 2, none of them chained: its table 3 counts their blocks
};

class Application {
  public:
    /// Of the row of that name. Throws std::invalid_argument where there is none.
    explicit Application(std::string_view name);
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;
    virtual ~Application() = default;

    [[nodiscard]] const ApplicationFacts& facts() const noexcept { return *facts_; }
    [[nodiscard]] std::string_view name() const noexcept { return facts_->name; }

    /// Adds the option of the file beside the input, and the application's own.
    void add_options(CLI::App& command);
    /// Throws GraphError when an option is missing or wrong that a run cannot do without.
    void check() const;
    virtual void build(Graph& graph, const Endpoints& endpoints) = 0;
    /// Files that build() reads or writes: the one beside the input.
    [[nodiscard]] virtual std::vector<FileUse> files() const;
    /// Whether its own options have it make its records, so that it reads no input.
    [[nodiscard]] virtual bool makes_records() const noexcept { return false; }
    /// `options` as the form of the graph has them: that of the paper is not fused.
    [[nodiscard]] RunOptions options_of_form(RunOptions options) const;
    /// Of the graph that was built last: bytes of input that were handled, from any thread. Empty
    /// where the application does not count them.
    [[nodiscard]] virtual std::function<std::uint64_t()> bytes_done() const { return {}; }

  protected:
    virtual void add_own_options(CLI::App& command) = 0;
    /// The option --form, for an application whose graph can be the paper's.
    void add_form_option(CLI::App& command);
    /// The form that the options ask for; another one where the application has forms of its own.
    [[nodiscard]] virtual GraphForm form() const noexcept { return form_; }
    virtual void check_own() const {}
    /// The file beside the input; empty where none is named.
    [[nodiscard]] const std::string& side_file() const noexcept { return side_file_; }

  private:
    const ApplicationFacts* facts_;
    std::string side_file_;
    GraphForm form_ = GraphForm::own;
};

/// Adds `NAME TIME`; `read` is read_duration or read_duration_or_zero (program/arguments.hpp).
void add_duration_option(CLI::App& command, const char* name, Duration& value, const char* help,
                         Duration (*read)(std::string_view));

/// The columns of an option, `C,C,...`: names, or numbers from 1. Throws GraphError where they are
/// not `count`; `meanings` says which they are.
[[nodiscard]] std::vector<CsvColumn> read_columns(std::string_view text, std::size_t count,
                                                  std::string_view meanings);

}  // namespace strid::apps
