// SPDX-License-Identifier: Apache-2.0
//
// The farm by hand and its carriers against the plain loop, and the receivers of each value against
// an obvious computation.
#include <algorithm>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <trading/block_carriers.hpp>
#include <trading/carriers.hpp>
#include <trading/farm.hpp>
#include <trading/multicast.hpp>

#include "plain_loop.hpp"

namespace strid {
namespace {

using namespace apps::trading;
using test::plain_loop;
using test::Row;
using test::some_quotes;

template <template <class> class Of>
struct CarrierFamily {
    template <class T>
    using Carrier = Of<T>;
};
template <class T>
using ByStaticWrapper = ByWrapper<T, memory::StaticArena>;
template <class T>
using ByStandardWrapper = ByWrapper<T, memory::StandardMemory>;
template <class T>
using BySlabWrapper = ByWrapper<T, memory::SlabAllocator>;

template <class Family>
class Carriers : public testing::Test {};
using Families =
    testing::Types<CarrierFamily<ByCopy>, CarrierFamily<ByStaticWrapper>,
                   CarrierFamily<ByStandardWrapper>, CarrierFamily<BySlabWrapper>,
                   CarrierFamily<BySharedPointer>, CarrierFamily<ByStaticSharedPointer>,
                   CarrierFamily<ByBlock>, CarrierFamily<ByStaticBlock>>;
TYPED_TEST_SUITE(Carriers, Families);

TYPED_TEST(Carriers, BringEachValueToItsGroupOnce) {
    constexpr std::size_t workers = 5;
    constexpr std::uint64_t values = 6'000;
    for (std::size_t size = 1; size <= workers; ++size) {
        using Carrier = typename TypeParam::template Carrier<std::uint64_t>;
        Multicast<Carrier> multicast({workers, 64, values});
        std::vector<std::vector<std::uint64_t>> got(workers);
        std::vector<std::vector<std::uint64_t>> expected(workers);
        std::vector<std::jthread> threads;
        for (std::size_t worker = 0; worker < workers; ++worker) {
            threads.emplace_back([&multicast, &own = got[worker], worker] {
                multicast.receive_all(worker, [&own](std::uint64_t one) { own.push_back(one); });
            });
        }
        for (std::uint64_t value = 0; value < values; ++value) {
            const std::size_t first = value * size % workers;
            multicast.send(value, Group{first, size});
            for (std::size_t i = 0; i < size; ++i) {
                expected[(first + i) % workers].push_back(value);
            }
        }
        multicast.close();
        threads.clear();
        // Blocks of different groups pass each other.
        for (auto& own : got) std::sort(own.begin(), own.end());
        EXPECT_EQ(got, expected) << "groups of " << size;
    }
}

/// Depends on every quote and on their order.
struct Hash {
    Forecast operator()(std::span<const Quote> quotes) const {
        std::uint64_t hash = 1;
        std::int64_t volume = 0;
        for (const Quote& quote : quotes) {
            hash = hash * 31 + quote.number;
            volume += quote.bid_volume + quote.ask_volume;
        }
        return {static_cast<double>(hash % 1'000'003), volume, quotes.back().number};
    }
};

template <class Carrier, class ResultMemory>
std::vector<Row> run_farm(const std::vector<Quote>& quotes, const FarmOptions& options) {
    std::vector<Row> rows;
    std::map<std::uint64_t, std::uint64_t> next;
    const auto take = [&](const Prediction& one) {
        EXPECT_EQ(one.window, next[one.symbol]++) << "the windows of a symbol come in order";
        rows.push_back(test::row_of(one));
    };
    Farm<Carrier, ResultMemory, Hash, decltype(take)> farm(options, Hash{}, take);
    for (std::size_t i = 0; i < quotes.size(); ++i) {
        farm.emit(quotes[i]);
        if (i % 1'000 == 0) farm.flush();
    }
    farm.finish();
    std::sort(rows.begin(), rows.end());
    return rows;
}

TYPED_TEST(Carriers, MakeAFarmThatIsThePlainLoop) {
    const auto quotes = some_quotes(5'000, 9);
    // Windows that overlap, also within a worker; windows side by side; gaps between them, within
    // a worker and in the stream.
    for (const auto& [length, slide] : {std::pair{40, 3}, {8, 3}, {10, 10}, {5, 12}}) {
        FarmOptions options{.length = static_cast<std::uint64_t>(length),
                            .slide = static_cast<std::uint64_t>(slide),
                            .in_flight = 64,
                            .quotes_max = quotes.size()};
        const auto expected = plain_loop(quotes, options.length, options.slide, Hash{});
        ASSERT_FALSE(expected.empty());
        for (options.workers = 1; options.workers <= 5; ++options.workers) {
            using Carrier = typename TypeParam::template Carrier<Quote>;
            EXPECT_EQ((run_farm<Carrier, memory::SlabAllocator>(quotes, options)), expected)
                << options.workers << " workers, windows of " << length << " by " << slide;
        }
    }
}

TEST(Farm, ResultsTravelInAnyMemory) {
    const auto quotes = some_quotes(3'000, 9);
    const FarmOptions options{.workers = 3, .length = 20, .slide = 4, .quotes_max = quotes.size()};
    const auto expected = plain_loop(quotes, options.length, options.slide, Hash{});
    EXPECT_EQ((run_farm<ByBlock<Quote>, memory::StandardMemory>(quotes, options)), expected);
    EXPECT_EQ((run_farm<ByBlock<Quote>, memory::StaticArena>(quotes, options)), expected);
}

/// Throws where the window has this quote as its last.
struct ThrowsAt {
    std::uint64_t number;
    Forecast operator()(std::span<const Quote> quotes) const {
        if (quotes.back().number >= number) throw std::runtime_error("no forecast");
        return Hash{}(quotes);
    }
};

template <class Function, class Take>
void expect_failure(const std::vector<Quote>& quotes, const Function& function, const Take& take,
                    const char* message) {
    const FarmOptions options{.workers = 3, .length = 20, .slide = 4, .in_flight = 64};
    for (const bool finishes : {true, false}) {
        Farm<ByBlock<Quote>, memory::SlabAllocator, Function, Take> farm(options, function, take);
        // More than the rings hold: a thread that stopped to receive would block this one.
        for (const Quote& quote : quotes) farm.emit(quote);
        if (!finishes) continue;
        try {
            farm.finish();
            FAIL() << "nothing was thrown";
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), message);
        }
        EXPECT_TRUE(farm.has_failed());
    }
}

TEST(Farm, ThrowsInFinishWhatTheFunctionOrTheTakerThrew) {
    const auto quotes = some_quotes(20'000, 9);
    const auto ignore = [](const Prediction&) {};
    expect_failure(quotes, ThrowsAt{1'500}, ignore, "no forecast");
    const auto full = [](const Prediction& one) {
        if (one.window == 7) throw std::runtime_error("the disk is full");
    };
    expect_failure(quotes, Hash{}, full, "the disk is full");
}

TEST(Farm, SendsAQuoteToTheWorkersOfItsWindows) {
    for (const auto& [length, slide] : {std::pair{1'000, 25}, {40, 3}, {10, 10}, {5, 12}}) {
        const auto windows = window::CountWindows::sliding(static_cast<std::uint64_t>(length),
                                                           static_cast<std::uint64_t>(slide));
        for (std::size_t workers = 1; workers <= 50; workers += 7) {
            for (std::uint64_t position = 0; position < 300; ++position) {
                std::set<std::size_t> expected;
                for (std::uint64_t window = 0; window <= position; ++window) {
                    const std::uint64_t start = window * static_cast<std::uint64_t>(slide);
                    if (start <= position &&
                        position < start + static_cast<std::uint64_t>(length)) {
                        expected.insert(window % workers);
                    }
                }
                std::set<std::size_t> group;
                for_each_worker(group_of(windows, position, workers), workers,
                                [&group](std::size_t worker) { group.insert(worker); });
                ASSERT_EQ(group, expected) << "position " << position << ", " << workers;
            }
        }
    }
}

}  // namespace
}  // namespace strid
