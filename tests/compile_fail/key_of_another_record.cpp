// SPDX-License-Identifier: Apache-2.0
//
// A key is a member of the records that arrive.
// expect: KeyFunction
#include <strid/graph/graph.hpp>

struct Reading {
    int device;
};
struct Other {
    int device;
};

struct Readings {
    using record_type = Reading;
    template <class Emit>
    strid::SourceStatus poll(Emit& emit, std::size_t) {
        emit(Reading{1});
        return strid::SourceStatus::finished;
    }
};

void build(strid::Graph& graph) {
#ifdef STRID_MUST_NOT_COMPILE
    graph.source(Readings{}).key_by<&Other::device>().sink([](const Reading&) {});
#else
    graph.source(Readings{}).key_by<&Reading::device>().sink([](const Reading&) {});
#endif
}
