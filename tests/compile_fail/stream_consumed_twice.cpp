// SPDX-License-Identifier: Apache-2.0
//
// A stream is consumed once: its functions take it as an rvalue.
// expect: discards
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
    auto stream = graph.source(Numbers{});
#ifdef STRID_MUST_NOT_COMPILE
    stream.sink([](int) {});
#else
    std::move(stream).sink([](int) {});
#endif
}
