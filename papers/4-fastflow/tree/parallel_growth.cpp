// SPDX-License-Identifier: Apache-2.0
//
// The farm with feedback. Three sizes of nodes:
//
//   large   each attribute is a task; the last that is done goes on with the node
//   middle  the node is a task, and its branches are others
//   small   the node and all below it is a task
//
// Invariant: the steps of one node follow each other. Tasks of its attributes touch only what
// belongs to their attribute; the count of those that are left orders what they did before what
// the last of them does next.
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "parallel.hpp"

namespace strid::tree {

namespace {

/// A node that is worked on; shared by the tasks of its attributes.
struct SharedNode {
    SharedNode(const Training& training, Growing growing)
        : training(training), growing(std::move(growing)) {}

    const Training& training;
    Growing growing;
    std::atomic<std::size_t> left{0};
};

struct Task {
    enum class Step : unsigned char { node, evaluate, divide };

    Step step = Step::node;
    std::size_t place = 0;
    std::shared_ptr<SharedNode> node = {};

    /// Its approximate cost: of a node with all that is below it.
    [[nodiscard]] double cost() const {
        const auto cases = static_cast<double>(node->growing.cases());
        return step == Step::node ? node->growing.cost() * std::log2(cases + 1) : cases;
    }
};

/// Where one size of node ends and the next begins.
struct Sizes {
    double large;
    double small;
};

Sizes sizes_for(const std::vector<std::unique_ptr<Training>>& trainings, std::size_t workers) {
    // A small node takes some 100 us at least, so that handing it on does not count; of the cases
    // of a tree so few that the last one that ends does not keep the others waiting.
    constexpr double small_least = 16'000;
    constexpr double small_parts = 64;
    double cost = 0;
    for (const auto& training : trainings) {
        cost += static_cast<double>(training->table().rows()) *
                static_cast<double>(training->attributes());
    }
    const auto threads = static_cast<double>(workers);
    // Nodes of one level share the cases: where one has more than this, there may be too few to
    // keep all workers busy.
    const double large = workers == 1 ? INFINITY : cost / (4 * threads);
    return {std::max(large, 2 * small_least),
            std::max(small_least, cost / (small_parts * threads))};
}

class Worker : public OperatorTypes<Task, std::uint64_t> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "grow", .emits = Emits::any_number, .hears = events<>, .stateless = true};

    explicit Worker(Sizes sizes) : sizes_(sizes) {}

    void process(Task& task, auto& emit) {
        switch (task.step) {
            case Task::Step::node:
                begin(task, emit);
                break;
            case Task::Step::evaluate:
                task.node->growing.evaluate(task.place, scratch_);
                if (is_last(task)) choose(task.node, emit);
                break;
            case Task::Step::divide:
                task.node->growing.divide(task.place);
                if (is_last(task)) branch(task.node, emit);
                break;
        }
    }

  private:
    void begin(Task& task, auto& emit) {
        if (task.node->training.interrupted().load(std::memory_order_relaxed)) {
            throw Interrupted();
        }
        Growing& growing = task.node->growing;
        const std::uint64_t cases = growing.cases();
        if (growing.cost() < sizes_.small) {
            GrowingNode& node = growing.node();
            grow(task.node->training, std::move(growing), scratch_);
            finish(node);
            emit(cases);
        } else if (!growing.begin()) {
            emit(cases);
        } else if (growing.cost() >= sizes_.large) {
            share(task.node, Task::Step::evaluate, emit);
        } else {
            for (std::size_t i = 0; i < growing.places(); ++i) growing.evaluate(i, scratch_);
            choose(task.node, emit);
        }
    }

    void choose(const std::shared_ptr<SharedNode>& node, auto& emit) {
        Growing& growing = node->growing;
        if (!growing.choose()) {
            emit(std::uint64_t{growing.cases()});
            return;
        }
        growing.route();
        if (growing.cost() >= sizes_.large) {
            share(node, Task::Step::divide, emit);
            return;
        }
        for (std::size_t i = 0; i < growing.places(); ++i) growing.divide(i);
        branch(node, emit);
    }

    void branch(const std::shared_ptr<SharedNode>& node, auto& emit) {
        for (Growing& below : node->growing.take_branches()) {
            emit.again(Task{Task::Step::node, 0,
                            std::make_shared<SharedNode>(node->training, std::move(below))});
        }
    }

    void share(const std::shared_ptr<SharedNode>& node, Task::Step step, auto& emit) {
        const std::size_t places = node->growing.places();
        // Relaxed: the lanes publish it.
        node->left.store(places, std::memory_order_relaxed);
        for (std::size_t i = 0; i < places; ++i) emit.again(Task{step, i, node});
    }

    // Acquire and release: pairs with is_last() of the other attributes' tasks.
    static bool is_last(const Task& task) {
        return task.node->left.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    Sizes sizes_;
    Scratch scratch_;
};

}  // namespace

std::vector<Tree> grow(const std::vector<std::unique_ptr<Training>>& trainings,
                       const tool::WorkerOptions& workers, const Report& report) {
    namespace pattern = strid::pattern;
    std::vector<std::unique_ptr<GrowingNode>> roots;
    for (std::size_t i = 0; i < trainings.size(); ++i) {
        roots.push_back(std::make_unique<GrowingNode>());
    }
    const auto root = pattern::source([&, next = std::size_t{0}]() mutable -> std::optional<Task> {
        if (next == roots.size()) return std::nullopt;
        const Training& training = *trainings[next];
        Growing growing(training, *roots[next++]);
        return Task{Task::Step::node, 0,
                    std::make_shared<SharedNode>(training, std::move(growing))};
    });
    const auto by_cost = pattern::Weighted{[](const Task& task) { return task.cost(); }};
    std::uint64_t done = 0;
    const auto count = [&](std::uint64_t cases) { report(done += cases); };
    run_pattern(
        pattern::pipeline(pattern::named("root", root),
                          pattern::named("grow", pattern::iterate(pattern::farm(
                                                     Worker(sizes_for(trainings, workers.count)),
                                                     by_cost, {.workers = workers.count}))),
                          pattern::named("count", count)),
        workers);
    std::vector<Tree> trees;
    for (const auto& grown : roots) trees.push_back(flatten(*grown));
    return trees;
}

}  // namespace strid::tree
