// SPDX-License-Identifier: Apache-2.0
//
// The state that a step leaves for the next one.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <strid/base/clock.hpp>
#include <strid/engine/kernel/node_task.hpp>

namespace strid::operators {
namespace {

/// Takes time to find nothing, like a node that flushes a file.
class SlowNode final : public Node {
  public:
    SlowNode() : Node({{"slow"}, 0, 1}, {.polls = true}) {}

    void create_output(const std::vector<OutputPort::SlotShape>&, const PortSizes&) override {}

    std::int64_t ended_ns = 0;

  private:
    Poll poll(std::int64_t start_ns, std::size_t) override {
        const std::int64_t began_ns = now_ns();
        while (ended_ns <= began_ns) ended_ns = now_ns();
        return {.status = SourceStatus::idle, .ingress_ns = start_ns};
    }
    void pass_batch(message::BatchHeader&) override {}
    bool is_ready() override { return true; }
    [[nodiscard]] bool is_held_back(bool) const override { return false; }
    bool advance_stages(const Clock&) override { return true; }
    Finish finish_stages(const Clock&) override { return {.done = true, .emitted = false}; }
    void notify(StageEvent) override {}
};

TEST(NodeTask, AStepOfSeveralNodesLeavesAFreshReadingOfTheClock) {
    std::vector<std::unique_ptr<Node>> nodes;
    nodes.push_back(std::make_unique<SlowNode>());
    nodes.push_back(std::make_unique<SlowNode>());
    const auto& last = static_cast<const SlowNode&>(*nodes.back());
    NodeTask task("slow", std::move(nodes));
    task.open();
    std::int64_t clock_ns = now_ns();
    (void)task.step(clock_ns);
    EXPECT_GE(clock_ns, last.ended_ns) << "the next run would be charged with this one's time";
    EXPECT_LE(clock_ns, now_ns());
}

}  // namespace
}  // namespace strid::operators
