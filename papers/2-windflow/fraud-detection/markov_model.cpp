// SPDX-License-Identifier: Apache-2.0
#include "markov_model.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/byte_reader.hpp>
#include <strid/engine/base/excerpt.hpp>

namespace strid::apps::fraud_detection {

namespace {

constexpr std::size_t model_bytes_max = std::size_t{64} << 20;

std::string read_all(const std::string& path) {
    constexpr std::size_t piece_bytes = std::size_t{64} << 10;
    constexpr int wait_ms = 100;
    ByteReader reader(path);
    std::string text;
    while (text.size() < model_bytes_max) {
        const std::size_t before = text.size();
        text.resize(before + piece_bytes);
        const auto result = reader.read({text.data() + before, piece_bytes}, wait_ms);
        text.resize(before + result.bytes);
        if (result.status == ByteReader::Status::end) return text;
    }
    throw InputOutputError(fmt::format("{}: too large for a model", path));
}

/// Cuts what precedes the first `separator` off `rest`.
std::string_view cut(std::string_view& rest, char separator) noexcept {
    const std::size_t end = std::min(rest.find(separator), rest.size());
    const std::string_view first = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return first;
}

std::string_view cut_line(std::string_view& rest) noexcept {
    std::string_view line = cut(rest, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

double read_probability(std::string_view text, const std::string& where) {
    double probability = 0;
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, probability);
    if (result.ec != std::errc{} || result.ptr != end || !(probability >= 0 && probability <= 1)) {
        throw InputOutputError(fmt::format("{}: '{}' is not a probability", where, excerpt(text)));
    }
    return probability;
}

}  // namespace

MarkovModel::MarkovModel(const std::string& path) {
    const std::string text = read_all(path);
    std::string_view rest = text;
    for (std::string_view line = cut_line(rest); !line.empty();) {
        const std::string_view name = cut(line, ',');
        if (name.empty() || find(name)) {
            throw InputOutputError(fmt::format("{}, line 1: the state '{}' is {}", path,
                                               excerpt(name),
                                               name.empty() ? "without a name" : "named twice"));
        }
        names_.emplace_back(name);
    }
    if (names_.empty())
        throw InputOutputError(path + ", line 1: the names of the states are missing");
    if (names_.size() > states_max) {
        throw InputOutputError(fmt::format("{}, line 1: more than {} states", path, states_max));
    }
    for (std::size_t row = 0; row < states(); ++row) {
        const std::string where = fmt::format("{}, line {}", path, row + 2);
        std::string_view line = cut_line(rest);
        while (!line.empty()) probabilities_.push_back(read_probability(cut(line, ','), where));
        const std::size_t cells = probabilities_.size() - row * states();
        if (cells != states()) {
            throw InputOutputError(
                fmt::format("{}: {} probabilities for {} states", where, cells, states()));
        }
    }
}

std::optional<MarkovModel::State> MarkovModel::find(std::string_view name) const noexcept {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return std::nullopt;
    return static_cast<State>(found - names_.begin());
}

}  // namespace strid::apps::fraud_detection
