// SPDX-License-Identifier: Apache-2.0
//
// Running the tasks of a graph: by threads of the team, by threads that wait for the graph, and by
// those that wait for room in it.
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/base/error.hpp>
#include <strid/engine/base/relax.hpp>
#include <strid/engine/operator/faults.hpp>

#include "task_graph_state.hpp"

namespace strid::pattern {

namespace {

// How long a thread looks for work before it sleeps: about what sleeping and waking cost.
constexpr std::int64_t spin_ns = 50'000;

// The tasks that this thread is in, from the innermost on.
struct Frame {
    const void* graph;
    const Frame* outer;
};
thread_local const Frame* innermost = nullptr;

std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}
unsigned number_of_thread() {
    static std::atomic<unsigned> count{0};
    thread_local const unsigned number = count.fetch_add(1, std::memory_order_relaxed);
    return number;
}

}  // namespace

TaskGraphState::Edge TaskGraphState::closed;

TaskGraphState::TaskGraphState(Team& team, const TaskGraphOptions& options)
    : team_(team), open_tasks_max_(options.open_tasks_max), id_(next_id()), ready_(team.threads()) {
    if (open_tasks_max_ == 0) throw GraphError("a graph of tasks needs room for a task");
    team_.keep(*this, place_);
}

TaskGraphState::~TaskGraphState() {
    cancel();
    drop_undefined();
    work_until(
        [this] { return open_tasks_.load(std::memory_order_acquire) == 0; });  // as in wait()
    team_.give_up(place_);
}

void TaskGraphState::drop_undefined() noexcept {
    const std::lock_guard lock(mutex_);
    for (Node* const node : undefined_) {
        // Acquire, release: as in give().
        if (node->pending.fetch_sub(1, std::memory_order_acq_rel) == 1) put_ready(*node);
    }
    undefined_.clear();
}

void TaskGraphState::check_outside(const char* what) const {
    for (const Frame* frame = innermost; frame != nullptr; frame = frame->outer) {
        if (frame->graph != this) continue;
        throw GraphError(std::string("a task ") + what +
                         " the graph that it is part of: it may have a graph of its own");
    }
}

void TaskGraphState::check_may_add() {
    check_outside("adds a task to");
    if (!dropping_.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(failure_mutex_);
    if (failure_) std::rethrow_exception(failure_);
}

void TaskGraphState::wait() {
    check_outside("waits for");
    if (dropping_.load(std::memory_order_relaxed)) {
        drop_undefined();
    } else {
        const std::lock_guard lock(mutex_);
        if (!undefined_.empty()) {
            throw GraphError("wait() would not return: declared and not defined is " +
                             undefined_names());
        }
    }
    // Acquire: pairs with end(): what the tasks wrote.
    work_until([this] { return open_tasks_.load(std::memory_order_acquire) == 0; });
    dropping_.store(false, std::memory_order_relaxed);
    const std::lock_guard lock(failure_mutex_);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void TaskGraphState::wait_until_room() noexcept {
    wait_for_room_.fetch_add(1, std::memory_order_seq_cst);  // pairs with end()
    // Not the list of free nodes: another thread that adds takes all of it at once. Sequentially
    // consistent: pairs with end(), which counts its task off and then looks for threads.
    work_until([this] { return open_tasks_.load(std::memory_order_seq_cst) < open_tasks_max_; });
    wait_for_room_.fetch_sub(1, std::memory_order_relaxed);
}

template <class Done>
void TaskGraphState::work_until(const Done& done) noexcept {
    for (std::int64_t until_ns = 0; !done();) {
        if (Node* const node = take_ready()) {
            run_from(node, done);
            until_ns = 0;
            continue;
        }
        if (team_.help_others(place_)) {
            until_ns = 0;
            continue;
        }
        const std::int64_t time_ns = now_ns();
        if (until_ns == 0) until_ns = time_ns + spin_ns;
        if (time_ns < until_ns) {
            relax();
        } else {
            team_.sleep_unless(place_, [&] { return done() || any_ready(); });
        }
    }
}

bool TaskGraphState::take_part() noexcept {
    for (bool any = false;; any = true) {
        if (any && Team::is_waiting()) return true;
        Node* node = take_ready();
        if (node == nullptr) {
            team_.close(place_);
            if (!any_ready()) return any;
            team_.open(place_);
            node = take_ready();
            if (node == nullptr) return any;
        }
        run_from(node, [] { return Team::is_waiting(); });
    }
}

TaskGraphState::Node* TaskGraphState::take_ready() noexcept {
    const std::size_t own = number_of_thread() % ready_.size();
    for (std::size_t i = 0; i < ready_.size(); ++i) {
        Ready& ready = ready_[(own + i) % ready_.size()];
        if (ready.count.load(std::memory_order_relaxed) == 0) continue;
        const std::lock_guard lock(ready.mutex);
        if (Node* const node = ready.take()) return node;
    }
    return nullptr;
}

bool TaskGraphState::any_ready() noexcept {
    for (Ready& ready : ready_) {
        // The mutex, not the count: a thread that adds a task locks it before it looks whether the
        // place of the graph is open and whether threads wait, and one that closes the place, or
        // waits, locks it afterwards. One of the two is second and sees what the other did.
        const std::lock_guard lock(ready.mutex);
        if (ready.oldest != nullptr) return true;
    }
    return false;
}

void TaskGraphState::put_ready(Node& node) noexcept {
    Ready& ready = ready_[number_of_thread() % ready_.size()];
    {
        const std::lock_guard lock(ready.mutex);
        ready.put(node);
    }
    if (place_ >= 0) {
        team_.open(place_);
    } else {
        team_.wake_waiting();
    }
}

template <class Done>
void TaskGraphState::run_from(Node* node, const Done& done) noexcept {
    while (true) {
        call(*node);
        node = end(*node);
        if (node == nullptr) return;
        if (!done()) continue;
        put_ready(*node);
        return;
    }
}

void TaskGraphState::call(Node& node) noexcept {
    if (!dropping_.load(std::memory_order_relaxed)) {
        const Team::Inside inside;
        const Frame frame{this, innermost};
        innermost = &frame;
        try {
            try {
                node.function();
            } catch (...) {
                operators::rethrow_as(name_of(node));
            }
        } catch (...) {
            const std::lock_guard lock(failure_mutex_);
            if (!failure_) failure_ = std::current_exception();
            cancel();
        }
        innermost = frame.outer;
    }
    node.function.reset();
}

TaskGraphState::Node* TaskGraphState::end(Node& node) noexcept {
    // Pairs with follow(), has_ended(): they see what the task wrote, and this the edges.
    Edge* const edges = node.followers.exchange(&closed, std::memory_order_acq_rel);
    Node* oldest = nullptr;  // the last in the list
    Edge* last = nullptr;
    for (Edge* edge = edges; edge != nullptr; edge = edge->next) {
        last = edge;
        // Pairs with give() and the others that wait for less: what they wrote.
        if (edge->to->pending.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        if (oldest != nullptr) put_ready(*oldest);
        oldest = edge->to;
    }
    if (last != nullptr) {
        last->next = free_edges_.load(std::memory_order_relaxed);
        // Release: pairs with reserve_edges().
        while (!free_edges_.compare_exchange_weak(last->next, edges, std::memory_order_release,
                                                  std::memory_order_relaxed)) {
        }
    }
    node.next = free_nodes_.load(std::memory_order_relaxed);
    // Release: pairs with has_free_node().
    while (!free_nodes_.compare_exchange_weak(node.next, &node, std::memory_order_release,
                                              std::memory_order_relaxed)) {
    }
    // Sequentially consistent: pairs with the count of threads that wait in Team::sleep_unless(),
    // and with wait_until_room(), which counts itself before it looks.
    const bool was_last = open_tasks_.fetch_sub(1, std::memory_order_seq_cst) == 1;
    if (was_last || wait_for_room_.load(std::memory_order_seq_cst) != 0) team_.wake_waiting();
    return oldest;
}

}  // namespace strid::pattern
