// SPDX-License-Identifier: Apache-2.0
//
// Inlets with a journal: records that it has accepted reach a run that goes on, each once, and a
// producer learns behind which it goes on. Processes that are killed are in tests/snapshots.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <strid/state/journal.hpp>
#include <strid/strid.hpp>

#include "../../support/folder.hpp"
#include "../../support/opened.hpp"
#include "../../support/seeds.hpp"

namespace strid::test {
namespace {

using namespace std::chrono_literals;

struct Order {
    std::uint64_t number = 0;
    std::string text;
};

/// Adds up the numbers, so that a record that comes twice is seen in all behind it.
struct Sums {
    static constexpr FunctionTraits traits{.hears = events<>};
    std::pair<std::uint64_t, std::uint64_t> operator()(const Order& order) {
        if (order.text != "order " + std::to_string(order.number)) throw Error("another text");
        sum += order.number;
        return {order.number, sum};
    }
    auto state() { return std::tie(sum); }
    std::uint64_t sum = 0;
};

Order order(std::uint64_t number) {
    return {number, "order " + std::to_string(number)};
}

class JournalledInlets : public testing::Test {
  protected:
    using Rows = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

    /// A process: a graph and its run.
    struct Process {
        Inlet<Order> inlet;
        Running running;
    };

    [[nodiscard]] JournalOptions journal() const {
        return {.folder = folder_.file("journal"), .sync = JournalSync::never};
    }
    [[nodiscard]] RunOptions options() {
        RunOptions options;
        options.snapshots = {.folder = folder_.file("state"), .every = 1h};
        options.on_warning = [this](const std::string& text) {
            const std::lock_guard lock(mutex_);
            warnings_.push_back(text);
        };
        return options;
    }
    Process begin(const JournalOptions& journal, const RunOptions& options) {
        Graph graph("inlets");
        auto [inlet, orders] = graph.journalled_inlet<Order>(journal, {.name = "orders"}, 16);
        std::move(orders)
            .map(Sums{}, {.name = "sums"})
            .sink(
                [this](const std::pair<std::uint64_t, std::uint64_t>& row) {
                    const std::lock_guard lock(mutex_);
                    rows_.push_back(row);
                },
                {.name = "rows"});
        return {std::move(inlet), start(graph, options)};
    }
    Process begin() { return begin(journal(), options()); }

    [[nodiscard]] static bool wait_for(const std::function<bool()>& holds) {
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (!holds()) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::sleep_for(1ms);
        }
        return true;
    }
    void push(Process& process, std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t i = first; i != end; ++i) ASSERT_TRUE(process.inlet.push(order(i)));
        ASSERT_TRUE(wait_for([&] { return process.inlet.accepted() == end; }));
    }
    [[nodiscard]] std::size_t files() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.file("journal"))) {
            count += entry.path().extension() == ".journal" ? 1 : 0;
        }
        return count;
    }
    Rows take_rows() {
        const std::lock_guard lock(mutex_);
        return std::exchange(rows_, {});
    }
    static Rows expected(std::uint64_t first, std::uint64_t end) {
        Rows rows;
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i != end; ++i) {
            sum += i;
            if (i >= first) rows.emplace_back(i, sum);
        }
        return rows;
    }
    template <class Error, class Start>
    static std::string fault_of(const Start& begin_run) {
        try {
            begin_run();
        } catch (const Error& error) {
            return error.what();
        }
        return "none";
    }

    Folder folder_;
    std::mutex mutex_;
    Rows rows_;
    std::vector<std::string> warnings_;
};

TEST_F(JournalledInlets, ARunGoesOnWithWhatWasAccepted) {
    {
        auto process = begin();
        EXPECT_EQ(process.inlet.accepted(), 0U);
        push(process, 0, 100);
        ASSERT_TRUE(process.running.snapshot());
        push(process, 100, 150);
        process.running.cancel();
        (void)process.running.wait();
    }
    take_rows();
    auto process = begin();
    EXPECT_EQ(process.inlet.accepted(), 150U);
    push(process, 150, 200);
    process.inlet.close();
    process.running.wait();
    const Rows rows = take_rows();
    ASSERT_FALSE(rows.empty());
    // Those behind the snapshot, which may have had some that were not handled when it was taken.
    EXPECT_LE(rows.front().first, 100U);
    EXPECT_EQ(rows, expected(rows.front().first, 200));
    EXPECT_EQ(files(), 0U) << "the journal of a stream that has ended";
}

TEST_F(JournalledInlets, ManyProcessesThatEndAnywhereLoseAndDoubleNothing) {
    const std::uint64_t count = 600;
    for (const std::uint64_t seed : seeds(5)) {
        std::filesystem::remove_all(folder_.file("journal"));
        std::filesystem::remove_all(folder_.file("state"));
        std::mt19937_64 random(seed);
        std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
        for (bool ended = false; !ended;) {
            JournalOptions kept = journal();
            kept.file_bytes = 1 + random() % 2'000;
            RunOptions run_options = options();
            run_options.snapshots.every = std::chrono::microseconds(500 + random() % 5'000);
            auto process = begin(kept, run_options);
            std::uint64_t next = process.inlet.accepted();
            const std::uint64_t stop = std::min(count, next + random() % 200);
            while (next != stop && process.inlet.push(order(next))) ++next;
            ended = next == count;
            if (ended) {
                process.inlet.close();
                process.running.wait();
            } else if (random() % 3 == 0) {
                process.running.stop();
                (void)process.running.wait();
            } else {
                if (random() % 2 == 0) std::this_thread::sleep_for(1ms);
                process.running.cancel();
                (void)process.running.wait();
            }
            for (const auto& row : take_rows()) {
                // Rows behind the snapshot come again, and say the same.
                ASSERT_LE(row.first, all.size()) << "seed " << seed;
                if (row.first == all.size()) all.push_back(row);
                ASSERT_EQ(row, all[row.first]) << "seed " << seed;
            }
        }
        ASSERT_EQ(all, expected(0, count)) << "seed " << seed;
    }
}

TEST_F(JournalledInlets, FilesBehindTwoSnapshotsAreForgotten) {
    JournalOptions kept = journal();
    kept.file_bytes = 1;  // a file for each block
    auto process = begin(kept, options());
    for (std::uint64_t i = 0; i != 20; ++i) push(process, i, i + 1);
    EXPECT_GE(files(), 20U);
    ASSERT_TRUE(wait_for([&] {
        const std::lock_guard lock(mutex_);
        return rows_.size() == 20;
    }));
    for (int i = 0; i != 3; ++i) ASSERT_TRUE(process.running.snapshot());
    push(process, 20, 21);
    ASSERT_TRUE(process.running.snapshot());
    EXPECT_LE(files(), 2U);
    EXPECT_EQ(read_journal(kept.folder).lines, 21U);
    EXPECT_TRUE(read_journal(kept.folder).are_records);
}

TEST_F(JournalledInlets, ATornBlockAtTheEndIsCutOff) {
    {
        auto process = begin();
        push(process, 0, 10);
        ASSERT_TRUE(process.running.snapshot());  // else the first one may have the last block
        push(process, 10, 11);
        process.running.cancel();
    }
    std::filesystem::path last;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file("journal"))) {
        if (entry.path().extension() == ".journal") last = std::max(last, entry.path());
    }
    std::filesystem::resize_file(last, std::filesystem::file_size(last) - 1);
    auto process = begin();
    EXPECT_EQ(process.inlet.accepted(), 10U);
    push(process, 10, 12);
    process.inlet.close();
    process.running.wait();
    EXPECT_EQ(take_rows().back(), expected(0, 12).back());
}

TEST_F(JournalledInlets, AFullDiskMakesTheProducerWait) {
    ::rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    ::signal(SIGXFSZ, SIG_IGN);
    auto process = begin();
    push(process, 0, 4);
    ::rlimit small = before;
    small.rlim_cur = 300;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    std::uint64_t pushed = 4;
    // 16 wait in the inlet, and as many were taken out of it.
    const auto end = std::chrono::steady_clock::now() + 5s;
    while (pushed < 100 && std::chrono::steady_clock::now() < end) {
        if (process.inlet.try_push(order(pushed))) {
            ++pushed;
        } else if (pushed - process.inlet.accepted() >= 16) {
            break;
        }
    }
    std::this_thread::sleep_for(150ms);
    EXPECT_LT(process.inlet.accepted(), pushed);
    {
        const std::lock_guard lock(mutex_);
        EXPECT_THAT(warnings_, testing::Contains(testing::HasSubstr("no room for the journal")));
    }
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    push(process, pushed, pushed + 1);
    process.inlet.close();
    process.running.wait();
    EXPECT_EQ(take_rows(), expected(0, pushed + 1));
}

/// The graph's side of an inlet without its graph.
struct Alone {
    explicit Alone(const JournalOptions& journal)
        : source(state, journal), scope(std::make_unique<RunScope>()) {
        scope->go_on_with({}, {});
        context.run = scope.get();
        open(source, context);
    }
    std::shared_ptr<operators::InletState<Order>> state =
        std::make_shared<operators::InletState<Order>>(16);
    operators::JournalledInletSource<Order> source;
    std::unique_ptr<RunScope> scope;
    Context context{.name = {}, .replica = 0, .parallelism = 1};
};

TEST_F(JournalledInlets, ASnapshotHasNoRecordThatWasEmitted) {
    Alone alone{journal()};
    alone.state->waiting = {order(0), order(1), order(2)};
    const auto emit = [](Order&& taken) {
        const Order moved = std::move(taken);
        return moved.number > 2;  // room for one
    };
    (void)alone.source.poll(emit, 2);
    alone.source.on(SnapshotBegins{1});
    const auto& [place, taken, next] = alone.source.state();
    EXPECT_EQ(taken.size() - next, 2U);
    for (const Order& one : taken) EXPECT_EQ(one.text, order(one.number).text);
}

TEST_F(JournalledInlets, ALongRecordBehindAShortOneHasABlockOfItsOwn) {
    Alone alone{journal()};
    const std::size_t length = (std::size_t{64} << 20) - 32;
    alone.state->waiting = {order(0), {1, std::string(length, 'x')}, order(2)};
    std::vector<std::size_t> lengths;
    const auto emit = [&](const Order& one) {
        lengths.push_back(one.text.size());
        return true;
    };
    for (int i = 0; i != 3; ++i) (void)alone.source.poll(emit, 10);
    EXPECT_EQ(lengths, (std::vector<std::size_t>{7, length, 7}));
}

TEST_F(JournalledInlets, OneThatHadEndedIsClosed) {
    const auto begin_both = [&] {
        Graph graph("two");
        JournalOptions second = journal();
        second.folder = folder_.file("second");
        auto [ends, some] = graph.journalled_inlet<Order>(journal(), {.name = "ends"}, 4);
        auto [stays, others] = graph.journalled_inlet<Order>(second, {.name = "stays"}, 4);
        std::move(some).merge(std::move(others)).sink([](const Order&) {}, {.name = "rows"});
        return std::tuple(std::move(ends), std::move(stays), start(graph, options()));
    };
    {
        auto [ends, stays, running] = begin_both();
        ASSERT_TRUE(ends.push(order(0)));
        ends.close();
        ASSERT_TRUE(wait_for([&ends = ends] { return ends.accepted() == 1; }));
        for (int i = 0; i != 5; ++i) {  // its end is soon, and not seen from here
            std::this_thread::sleep_for(20ms);
            ASSERT_TRUE(running.snapshot());
        }
        running.cancel();
        (void)running.wait();
    }
    auto [ends, stays, running] = begin_both();
    EXPECT_FALSE(ends.try_push(order(1))) << "a record that would not be handled";
    EXPECT_TRUE(stays.push(order(0)));
    stays.close();
    running.wait();
}

/// A sink whose result cannot be committed.
struct FailsAtTheEnd {
    class End final : public RunScope::Result {
      public:
        void commit() override { throw InputOutputError("the disk is full"); }
        void discard() noexcept override {}
    };
    static constexpr FunctionTraits traits{.hears = events<Opened>};
    void on(const Opened& opened) const {
        if (fails) opened.context.run->add(std::make_shared<End>());
    }
    void operator()(const Order&) const {}
    bool fails;
};

/// As behind a kill between the results and the snapshot that says that the stream has ended.
TEST_F(JournalledInlets, AnEndThatFailsDoesNotForgetWhatWasAccepted) {
    for (const bool fails : {true, false}) {
        Graph graph("ends");
        auto [inlet, orders] = graph.journalled_inlet<Order>(journal(), {.name = "orders"}, 4);
        std::move(orders).sink(FailsAtTheEnd{fails}, {.name = "rows"});
        Running running = start(graph, options());
        EXPECT_EQ(inlet.accepted(), fails ? 0U : 3U);
        for (std::uint64_t i = inlet.accepted(); i != 3; ++i) ASSERT_TRUE(inlet.push(order(i)));
        inlet.close();
        EXPECT_EQ(fault_of<Error>([&] { running.wait(); }) != "none", fails);
        EXPECT_EQ(files(), fails ? 1U : 0U);
    }
}

TEST_F(JournalledInlets, AreRefusedWithAReason) {
    JournalOptions kept = journal();
    kept.acknowledges = true;
    using testing::HasSubstr;
    EXPECT_THAT(fault_of<OperatorError>([&] { begin(journal(), {}); }), HasSubstr("takes none"));
    EXPECT_THAT(fault_of<GraphError>([&] { begin({}, options()); }), HasSubstr("needs the folder"));
    EXPECT_THAT(fault_of<GraphError>([&] { begin(kept, options()); }), HasSubstr("no socket"));
}

TEST_F(JournalledInlets, ThoseOfAnotherTypeAreRefused) {
    {
        auto process = begin();
        push(process, 0, 3);
    }
    std::filesystem::remove_all(folder_.file("state"));
    Graph graph("inlets");
    auto [inlet, numbers] = graph.journalled_inlet<std::uint64_t>(journal(), {.name = "orders"});
    std::move(numbers).sink([](const std::uint64_t&) {});
    EXPECT_THAT(fault_of<Error>([&] { start(graph, options()).wait(); }),
                testing::HasSubstr("records of another type"));
}

}  // namespace
}  // namespace strid::test
