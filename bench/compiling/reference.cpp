// SPDX-License-Identifier: Apache-2.0
//
// Templates of the standard library alone, to measure a machine and its compiler: the unit of the
// compile budget (budget.py). It uses nothing of this project and is never run.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace {

template <std::size_t n>
struct Record {
    std::array<std::uint32_t, n + 1> values;
    std::string text;
    auto operator<=>(const Record&) const = default;
};

/// Sorts, groups and visits records of one type, as a program does.
template <std::size_t n>
std::size_t groups_of(std::size_t count) {
    using One = Record<n>;
    std::vector<One> records(count);
    for (std::size_t i = 0; i != count; ++i) {
        records[i].values.fill(static_cast<std::uint32_t>(i * 7919 % (n + 5)));
        records[i].text = std::to_string(i);
    }
    std::stable_sort(records.begin(), records.end());
    std::map<std::uint32_t, std::vector<One>> by_value;
    std::unordered_map<std::string, std::shared_ptr<One>> by_text;
    for (const One& record : records) {
        by_value[record.values[n]].push_back(record);
        by_text.emplace(record.text, std::make_shared<One>(record));
    }
    std::function<std::size_t(const std::variant<One, std::string>&)> size_of =
        [](const auto& either) {
            return std::visit(
                [](const auto& held) {
                    if constexpr (requires { held.text; }) {
                        return held.text.size();
                    } else {
                        return held.size();
                    }
                },
                either);
        };
    std::size_t sum = by_text.size();
    for (const auto& [value, group] : by_value) sum += size_of(group.front()) + value;
    return sum;
}

template <std::size_t... n>
std::size_t all_groups(std::size_t count, std::index_sequence<n...>) {
    return (groups_of<n>(count) + ...);
}

}  // namespace

int main(int count, char** words) {
    const std::regex number{"(-?[0-9]+)(\\.[0-9]+)?([eE][-+]?[0-9]+)?"};
    const bool matches = std::regex_match(std::string{words[0]}, number);
    return static_cast<int>(
        all_groups(static_cast<std::size_t>(count), std::make_index_sequence<4>{}) +
        static_cast<std::size_t>(matches));
}
