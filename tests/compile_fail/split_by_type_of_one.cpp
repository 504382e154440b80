// SPDX-License-Identifier: Apache-2.0
//
// Only a stream of variants has types to be split by.
// error: split_by_type needs a stream of std::variant
#include <variant>

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
    static_cast<void>(graph.source(One<int>{}).split_by_type());
#else
    auto [numbers] = graph.source(One<std::variant<int> >{}).split_by_type();
    std::move(numbers).sink([](int) {});
#endif
}
