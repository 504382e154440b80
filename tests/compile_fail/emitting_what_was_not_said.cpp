// SPDX-License-Identifier: Apache-2.0
//
// An operator that emits what its types or traits do not say does not compile.
// error: an operator emits records of the type that it says
// error: an operator emits records of the type that it says
// error: an operator that emits in on(...) has the trait .emits = Emits::any_number
// error: an operator that emits in on(...) has the trait .emits = Emits::any_number
// error: an operator that calls emit.late() has the trait .finds_late
// error: an operator that calls emit.late() has the trait .finds_late
#include <strid/operator/contract.hpp>

#include "numbers.hpp"

using namespace strid;

#ifdef STRID_MUST_NOT_COMPILE
constexpr Emits some = Emits::one;
constexpr bool finds_late = false;
using Half = float;
#else
constexpr Emits some = Emits::any_number;
constexpr bool finds_late = true;
using Half = double;
#endif

struct Halves : OperatorTypes<int, double> {
    static constexpr OperatorTraits traits{.hears = events<>};
    void process(int& number, auto& emit) { emit(static_cast<Half>(number / 2)); }
};
struct LastAtTheEnd : OperatorTypes<int, int> {
    static constexpr OperatorTraits traits{.emits = some, .hears = events<Ended>};
    void process(int& number, auto& /*emit*/) { last = number; }
    void on(Ended, auto& emit) { emit(last); }
    auto state() { return std::tie(last); }
    int last = 0;
};
struct Judge : OperatorTypes<int, int> {
    static constexpr OperatorTraits traits{
        .emits = Emits::at_most_one, .hears = events<>, .finds_late = finds_late};
    void process(int& number, auto& emit) { number > 0 ? emit(number) : emit.late(number); }
};

void build(Graph& graph) {
    graph.source(Numbers{}).apply(Halves{}).sink([](double) {});
    graph.source(Numbers{}).apply(LastAtTheEnd{}).sink([](int) {});
    graph.source(Numbers{}).apply(Judge{}).sink([](int) {});
}
