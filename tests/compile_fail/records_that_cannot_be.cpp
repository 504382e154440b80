// SPDX-License-Identifier: Apache-2.0
//
// A record that cannot be read from a row, emitted as another type or added up is one sentence.
// error: the function emits records of another type than U, which flat_map<U> names
// error: the record of a row is a plain aggregate, without private members and constructors
// error: a field of a row is a number, an enumeration, text, a time
// error: a field of a row is a number, an enumeration, text, a time
// error: an aggregate has a type State, State lift(const T&) const
#include <optional>
#include <vector>

#include <strid/strid.hpp>
#include <strid/window/aggregates.hpp>

#include "numbers.hpp"

using namespace strid;

struct Reading {
    int sensor;
    double value;
};
struct Sum {
    using State = double;
    [[nodiscard]] State lift(const Reading& reading) const { return reading.value; }
    [[nodiscard]] State combine(const State& a, const State& b) const { return a + b; }
    [[nodiscard]] double lower(const State& state) const { return state; }
};
struct WholeSum : Sum {
    [[nodiscard]] State identity() const { return 0; }
};

void build(Graph& graph) {
    const auto keyed = [&graph] {
        return graph.source(csv_file<Reading>("readings")).key_by<&Reading::sensor>();
    };
#ifdef STRID_MUST_NOT_COMPILE
    class Hidden {
        int number_ = 0;

      public:
        [[nodiscard]] int number() const { return number_; }
    };
    struct Odd {
        int number;
        std::vector<int> more;
    };
    graph.source(Numbers{})
        .flat_map<Reading>([](int number, auto& emit) { emit(std::optional<int>{number}); })
        .sink(discard());
    graph.source(csv_file<Hidden>("rows")).sink(discard());
    graph.source(csv_file<Odd>("rows")).sink(discard());
    graph.source(json_lines<std::optional<Hidden>>("rows", {})).sink(discard());
    keyed().window(window::CountWindows::tumbling(5), Sum{});
#else
    graph.source(Numbers{})
        .flat_map<Reading>([](int number, auto& emit) {
            emit(Reading{number, 0});
        })
        .sink(discard());
    keyed().window(window::CountWindows::tumbling(5), WholeSum{}).sink(discard());
#endif
}
