// SPDX-License-Identifier: Apache-2.0
//
// The states of transactions and how likely one follows another, as read from a file: the names of
// the states in the first line, then one line of probabilities per state. Immutable once read, so
// any thread may ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strid::apps::fraud_detection {

class MarkovModel {
  public:
    /// The states are numbered by one byte.
    static constexpr std::size_t states_max = 256;
    using State = std::uint8_t;

    /// Throws InputOutputError naming file and line.
    explicit MarkovModel(const std::string& path);

    [[nodiscard]] std::size_t states() const noexcept { return names_.size(); }
    /// O(states).
    [[nodiscard]] std::optional<State> find(std::string_view name) const noexcept;
    [[nodiscard]] std::string_view name(State state) const noexcept { return names_[state]; }
    [[nodiscard]] double probability(State before, State came) const noexcept {
        return probabilities_[before * states() + came];
    }

  private:
    std::vector<std::string> names_;
    std::vector<double> probabilities_;  // row by row
};

}  // namespace strid::apps::fraud_detection
