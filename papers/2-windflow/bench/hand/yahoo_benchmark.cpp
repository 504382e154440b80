// SPDX-License-Identifier: Apache-2.0
//
// hand_yahoo_benchmark INPUT --campaigns CAMPAIGNS [--once [--output FILE]]: the answer of the
// hand-written Yahoo streaming benchmark, windows of 10 s, disorder of 1 s; without --once only its
// rate over the lines of the input, read into memory before the clock starts.
#include "yahoo_benchmark.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ostream>

#include <fmt/format.h>

#include "bench/hand/options.hpp"

namespace {

using namespace strid::bench::hand;

/// One pass over the lines of `text`. Returns their number.
template <class Report>
std::uint64_t count_views(const std::string& text, ViewCounter& counter, Report&& report) {
    std::uint64_t events = 0;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at != end; ++events) {
        counter.add(parse_event(at, end), report);
    }
    counter.finish(report);
    return events;
}

void run(const Options& options) {
    constexpr std::int64_t window_ms = 10'000;
    constexpr std::int64_t disorder_ms = 1'000;
    const std::vector<std::uint32_t> campaign_of = load_campaigns(options.campaigns);
    std::string text = read_file(options.input);
    if (!text.empty() && text.back() != '\n') text += '\n';
    ViewCounter counter(campaign_of, window_ms, disorder_ms);
    if (options.once) {
        write_output(options.output, [&](std::ostream& stream) {
            count_views(text, counter, [&](const WindowCount& row) {
                stream << fmt::format("{},{},{},{}\n", row.campaign, row.start_ms, row.end_ms,
                                      row.count);
            });
        });
        return;
    }
    const auto start = std::chrono::steady_clock::now();
    const std::uint64_t events =
        count_views(text, counter, [](const WindowCount& row) { keep_alive(row); });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("yahoo benchmark %8.2f M events/s\n",
                static_cast<double>(events) / seconds.count() / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
    return run_main(argc, argv, run);
}
