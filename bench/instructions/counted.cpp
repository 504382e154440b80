// SPDX-License-Identifier: Apache-2.0
#include "counted.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace strid::bench {

int counted_main(int argc, char** argv, std::span<const Run> runs) {
    if (argc == 1) {
        for (const Run& run : runs) {
            std::printf("%s %llu\n", run.name.data(), static_cast<unsigned long long>(run.records));
        }
        return EXIT_SUCCESS;
    }
    const bool by_hand = std::strcmp(argv[1], "--by-hand") == 0;
    const int first = by_hand ? 2 : 1;
    if (argc != first + 2) {
        std::fprintf(stderr, "usage: %s [--by-hand] RUN RECORDS\n", argv[0]);
        return 2;
    }
    const std::string_view name = argv[first];
    const auto found = std::ranges::find(runs, name, &Run::name);
    if (found == runs.end()) {
        std::fprintf(stderr, "%s: there is no run '%s'\n", argv[0], argv[first]);
        return 2;
    }
    const std::uint64_t records = std::strtoull(argv[first + 1], nullptr, 10);
    try {
        const Answer answer = by_hand ? found->by_hand(records) : found->on_engine(records);
        std::printf("%llu results, sum %llu\n", static_cast<unsigned long long>(answer.results),
                    static_cast<unsigned long long>(answer.sum));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

}  // namespace strid::bench
