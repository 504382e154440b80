// SPDX-License-Identifier: Apache-2.0
#include "word_count.hpp"

#include <utility>

namespace strid::apps::word_count {

void build(Graph& graph, const Endpoints& endpoints, const Options& options,
           std::shared_ptr<ByteCount> bytes) {
    auto lines = text_lines(endpoints.input, {.on_malformed = endpoints.on_malformed,
                                              .dead_letter = endpoints.dead_letter});
    auto words = with_pace(std::move(lines), endpoints, [&](auto source) {
        return graph.source(std::move(source), {.name = "lines"})
            .template flat_map<Word>(SplitWords{bytes}, {.name = "split"})
            .template key_by<&Word::text>()
            .sealed();
    });
    auto counts = std::move(words).accumulate(std::uint64_t{0},
                                              [](std::uint64_t& count, const Word&) { ++count; },
                                              options.emit, {.name = "count"});
    write_results<Count>(std::move(counts), endpoints);
}

}  // namespace strid::apps::word_count
