// SPDX-License-Identifier: Apache-2.0
//
// The command line of your own program: its options beside those of the run, with one --help and
// the same checks. Options are declared first, then parsed into variables, and then the graph is
// built, which may depend on them.
//
// The program owns the variables, which must outlive the parsing. One thread.
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

#include <strid/program/arguments.hpp>
#include <strid/stream/graph.hpp>

namespace strid {

/// The restrictions of an option besides its type.
struct OwnOption {
    bool required = false;                 ///< A command line without it is an error.
    std::string type = {};                 ///< In --help, as "CELSIUS"; empty: by the variable.
    std::optional<double> at_least = {};   ///< Of numbers only: the least value that is allowed.
    std::optional<double> at_most = {};    ///< Of numbers only: the greatest value that is allowed.
    std::vector<std::string> one_of = {};  ///< Of texts only: the values that are allowed.
};

/// The command line of a program: declare options, then parse, then run. Threads: one.
class Arguments {
  public:
    /// `description` stands at the top of --help.
    explicit Arguments(std::string program, std::string description = {});
    /// The declarations are kept; `other` may only be destroyed.
    Arguments(Arguments&&) noexcept;
    Arguments& operator=(Arguments&&) noexcept;
    ~Arguments();

    /// `--name VALUE` or `--name=VALUE`, read into `value`, whose initial value is the default and
    /// is shown in --help. The type is a number, a text, or a time like `250ms`. A name without
    /// dashes is a positional argument; these are taken in the order in which they are declared.
    /// The command line may have an option once, and not with an empty value. A whole number is
    /// written in decimal digits and must fit the type. Throws GraphError for a name that the
    /// program or the run already has.
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
    /// A duration with its unit: `250ms`, `5s`, `2m`, `1.5h`, at least 0. Units are ns us ms s m h
    /// d w; a number alone is seconds.
    Arguments& option(const std::string& name, std::chrono::nanoseconds& value,
                      const std::string& help, const OwnOption& options = {});
    /// An option that a function reads, called by parse() where the option is given. Its GraphError
    /// is reported as an error of the command line; parse() throws any other exception of it.
    Arguments& option(const std::string& name, std::function<void(const std::string&)> read,
                      const std::string& help, const OwnOption& options = {});
    /// `--name`, which sets `value` to true.
    Arguments& flag(const std::string& name, bool& value, const std::string& help);

    /// Reads the command line into the variables. Returns nothing where all is well: the program
    /// goes on. On --help it prints the text on standard output and returns 0; on errors it prints
    /// one line on standard error and returns 2. That is what main() should return.
    [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv);

    /// The options of the run, as parse() has read them. The program may change them before it
    /// calls run(graph, arguments).
    [[nodiscard]] RunArguments& run() noexcept;
    /// Whether `--explain` was given. run(graph, arguments) then prints the plan and does not run;
    /// a program that runs the graph otherwise does so itself.
    [[nodiscard]] bool explains() const noexcept;
    /// The text that run(graph, arguments) then prints: Graph::explain(), and behind
    /// `--explain=algebra` Graph::explain_algebra(), too. Throws GraphError where the graph cannot
    /// be run.
    [[nodiscard]] std::string explanation(const Graph& graph) const;

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
/// it as `run(graph, argc, argv)` does (program/main.hpp, with the exit codes). An exception from
/// `build` is reported like an error of the run: one line on standard error, 2 for a GraphError and
/// 1 for any other. `build` is not called where parse() returns a value.
[[nodiscard]] int run(Arguments& arguments, int argc, char** argv,
                      const std::function<Graph()>& build);
/// The same for arguments that were parsed: parse() has returned nothing.
[[nodiscard]] int run(const Graph& graph, Arguments& arguments);

}  // namespace strid
