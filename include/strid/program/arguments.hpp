// SPDX-License-Identifier: Apache-2.0
//
// The options of a run as text: read from a command line through CLI11, whose headers only the
// sources include. Plain values and functions without state; any thread.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/base/quantity.hpp>
#include <strid/program/session.hpp>
#include <strid/stream/options.hpp>

namespace CLI {
class App;
}

namespace strid {

/// The values of the common options of a command line.
struct RunArguments {
    RunOptions run = {};          ///< Of the run itself.
    SessionOptions session = {};  ///< The output on the terminal and in files.
};

/// Adds --parallelism, --mode, --workers, --pin, --metrics and their like to a command line, to be
/// parsed into `arguments`, which must outlive the parsing.
void add_run_arguments(CLI::App& app, RunArguments& arguments);

/// Adds an option that takes one of `words`; `choose` gets the index of the one that was given.
void add_choice(CLI::App& app, const std::string& name, const std::vector<std::string>& words,
                std::function<void(std::size_t)> choose, const std::string& help);

/// The same for words that stand for enumerators.
template <class Enumeration>
void add_choice(CLI::App& app, const std::string& name, Enumeration& chosen,
                const std::vector<std::pair<std::string, Enumeration>>& meanings,
                const std::string& help) {
    std::vector<std::string> words;
    std::vector<Enumeration> values;
    for (const auto& [word, value] : meanings) {
        words.push_back(word);
        values.push_back(value);
    }
    add_choice(
        app, name, words, [&chosen, values](std::size_t i) { chosen = values[i]; }, help);
}

/// Adds an option whose text `read` takes; a GraphError of it becomes an error of the command line.
void add_text_option(CLI::App& app, const std::string& name, const std::string& type,
                     std::function<void(const std::string&)> read, const std::string& help);

/// Adds an option that takes a whole number from `least` to `most`, written in digits only.
void add_number_option(CLI::App& app, const std::string& name, std::uint64_t least,
                       std::uint64_t most, std::function<void(std::uint64_t)> take,
                       const std::string& help);
/// The same for a variable of any unsigned type.
template <std::unsigned_integral T>
void add_number_option(CLI::App& app, const std::string& name, T& value, std::uint64_t least,
                       std::uint64_t most, const std::string& help) {
    add_number_option(
        app, name, least, most, [&value](std::uint64_t n) { value = static_cast<T>(n); }, help);
}

/// Adds an option that takes a finite decimal number.
void add_decimal_option(CLI::App& app, const std::string& name, double& value,
                        const std::string& help);

/// Parses, and refuses options that were given an empty value; on --help, on a version flag of
/// `app` and on errors, prints the text and returns the exit code.
[[nodiscard]] std::optional<int> parse_arguments(CLI::App& app, int argc, const char* const* argv);

/// Reads `auto`, a number, `operator=number`, or several of these with commas between them. Throws
/// GraphError for any other text, for 0 and for more than `parallelism_max`.
void read_parallelism(std::string_view text, RunOptions& options);

/// Reads numbers of processors with commas between them. Throws GraphError.
[[nodiscard]] std::vector<int> read_affinity(std::string_view text);

/// " (did you mean X?)" for the candidate X nearest to `word`; empty where none is near.
[[nodiscard]] std::string suggestion(std::string_view word,
                                     const std::vector<std::string>& candidates);

}  // namespace strid
