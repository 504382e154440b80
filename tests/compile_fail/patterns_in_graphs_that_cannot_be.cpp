// SPDX-License-Identifier: Apache-2.0
//
// Records that go to the nodes of a pattern outlive their batch there, and wait in lanes; what a
// graph in a pattern makes outlives its batch too.
// error: this operator keeps records longer than the batches that their text fields
// error: the tasks of a pattern can be made of nothing, moved and destroyed without
// error: this operator keeps records longer than the batches that their text fields
// error: other tasks arrive here than the graph takes
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <strid/pattern/pattern.hpp>
#include <strid/pattern/pattern_operator.hpp>
#include <strid/stream/graph_node.hpp>

#include "numbers.hpp"

using namespace strid;
using pattern::pattern_operator;

template <class Text>
struct TextLine {
    Text text = {};
};
struct Numbered {
    explicit Numbered(int n) : number(n) {}
    int number;
};

template <class Record>
void build_with(Graph& graph, const auto& make, const auto& node) {
    graph.source(Numbers{})
        .map([make](int number) -> Record { return make(number); })
        .apply(pattern_operator(node));
}

template <class Text>
auto lines() {
    return graph_node<int, std::pair<int, Text>>([](auto numbers) {
        return std::move(numbers).map([](int) { return std::pair<int, Text>{}; });
    });
}

void build(Graph& graph) {
    const auto number_of = [](const Numbered& one) { return one.number; };
    const auto size_of = [](const auto& line) { return static_cast<int>(line.text.size()); };
    const auto ignore = [](const auto&) {};
#ifdef STRID_MUST_NOT_COMPILE
    build_with<TextLine<std::string_view>>(
        graph, [](int) { return TextLine<std::string_view>{}; }, size_of);
    build_with<Numbered>(
        graph, [](int number) { return Numbered{number}; }, number_of);
    (void)lines<std::string_view>();
    const auto texts = pattern::source([]() -> std::optional<std::string> { return {}; });
    pattern::run(pattern::pipeline(texts, lines<std::string>(), ignore));
#else
    build_with<TextLine<std::string>>(
        graph, [](int) { return TextLine<std::string>{}; }, size_of);
    build_with<std::unique_ptr<Numbered>>(
        graph, [](int number) { return std::make_unique<Numbered>(number); },
        [number_of](const std::unique_ptr<Numbered>& one) { return number_of(*one); });
    const auto numbers = pattern::source([]() -> std::optional<int> { return {}; });
    pattern::run(pattern::pipeline(numbers, lines<std::string>(), ignore));
#endif
}
