// SPDX-License-Identifier: Apache-2.0
//
// A map takes the records that arrive, and no others.
// expect: MapFunction
#include <string>

#include <strid/graph/graph.hpp>

struct Numbers {
    using record_type = int;
    template <class Emit>
    strid::SourceStatus poll(Emit& emit, std::size_t) {
        emit(1);
        return strid::SourceStatus::finished;
    }
};

void build(strid::Graph& graph) {
#ifdef STRID_MUST_NOT_COMPILE
    graph.source(Numbers{}).map([](const std::string& text) { return text; }).sink([](auto&&) {});
#else
    graph.source(Numbers{}).map([](int number) { return number; }).sink([](auto&&) {});
#endif
}
