// SPDX-License-Identifier: Apache-2.0
//
// The command line of a program of one's own: its options beside those of the run, with one --help
// and the same checks. Options are declared first, then parsed into variables, and then the graph
// is built, which may depend on them.
//
// The variables are the program's, and outlive the parsing. One thread.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <strid/graph/arguments.hpp>
#include <strid/graph/graph.hpp>

namespace strid {

/// What an option accepts beside what its type does.
struct OwnOption {
    bool required = false;                 ///< A command line without it is an error.
    std::string type = {};                 ///< In --help, as "CELSIUS"; empty: by the variable.
    std::optional<double> at_least = {};   ///< Of numbers.
    std::optional<double> at_most = {};    ///< Of numbers.
    std::vector<std::string> one_of = {};  ///< Of texts.
};

/// The command line of a program: declare options, then parse, then run. Threads: one.
class Arguments {
  public:
    /// `description` stands at the top of --help.
    explicit Arguments(std::string program, std::string description = {});
    /// What was declared is kept; `other` may only be destroyed.
    Arguments(Arguments&&) noexcept;
    Arguments& operator=(Arguments&&) noexcept;
    ~Arguments();

    /// `--name VALUE`, read into `value`, whose value before is the default and stands in --help. A
    /// number, a text, or a time like `250ms`. A name without dashes is a word that stands by
    /// itself. Throws GraphError for a name that is there already, in the program or in the run.
    template <std::integral T>
        requires(!std::same_as<T, bool>)
    Arguments& option(const std::string& name, T& value, const std::string& help,
                      const OwnOption& options = {}) {
        using Limits = std::numeric_limits<T>;
        add(name, options, help, "N", std::to_string(value),
            [&value, options](const std::string& text) {
                if constexpr (std::is_signed_v<T>) {
                    value =
                        static_cast<T>(read_integer(text, Limits::min(), Limits::max(), options));
                } else {
                    value = static_cast<T>(read_unsigned(text, Limits::max(), options));
                }
            });
        return *this;
    }
    /// A decimal number that is finite.
    template <std::floating_point T>
    Arguments& option(const std::string& name, T& value, const std::string& help,
                      const OwnOption& options = {}) {
        add(name, options, help, "NUMBER", shown(static_cast<double>(value)),
            [&value, options](const std::string& text) {
                value = static_cast<T>(read_number(text, options));
            });
        return *this;
    }
    /// A text.
    Arguments& option(const std::string& name, std::string& value, const std::string& help,
                      const OwnOption& options = {});
    /// A duration with its unit: `250ms`, `5s`, `2m`, `1.5h`.
    Arguments& option(const std::string& name, std::chrono::nanoseconds& value,
                      const std::string& help, const OwnOption& options = {});
    /// One that is read by a function, whose GraphError is an error of the command line.
    Arguments& option(const std::string& name, std::function<void(const std::string&)> read,
                      const std::string& help, const OwnOption& options = {});
    /// `--name`, which sets `value`.
    Arguments& flag(const std::string& name, bool& value, const std::string& help);

    /// Reads the command line. On --help and on errors writes what a person should read and returns
    /// what main() should return.
    [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv);

    /// What was said about the run.
    [[nodiscard]] RunArguments& run() noexcept;
    /// Whether `--explain` was given: the program prints the plan and does not run.
    [[nodiscard]] bool explains() const noexcept;

  private:
    struct State;

    void add(const std::string& name, const OwnOption& options, const std::string& help,
             const std::string& type, const std::string& standard,
             std::function<void(const std::string&)> read);
    static std::int64_t read_integer(std::string_view text, std::int64_t least, std::int64_t most,
                                     const OwnOption& options);
    static std::uint64_t read_unsigned(std::string_view text, std::uint64_t most,
                                       const OwnOption& options);
    static double read_number(std::string_view text, const OwnOption& options);
    static std::string shown(double value);

    std::unique_ptr<State> state_;
};

/// The end of a main() with options of its own: reads them, calls `build` for the graph, and runs
/// it as `run(graph, argc, argv)` does. What `build` throws is told as an error of the run is.
[[nodiscard]] int run(Arguments& arguments, int argc, char** argv,
                      const std::function<Graph()>& build);
/// The same for arguments that were parsed.
[[nodiscard]] int run(const Graph& graph, Arguments& arguments);

}  // namespace strid
