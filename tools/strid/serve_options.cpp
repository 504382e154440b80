// SPDX-License-Identifier: Apache-2.0
#include "serve_options.hpp"

#include <cstddef>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include <strid/base/error.hpp>

namespace strid::tool {

namespace {

constexpr std::size_t lines_max = 1'000;
constexpr std::size_t line_bytes_max = 64'000;

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

}  // namespace

std::vector<ServeOption> read_serve_options(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw InputOutputError(path + ": cannot be opened");
    std::vector<ServeOption> options;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        const auto refuse = [&](const char* reason) {
            throw GraphError(fmt::format("{}:{}: {}", path, number, reason));
        };
        if (number > lines_max || line.size() > line_bytes_max) refuse("the file is too long");
        const std::string_view text = trimmed(line);
        if (text.empty() || text.front() == '#') continue;
        const std::size_t equals = text.find('=');
        const std::string_view name = trimmed(text.substr(0, equals));
        if (name.empty() || name.starts_with('-')) refuse("an option is NAME = VALUE or NAME");
        if (name.find_first_of(" \t") != std::string_view::npos) {
            refuse("an option is NAME = VALUE: its name has no spaces");
        }
        options.push_back({.name = std::string(name), .value = {}});
        if (equals != std::string_view::npos)
            options.back().value = trimmed(text.substr(equals + 1));
    }
    if (file.bad()) throw InputOutputError(path + ": cannot be read");
    return options;
}

std::vector<std::string> words_of(const std::vector<ServeOption>& options) {
    std::vector<std::string> words{"strid", "window", "--quiet", "--zero-on-sigterm"};
    for (const ServeOption& option : options) {
        words.push_back(option.value ? fmt::format("--{}={}", option.name, *option.value)
                                     : fmt::format("--{}", option.name));
    }
    return words;
}

}  // namespace strid::tool
