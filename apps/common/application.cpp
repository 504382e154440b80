// SPDX-License-Identifier: Apache-2.0
#include "application.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

namespace strid::apps {

Application::Application(std::string_view name) : facts_(find_application(name)) {
    if (facts_ == nullptr) {
        throw std::invalid_argument(fmt::format("no application is called {}", name));
    }
}

void Application::add_options(CLI::App& command) {
    const SideFile& file = facts_->side_file;
    if (!file.option.empty()) {
        command.add_option(std::string(file.option), side_file_, std::string(file.help))
            ->type_name("FILE");
    }
    add_own_options(command);
}

void Application::add_form_option(CLI::App& command) {
    add_choice<GraphForm>(
        command, "--form", form_, {{"own", GraphForm::own}, {"paper", GraphForm::paper}},
        "The graph: what runs best, or the operators of paper 2 without chaining, "
        "with the same answer");
}

RunOptions Application::options_of_form(RunOptions options) const {
    if (form() == GraphForm::paper) options.fuse = false;
    return options;
}

void Application::check() const {
    const SideFile& file = facts_->side_file;
    if (side_file_.empty() && !file.example.empty()) {
        throw GraphError(fmt::format("{} needs {} FILE, as {}", name(), file.option, file.example));
    }
    check_own();
}

std::vector<FileUse> Application::files() const {
    if (side_file_.empty()) return {};
    return {{.kind = FileUse::Kind::reads,
             .path = side_file_,
             .user = std::string(facts_->side_file.option)}};
}

void add_duration_option(CLI::App& command, const char* name, Duration& value, const char* help,
                         Duration (*read)(std::string_view)) {
    add_text_option(
        command, name, "TIME", [&value, read](const std::string& text) { value = read(text); },
        help);
}

std::vector<CsvColumn> read_columns(std::string_view text, std::size_t count,
                                    std::string_view meanings) {
    std::vector<CsvColumn> columns;
    for (std::string_view rest = text; columns.empty() || !rest.empty();) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        const std::string_view word = rest.substr(0, end);
        int number = 0;
        const char* const word_end = word.data() + word.size();
        const auto [stop, error] = std::from_chars(word.data(), word_end, number);
        if (error == std::errc{} && stop == word_end) {
            columns.emplace_back(number);
        } else {
            columns.emplace_back(std::string(word));
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (columns.size() == count) return columns;
    throw GraphError(fmt::format("names {} columns; {} are {}", columns.size(), meanings, count));
}

}  // namespace strid::apps
