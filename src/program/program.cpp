// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strid/base/error.hpp>
#include <strid/program/program.hpp>

namespace strid {

struct Arguments::State {
    State(std::string program, std::string description)
        : app(std::move(description), std::move(program)) {
        add_run_arguments(app, run);
        app.add_flag("--explain", explain,
                     "Show how the graph would be laid out; do not run it. --explain=algebra: also "
                     "the derivation of its building blocks (paper 2)")
            ->check(CLI::Validator(
                [](const std::string& word) {
                    return word == "true" || word == "algebra" ? "" : "algebra, or no value";
                },
                ""));
        app.add_option("--graph", run.session.picture_path,
                       "Draw the graph with the rates of the run")
            ->type_name("FILE.svg|.dot|.txt");
        for (CLI::Option* option : app.get_options()) {
            if (option->get_name() != "--help") option->group("Options of the run");
        }
    }

    CLI::App app;
    RunArguments run;
    std::string explain;  // "true", or the word that was given
};

namespace {

/// The whole text as a number; nothing where it is not one.
template <class T>
std::optional<T> number_of(std::string_view text) {
    T number{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return number;
}

void check_limits(std::string_view text, double number, const OwnOption& options) {
    if (options.at_least && number < *options.at_least) {
        throw GraphError(fmt::format("{} is below {}", text, *options.at_least));
    }
    if (options.at_most && number > *options.at_most) {
        throw GraphError(fmt::format("{} is above {}", text, *options.at_most));
    }
}

std::string shown_time(std::chrono::nanoseconds time) {
    constexpr std::pair<std::int64_t, const char*> units[] = {{3600'000'000'000, "h"},
                                                              {60'000'000'000, "m"},
                                                              {1'000'000'000, "s"},
                                                              {1'000'000, "ms"},
                                                              {1'000, "us"}};
    const std::int64_t ns = time.count();
    for (const auto& [size, unit] : units) {
        if (ns != 0 && ns % size == 0) return fmt::format("{}{}", ns / size, unit);
    }
    return fmt::format("{}us", static_cast<double>(ns) / 1e3);
}

}  // namespace

Arguments::Arguments(std::string program, std::string description)
    : state_(std::make_unique<State>(std::move(program), std::move(description))) {}
Arguments::Arguments(Arguments&&) noexcept = default;
Arguments& Arguments::operator=(Arguments&&) noexcept = default;
Arguments::~Arguments() = default;

void Arguments::add(const std::string& name, const OwnOption& options, const std::string& help,
                    const std::string& type, const std::string& standard,
                    std::function<void(const std::string&)> read) {
    const auto checked = [name, read = std::move(read)](const std::string& text) {
        try {
            read(text);
        } catch (const GraphError& error) {
            throw CLI::ValidationError(name, error.what());
        }
    };
    try {
        auto* const option = state_->app.add_option_function<std::string>(name, checked, help);
        option->type_name(options.type.empty() ? type : options.type);
        option->required(options.required);
        if (!options.required && !standard.empty()) option->default_str(standard);
    } catch (const CLI::Error& error) {
        throw GraphError(fmt::format("the option {} cannot be added: {}", name, error.what()));
    }
}

Arguments& Arguments::option(const std::string& name, std::string& value, const std::string& help,
                             const OwnOption& options) {
    const std::string type =
        options.one_of.empty() ? "TEXT" : fmt::format("{}", fmt::join(options.one_of, "|"));
    add(name, options, help, type, value, [&value, options](const std::string& text) {
        const auto& words = options.one_of;
        if (!words.empty() && std::find(words.begin(), words.end(), text) == words.end()) {
            throw GraphError(fmt::format("'{}' is none of {}", text, fmt::join(words, ", ")));
        }
        value = text;
    });
    return *this;
}

Arguments& Arguments::option(const std::string& name, std::chrono::nanoseconds& value,
                             const std::string& help, const OwnOption& options) {
    add(name, options, help, "TIME", shown_time(value),
        [&value](const std::string& text) { value = read_duration_or_zero(text); });
    return *this;
}

Arguments& Arguments::option(const std::string& name, std::function<void(const std::string&)> read,
                             const std::string& help, const OwnOption& options) {
    add(name, options, help, "TEXT", {}, std::move(read));
    return *this;
}

Arguments& Arguments::flag(const std::string& name, bool& value, const std::string& help) {
    try {
        state_->app.add_flag(name, value, help);
    } catch (const CLI::Error& error) {
        throw GraphError(fmt::format("the option {} cannot be added: {}", name, error.what()));
    }
    return *this;
}

std::int64_t Arguments::read_integer(std::string_view text, std::int64_t least, std::int64_t most,
                                     const OwnOption& options) {
    const auto number = number_of<std::int64_t>(text);
    if (!number || *number < least || *number > most) {
        throw GraphError(
            fmt::format("'{}' is not a whole number from {} to {}", text, least, most));
    }
    check_limits(text, static_cast<double>(*number), options);
    return *number;
}

std::uint64_t Arguments::read_unsigned(std::string_view text, std::uint64_t most,
                                       const OwnOption& options) {
    const auto number = number_of<std::uint64_t>(text);
    if (!number || *number > most) {
        throw GraphError(fmt::format("'{}' is not a whole number from 0 to {}", text, most));
    }
    check_limits(text, static_cast<double>(*number), options);
    return *number;
}

double Arguments::read_number(std::string_view text, const OwnOption& options) {
    const auto number = number_of<double>(text);
    if (!number || !std::isfinite(*number)) {
        throw GraphError(fmt::format("'{}' is not a number", text));
    }
    check_limits(text, *number, options);
    return *number;
}

std::string Arguments::shown(double value) {
    return fmt::format("{}", value);
}

std::optional<int> Arguments::parse(int argc, const char* const* argv) {
    return parse_arguments(state_->app, argc, argv);
}

RunArguments& Arguments::run() noexcept {
    return state_->run;
}
bool Arguments::explains() const noexcept {
    return !state_->explain.empty();
}
std::string Arguments::explanation(const Graph& graph) const {
    std::string text = graph.explain(state_->run.run);
    if (state_->explain == "algebra") text += "\n" + graph.explain_algebra(state_->run.run);
    return text;
}

}  // namespace strid
