// SPDX-License-Identifier: Apache-2.0
//
// Conditions of a table that are known at run time, beside loops by hand that were compiled for
// them: row by row with jumps, and the best that is known, column by column without. Each lists
// the rows that it has found, chunk by chunk, and the lists are compared.
//
//   expression_bench --rows 1048576 --rounds 15
//
// Rows for programs: "row | expressions | CONDITION | contestant | ns a row | low | high |". One
// thread.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <strid/table/evaluator.hpp>

#include "../bar.hpp"
#include "../command_line.hpp"
#include "../statistics.hpp"

namespace {

using namespace strid;
using namespace strid::bench;
using table::Chunk;
using table::Kind;

struct Settings {
    std::size_t rows = std::size_t{1} << 20;
    std::size_t rounds = 15;
};

/// How many rows were found, and the sum of their places.
struct Answer {
    std::uint64_t found = 0;
    std::uint64_t sum = 0;

    void add(std::span<const std::uint16_t> rows) noexcept {
        found += rows.size();
        for (const std::uint16_t row : rows) sum += row;
    }
    bool operator==(const Answer&) const = default;
};

struct Bids {
    const double* price;
    const std::int64_t* auction;
    const std::int64_t* bidder;
    std::size_t rows;
};
Bids bids_of(const Chunk& chunk) {
    return {chunk.column(0).values<double>(), chunk.column(1).values<std::int64_t>(),
            chunk.column(2).values<std::int64_t>(), chunk.rows()};
}

using Rows = std::array<std::uint16_t, table::chunk_rows_max>;
using Loop = std::size_t (*)(const Bids& bids, Rows& rows);

template <class Condition>
std::size_t by_rows(const Bids& bids, Rows& rows) {
    std::size_t found = 0;
    for (std::size_t i = 0; i != bids.rows; ++i) {
        if (Condition::jumping(bids, i)) rows[found++] = static_cast<std::uint16_t>(i);
    }
    return found;
}
template <class Condition>
std::size_t by_columns(const Bids& bids, Rows& rows) {
    alignas(64) std::array<std::uint8_t, table::chunk_rows_max> truth;
    for (std::size_t i = 0; i != bids.rows; ++i) truth[i] = Condition::straight(bids, i);
    std::size_t found = 0;
    for (std::size_t i = 0; i != bids.rows; ++i) {
        rows[found] = static_cast<std::uint16_t>(i);
        found += truth[i];
    }
    return found;
}

struct WithRemainder {
    static constexpr const char* text =
        "price * 0.908 > 1000 and (auction % 123 = 0 or bidder < 5000)";
    static table::Expression expression() {
        using table::col;
        return col("price") * 0.908 > 1000 && (col("auction") % 123 == 0 || col("bidder") < 5000);
    }
    static bool jumping(const Bids& b, std::size_t i) {
        return b.price[i] * 0.908 > 1000 && (b.auction[i] % 123 == 0 || b.bidder[i] < 5000);
    }
    static std::uint8_t straight(const Bids& b, std::size_t i) {
        const bool price = b.price[i] * 0.908 > 1000;
        const bool auction = b.auction[i] % 123 == 0;
        const bool bidder = b.bidder[i] < 5000;
        return static_cast<std::uint8_t>(price & (auction | bidder));
    }
};
struct Comparisons {
    static constexpr const char* text =
        "price * 0.908 > 1000 and (auction < 5000 or bidder < 5000)";
    static table::Expression expression() {
        using table::col;
        return col("price") * 0.908 > 1000 && (col("auction") < 5000 || col("bidder") < 5000);
    }
    static bool jumping(const Bids& b, std::size_t i) {
        return b.price[i] * 0.908 > 1000 && (b.auction[i] < 5000 || b.bidder[i] < 5000);
    }
    static std::uint8_t straight(const Bids& b, std::size_t i) {
        const bool price = b.price[i] * 0.908 > 1000;
        const bool auction = b.auction[i] < 5000;
        const bool bidder = b.bidder[i] < 5000;
        return static_cast<std::uint8_t>(price & (auction | bidder));
    }
};

std::vector<Chunk> make_chunks(const Settings& settings, table::ChunkMemory& memory) {
    const table::Schema schema(
        {{"price", {Kind::float64}}, {"auction", {Kind::int64}}, {"bidder", {Kind::int64}}});
    std::mt19937_64 random(1);
    std::vector<Chunk> chunks;
    for (std::size_t at = 0; at < settings.rows; at += table::chunk_rows_max) {
        Chunk& chunk = chunks.emplace_back(schema, memory);
        for (std::size_t i = 0; i != table::chunk_rows_max; ++i) {
            chunk.column(0).values<double>()[i] = static_cast<double>(random() % 3000);
            chunk.column(1).values<std::int64_t>()[i] =
                static_cast<std::int64_t>(random() % 100000);
            chunk.column(2).values<std::int64_t>()[i] =
                static_cast<std::int64_t>(random() % 100000);
        }
        chunk.set_rows(table::chunk_rows_max);
    }
    return chunks;
}

/// Of this thread, so that neighbours on its core do not count.
std::int64_t processor_ns() {
    std::timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

struct Contestant {
    std::string name;
    std::function<Answer()> find;
    std::vector<double> ns = {};
};

template <class Condition>
void measure(const std::vector<Chunk>& chunks, const Settings& settings) {
    table::Evaluator evaluator(Condition::expression(), chunks.front().schema());
    const auto by_hand = [&chunks](Loop loop) {
        return [&chunks, loop] {
            Answer answer;
            static Rows rows;
            for (const Chunk& chunk : chunks) {
                const std::size_t found = loop(bids_of(chunk), rows);
                answer.add({rows.data(), found});
            }
            return answer;
        };
    };
    std::vector<Contestant> all;
    all.push_back({"by hand, row by row", by_hand(&by_rows<Condition>)});
    all.push_back({"by hand, column by column", by_hand(&by_columns<Condition>)});
    all.push_back({"expression", [&] {
                       Answer answer;
                       for (const Chunk& chunk : chunks) answer.add(evaluator.select(chunk));
                       return answer;
                   }});
    const Answer expected = all.front().find();
    for (std::size_t round = 0; round != settings.rounds; ++round) {
        for (Contestant& one : all) {
            const std::int64_t begin = processor_ns();
            const Answer answer = one.find();
            const auto rows = static_cast<double>(chunks.size() * table::chunk_rows_max);
            one.ns.push_back(static_cast<double>(processor_ns() - begin) / rows);
            if (answer == expected) continue;
            std::fprintf(stderr, "%s: another answer\n", one.name.c_str());
            std::exit(1);
        }
    }
    for (const Contestant& one : all) {
        const Spread ns = spread_of(one.ns);
        std::printf("row | expressions | %s | %s | %.2f | %.2f | %.2f |\n", Condition::text,
                    one.name.c_str(), ns.median, ns.low, ns.high);
    }
    print_bar(std::string("expression by the best loop, ") + Condition::text,
              median(ratios(all[2].ns, all[1].ns)), Bar::at_most, 1.1);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        Settings settings;
        CommandLine{
            {{"--rows", number_into(settings.rows)}, {"--rounds", number_into(settings.rounds)}}}
            .read(argc, argv);
        if (settings.rows == 0 || settings.rounds == 0) {
            throw std::invalid_argument("--rows and --rounds are at least 1");
        }
        table::ChunkMemory memory;
        const std::vector<Chunk> chunks = make_chunks(settings, memory);
        measure<WithRemainder>(chunks, settings);
        measure<Comparisons>(chunks, settings);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "expression_bench: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
