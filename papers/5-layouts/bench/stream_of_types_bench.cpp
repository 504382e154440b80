// SPDX-License-Identifier: Apache-2.0
//
// A stream that carries several types of record, in three ways: pointers to a base class, as object
// oriented programs have them; variants; and variants that are split into a stream for each type.
// The objects are those of paper 5, "Array of pointer performance", and so are the two functions
// that the sink calls. Each cell is a line of JSON (tables.hpp); seconds are those of the clock,
// because two threads work.
//
//   stream_of_types_bench [--size whole|quick] [--repeat N]
//
// On one worker the source and the sink take turns, a batch at a time; on two each has a thread, so
// that objects are allocated in one and freed in the other.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <strid/stream/graph.hpp>

#include "bench/command_line.hpp"
#include "objects.hpp"
#include "tables.hpp"

namespace {

using namespace strid;
using namespace strid::bench;

using Pointer = std::unique_ptr<Object>;

/// The objects of all numbers, as records.
template <class Record>
struct Objects {
    using record_type = Record;
    static constexpr SourceTraits traits{.hears = events<>};
    std::size_t count = 0;
    std::size_t next = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (bool more = true; more && budget != 0 && next != count; --budget) {
            more = of_kind(next++, [&emit](const auto& object) {
                if constexpr (std::is_same_v<Record, Pointer>) {
                    using O = std::remove_cvref_t<decltype(object)>;
                    return emit(Pointer{std::make_unique<O>(object)});
                } else {
                    return emit(Record{object});
                }
            });
        }
        return next == count ? SourceStatus::finished : SourceStatus::more;
    }
    auto state() { return std::tie(count, next); }
};

/// Adds up what the function of each object gives, and hands the sum over at the end. Which of the
/// two it is, is known at run time, so that there is one graph for both.
struct Sum {
    static constexpr FunctionTraits traits{.hears = events<Closed>};

    Function function;
    std::uint64_t* result;
    std::uint64_t sum = 0;

    void operator()(const Pointer& object) { add(*object); }
    void operator()(const AnyKind& any) {
        std::visit([this](const auto& object) { add(object); }, any);
    }
    template <int kind>
    void operator()(const Kind<kind>& object) {
        add(object);
    }
    void on(Closed) { *result += sum; }
    auto state() { return std::tie(sum); }

  private:
    template <class O>
    void add(const O& object) {
        sum += function == Function::small ? call<Function::small>(object)
                                           : call<Function::large>(object);
    }
};

enum class Way { pointers, variants, split };
constexpr const char* name_of(Way way) {
    return way == Way::pointers   ? "std::unique_ptr of a base class"
           : way == Way::variants ? "std::variant"
                                  : "std::variant, split by type";
}

template <Way way>
std::uint64_t sum_of_stream(Function function, std::size_t count, std::size_t workers) {
    std::uint64_t results[4] = {};
    Graph graph{"types"};
    if constexpr (way == Way::pointers) {
        graph.source(Objects<Pointer>{count}).separate().sink(Sum{function, results});
    } else if constexpr (way == Way::variants) {
        graph.source(Objects<AnyKind>{count}).separate().sink(Sum{function, results});
    } else {
        auto streams = graph.source(Objects<AnyKind>{count}).split_by_type();
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (std::move(std::get<I>(streams)).sink(Sum{function, &results[I]}), ...);
        }(std::make_index_sequence<4>{});
    }
    run(graph, {.workers = workers, .parallelism = 1});
    return results[0] + results[1] + results[2] + results[3];
}

template <Way way>
void one_way(const TableOptions& options, std::size_t count, const Expected& expected) {
    for (const std::size_t workers : {1U, 2U}) {
        const auto cell = [&](const char* function) {
            return Cell{"streams", name_of(way),
                        std::string(function) + ", " + std::to_string(workers) +
                            (workers == 1 ? " worker" : " workers"),
                        count, count * sizeof(AnyKind)};
        };
        measure(
            options, cell("small"), expected.small,
            [&] { return sum_of_stream<way>(Function::small, count, workers); }, clock_seconds);
        measure(
            options, cell("large"), expected.large,
            [&] { return sum_of_stream<way>(Function::large, count, workers); }, clock_seconds);
    }
}

}  // namespace

int main(int argc, char** argv) try {
    std::string size = "whole";
    TableOptions options;
    CommandLine({{"--size", text_into(size)}, {"--repeat", number_into(options.repeat)}})
        .read(argc, argv);
    if (size != "whole" && size != "quick") {
        throw std::invalid_argument("sizes are whole and quick, not " + size);
    }
    if (options.repeat == 0) throw std::invalid_argument("repetitions are at least one");
    const std::size_t count = size == "quick" ? 20'000 : 20'000'000;
    const Expected expected = expected_of(count);
    one_way<Way::pointers>(options, count, expected);
    one_way<Way::variants>(options, count, expected);
    one_way<Way::split>(options, count, expected);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "strid: error: {}\n", error.what());
    return 1;
}
