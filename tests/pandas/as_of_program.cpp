// SPDX-License-Identifier: Apache-2.0
//
// An as-of join of two files, for the comparison with pandas:
//
//     as_of_program KIND MATCHES_EQUAL TOLERANCE_NS DISORDER_NS [OPTION...]
//
// joins trades.csv and quotes.csv (key, time in ns, number) and writes the numbers of each pair to
// pairs.csv, -1 for none. TOLERANCE_NS is -1 for none; options are those of every program.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <strid/strid.hpp>

namespace {

struct Record {
    std::uint32_t key;
    std::int64_t ns;
    std::int64_t number;
};
struct Pair {
    std::int64_t left;
    std::int64_t right;
};

constexpr auto time_of = [](const Record& record) { return strid::EventTime::of_ns(record.ns); };

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        std::fputs("as_of_program KIND MATCHES_EQUAL TOLERANCE_NS DISORDER_NS [OPTION...]\n",
                   stderr);
        return 2;
    }
    strid::AsOfOptions options;
    if (argv[1] == std::string_view{"left"}) options.kind = strid::JoinKind::left;
    options.matches_equal = argv[2] == std::string_view{"true"};
    const std::int64_t tolerance_ns = std::strtoll(argv[3], nullptr, 10);
    if (tolerance_ns >= 0) options.tolerance = strid::Duration{tolerance_ns};
    const strid::BoundedDisorder disorder{strid::Duration{std::strtoll(argv[4], nullptr, 10)}};

    strid::Graph graph{"as-of"};
    auto trades = graph.source(strid::csv_file<Record>("trades.csv")).event_time(time_of, disorder);
    auto quotes = graph.source(strid::csv_file<Record>("quotes.csv")).event_time(time_of, disorder);
    std::move(trades)
        .as_of(
            std::move(quotes), strid::on<&Record::key>(),
            [](const Record& trade, const Record* quote) {
                return Pair{trade.number, quote == nullptr ? -1 : quote->number};
            },
            options)
        .sink(strid::csv_writer<Pair>("pairs.csv"));
    argv[4] = argv[0];
    return strid::run(graph, argc - 4, argv + 4);
}
