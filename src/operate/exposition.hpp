// SPDX-License-Identifier: Apache-2.0
//
// Writes the text format of Prometheus: families of samples, with escaped labels. One thread.
//
// Invariant: the samples of a family follow its head without a gap, as the format demands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace strid::operate {

/// Labels as they stand between the braces; made by `labels_of`.
using Labels = std::string;

/// `name="value"` with commas between them, the values escaped.
[[nodiscard]] inline Labels labels_of(
    const std::vector<std::pair<std::string_view, std::string_view>>& pairs) {
    Labels text;
    for (const auto& [name, value] : pairs) {
        if (!text.empty()) text += ',';
        text.append(name).append("=\"");
        for (const char c : value) {
            if (c == '\n') {
                text += "\\n";
                continue;
            }
            if (c == '\\' || c == '"') text += '\\';
            text += c;
        }
        text += '"';
    }
    return text;
}

class Exposition {
  public:
    /// Begins a family. `type` is counter, gauge or histogram.
    void family(std::string_view name, std::string_view type, std::string_view help) {
        name_ = name;
        text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
    }
    /// A sample of the family; `suffix` is that of parts of a histogram.
    template <class Number>
    void sample(const Labels& labels, Number value, std::string_view suffix = {}) {
        text_.append(name_).append(suffix);
        if (!labels.empty()) text_ += fmt::format("{{{}}}", labels);
        text_ += fmt::format(" {}\n", value);
    }
    /// A family of one sample.
    template <class Number>
    void single(std::string_view name, std::string_view type, std::string_view help,
                const Labels& labels, Number value) {
        family(name, type, help);
        sample(labels, value);
    }
    [[nodiscard]] std::string take() noexcept { return std::move(text_); }

  private:
    std::string name_;
    std::string text_;
};

}  // namespace strid::operate
