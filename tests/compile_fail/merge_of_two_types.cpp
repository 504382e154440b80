// SPDX-License-Identifier: Apache-2.0
//
// Merged streams have one type.
// expect: constraints
#include <strid/stream/graph.hpp>

template <class T>
struct One {
    using record_type = T;
    static constexpr strid::SourceTraits traits{.hears = strid::events<>};
    template <class Emit>
    strid::SourceStatus poll(Emit& emit, std::size_t) {
        emit(T{1});
        return strid::SourceStatus::finished;
    }
};

void build(strid::Graph& graph) {
#ifdef STRID_MUST_NOT_COMPILE
    graph.source(One<int>{}).merge(graph.source(One<double>{})).sink([](int) {});
#else
    graph.source(One<int>{}).merge(graph.source(One<int>{})).sink([](int) {});
#endif
}
