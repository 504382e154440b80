// SPDX-License-Identifier: Apache-2.0
//
// Options of the benchmark programs: `--name value`, each value handed to its reader. Everything
// that is wrong is a std::invalid_argument.
#pragma once

#include <charconv>
#include <concepts>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strid::bench {

template <class Number>
    requires std::integral<Number> || std::floating_point<Number>
[[nodiscard]] Number number_of(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
        throw std::invalid_argument("not a number that fits: " + std::string(text));
    }
    return number;
}

using Reader = std::function<void(std::string_view)>;

template <class Number>
[[nodiscard]] Reader number_into(Number& number) {
    return [&number](std::string_view text) { number = number_of<Number>(text); };
}
/// Numbers with commas between.
[[nodiscard]] inline Reader numbers_into(std::vector<std::size_t>& numbers) {
    return [&numbers](std::string_view text) {
        numbers.clear();
        for (;;) {
            const std::size_t comma = text.find(',');
            numbers.push_back(number_of<std::size_t>(text.substr(0, comma)));
            if (comma == std::string_view::npos) return;
            text.remove_prefix(comma + 1);
        }
    };
}
[[nodiscard]] inline Reader text_into(std::string& text) {
    return [&text](std::string_view value) { text = value; };
}

class CommandLine {
  public:
    explicit CommandLine(std::map<std::string_view, Reader> readers)
        : readers_(std::move(readers)) {}

    void read(int argc, char** argv) const {
        const std::vector<std::string_view> arguments(argv + 1, argv + argc);
        for (std::size_t at = 0; at < arguments.size(); at += 2) {
            const auto reader = readers_.find(arguments[at]);
            if (reader == readers_.end() || at + 1 == arguments.size()) {
                throw std::invalid_argument(usage());
            }
            reader->second(arguments[at + 1]);
        }
    }

  private:
    [[nodiscard]] std::string usage() const {
        std::string text = "options, each with a value:";
        for (const auto& [name, reader] : readers_) text.append(" ").append(name);
        return text;
    }

    std::map<std::string_view, Reader> readers_;
};

}  // namespace strid::bench
