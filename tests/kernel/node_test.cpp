// SPDX-License-Identifier: Apache-2.0
//
// A node calls its operators without knowing their classes: the events and questions reach each.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/engine/kernel/kernel.hpp>

namespace strid::operators {
namespace {

using testing::ElementsAre;

struct Log {
    std::vector<std::string> lines;
};

/// A source that says what it hears, and has every member that a node asks.
class Loud {
  public:
    using record_type = int;
    static constexpr SourceTraits traits{.hears = events<Opened, Closed, Stopped>,
                                         .has = Has::wake_at_ns | Has::blocks | Has::fraction_done |
                                                Has::bytes_read | Has::is_journalled,
                                         .stateless = true};

    explicit Loud(Log& log) : log_(&log) {}

    void on(const Opened& opened) {
        log_->lines.push_back("opened " + std::string(opened.context.name));
    }
    void on(Closed) { log_->lines.emplace_back("source closed"); }
    void on(Stopped) noexcept { log_->lines.emplace_back("stopped"); }
    SourceStatus poll(auto& emit, std::size_t) {
        emit(1);
        return SourceStatus::finished;
    }
    [[nodiscard]] std::int64_t wake_at_ns() const { return 500; }
    [[nodiscard]] bool blocks() const { return false; }
    [[nodiscard]] bool is_journalled() const { return false; }
    [[nodiscard]] double fraction_done() const { return 0.25; }
    [[nodiscard]] std::uint64_t bytes_read() const { return 42; }

  private:
    Log* log_;
};

/// Blocks, or not, in the middle of a chain.
class Middle : public OperatorTypes<int, int> {
  public:
    static constexpr OperatorTraits traits{.kind = "middle",
                                           .hears = events<Opened, BatchEnds, Closed>,
                                           .has = Has::wake_at_ns | Has::blocks,
                                           .stateless = true};

    Middle(Log& log, bool blocks, std::int64_t wake_at_ns)
        : log_(&log), blocks_(blocks), wake_at_ns_(wake_at_ns) {}

    void process(int& number, auto& emit) { emit(number); }
    void on(const Opened&) {
        if (wake_at_ns_ < 0) throw std::runtime_error("no opening");
        log_->lines.emplace_back("middle opened");
    }
    void on(BatchEnds) { log_->lines.emplace_back("batch ended"); }
    void on(Closed) { log_->lines.emplace_back("middle closed"); }
    [[nodiscard]] bool blocks() const { return blocks_; }
    [[nodiscard]] std::int64_t wake_at_ns() const { return wake_at_ns_; }

  private:
    Log* log_;
    bool blocks_;
    std::int64_t wake_at_ns_;
};

class End : public OperatorTypes<int, void> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "end", .emits = Emits::nothing, .hears = events<>, .stateless = true};

    explicit End(Log& log) : log_(&log) {}
    void process(int& number, auto&) { log_->lines.push_back(std::to_string(number)); }

  private:
    Log* log_;
};

class NeverRun final : public runtime::Task {
  public:
    NeverRun() : Task("never run") {}
    runtime::StepResult step(std::int64_t&) override { return runtime::StepResult::finished; }
};

using Polled = Kernel<SourceHead<Loud>, NoRouter, Middle, End>;
using Fed = Kernel<InputHead<int>, NoRouter, Middle, End>;

std::unique_ptr<Node> node_with_source(Log& log, bool blocks, std::int64_t wake_at_ns) {
    return std::unique_ptr<Node>(new Polled({Loud(log)},
                                            {{Middle(log, blocks, wake_at_ns)}, {End(log)}}, {},
                                            {{"loud", "middle", "end"}, 0, 1}));
}

std::unique_ptr<Node> node_with_input(Log& log, bool blocks, std::int64_t wake_at_ns) {
    return std::unique_ptr<Node>(new Fed({}, {{Middle(log, blocks, wake_at_ns)}, {End(log)}}, {},
                                         {{"middle", "end"}, 0, 1}));
}

TEST(Node, SendsEachOperatorTheEventsThatItHears) {
    Log log;
    const auto node = node_with_source(log, false, 0);
    NeverRun task;
    node->open(task, {});
    std::int64_t clock_ns = 1;
    EXPECT_EQ(node->run(clock_ns), RunResult::progressed);
    EXPECT_EQ(node->run(clock_ns), RunResult::finished);
    EXPECT_EQ(node->run(clock_ns), RunResult::finished);
    EXPECT_THAT(log.lines, ElementsAre("opened loud", "middle opened", "1", "batch ended",
                                       "source closed", "middle closed"));
}

TEST(Node, SaysWhatTheSourceSays) {
    Log log;
    const auto node = node_with_source(log, false, 0);
    EXPECT_TRUE(node->polls());
    EXPECT_EQ(node->fraction_done(), 0.25);
    EXPECT_EQ(node->bytes_read(), 42U);
    EXPECT_EQ(node->wake_at_ns(), 500);
    EXPECT_FALSE(node->needs_own_thread());
    EXPECT_EQ(node_with_source(log, false, 300)->wake_at_ns(), 300);
}

TEST(Node, IsDoneWithoutASource) {
    Log log;
    const auto node = node_with_input(log, false, 0);
    EXPECT_FALSE(node->polls());
    EXPECT_EQ(node->fraction_done(), 1);
    EXPECT_EQ(node->bytes_read(), 0U);
    EXPECT_EQ(node->wake_at_ns(), 0);
    node->request_stop();
    node->interrupt();
    EXPECT_TRUE(log.lines.empty());
}

TEST(Node, HasAThreadOfItsOwnWhereAnyOperatorBlocks) {
    Log log;
    EXPECT_TRUE(node_with_source(log, true, 0)->needs_own_thread());
    EXPECT_TRUE(node_with_input(log, true, 0)->needs_own_thread());
    EXPECT_FALSE(node_with_input(log, false, 0)->needs_own_thread());
}

TEST(Node, StopsItsSourceOnce) {
    Log log;
    const auto node = node_with_source(log, false, 0);
    node->restore_as_ended();
    node->request_stop();
    node->interrupt();
    EXPECT_THAT(log.lines, ElementsAre("stopped"));
}

TEST(Node, NamesTheOperatorThatThrows) {
    Log log;
    const auto node = node_with_source(log, false, -1);
    NeverRun task;
    try {
        node->open(task, {});
        FAIL() << "the exception is lost";
    } catch (const OperatorError& error) {
        EXPECT_THAT(error.what(),
                    testing::AllOf(testing::HasSubstr("middle"), testing::HasSubstr("no opening")));
    }
    EXPECT_THAT(log.lines, ElementsAre("opened loud"));
}

}  // namespace
}  // namespace strid::operators
