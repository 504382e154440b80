// SPDX-License-Identifier: Apache-2.0
//
// A poll returns a status.
// expect: constraints not satisfied
// expect: Source
#include "numbers.hpp"

struct Silent {
    using record_type = int;
    static constexpr strid::SourceTraits traits{.hears = strid::events<>};
    template <class Emit>
    void poll(Emit& emit, std::size_t) {
        emit(1);
    }
};

void build(strid::Graph& graph) {
#ifdef STRID_MUST_NOT_COMPILE
    graph.source(Silent{}).sink([](int) {});
#else
    graph.source(Numbers{}).sink([](int) {});
#endif
}
