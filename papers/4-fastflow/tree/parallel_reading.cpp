// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "parallel.hpp"

namespace strid::tree {

Table read_table(CsvBlocks& input, const ReadingOptions& options, strid::pattern::Team& team,
                 const tool::WorkerOptions& workers, const Report& report) {
    namespace pattern = strid::pattern;
    const TableParser parser(input, options);
    TableBuilder builder(parser);
    const auto blocks = pattern::source([&input]() -> std::optional<CsvBlock> {
        CsvBlock block;
        if (!input.next(block)) return std::nullopt;
        return block;
    });
    const auto parse = [&parser](CsvBlock block) { return parser.parse(std::move(block)); };
    const auto add = [&](ParsedBlock parsed) {
        builder.add(std::move(parsed));
        report(input.bytes_read());
    };
    run_pattern(pattern::pipeline(
                    pattern::named("read", blocks),
                    pattern::named("parse", pattern::ordered_farm(parse, pattern::Adaptive{},
                                                                  {.workers = workers.count})),
                    pattern::named("add", add)),
                workers);
    builder.settle();
    pattern::parallel_for(team, 0, builder.attributes(),
                          [&builder](std::size_t i) { builder.build_column(i); });
    return builder.take();
}

void prepare(std::vector<std::unique_ptr<Training>>& trainings, strid::pattern::Team& team) {
    if (trainings.empty()) return;
    const std::size_t attributes = trainings.front()->attributes();
    strid::pattern::parallel_for(team, 0, trainings.size() * attributes, [&](std::size_t i) {
        trainings[i / attributes]->prepare(i % attributes);
    });
}

}  // namespace strid::tree
