// SPDX-License-Identifier: Apache-2.0
#include "session/session_graph.hpp"

#include <tuple>
#include <utility>

#include <strid/strid.hpp>

namespace strid::exchange {

namespace {

constexpr std::size_t door_records = 4096;

/// The common state of all copies of the function below.
struct Known {
    std::map<std::string, SequenceNumbers> numbers;
    std::shared_ptr<const SessionRules> options;
};

/// The function of a user: a Session, and one timer at most that is pending for it.
class UserSession {
  public:
    explicit UserSession(std::shared_ptr<const Known> known) : known_(std::move(known)) {}

    void operator()(const Event& event, Timers& timers, Emitter<Action>& emit) {
        if (!session_) begin(event.user);
        session_->handle(event, Timers::now().ns(), actions_);
        hand_on(timers, emit);
        // Of a user that was refused nothing is kept; that of others is known to this object alone.
        const SequenceNumbers& numbers = session_->numbers();
        if (!session_->logged_on() && numbers.next_incoming == 1 && numbers.next_outgoing == 1 &&
            !known_->numbers.contains(event.user)) {
            timers.forget_key();
        }
    }
    void on_timer(ProcessingTime, Timers& timers, Emitter<Action>& emit) {
        due_ns_ = 0;
        session_->check_time(Timers::now().ns(), actions_);
        hand_on(timers, emit);
    }
    auto state() { return std::tie(session_, due_ns_); }

  private:
    void begin(const std::string& user) {
        const auto found = known_->numbers.find(user);
        session_.emplace(user, found != known_->numbers.end() ? found->second : SequenceNumbers{},
                         known_->options);
    }
    void hand_on(Timers& timers, Emitter<Action>& emit) {
        for (Action& action : actions_) emit(std::move(action));
        actions_.clear();
        // A timer that comes too early finds nothing to do and asks for the next: cheaper than to
        // move it at each message.
        const std::int64_t due_ns = session_->due_ns();
        if (due_ns == 0 || (due_ns_ != 0 && due_ns_ <= due_ns)) return;
        if (due_ns_ != 0) timers.cancel(ProcessingTime::of_ns(due_ns_));
        due_ns_ = due_ns;
        timers.at(ProcessingTime::of_ns(due_ns));
    }

    std::shared_ptr<const Known> known_;
    std::optional<Session> session_;
    std::vector<Action> actions_;
    std::int64_t due_ns_ = 0;  // of the timer that is pending; 0: none
};

}  // namespace

struct SessionGraph::Doors {
    Graph graph{"sessions"};
    std::optional<Inlet<Event>> inlet;
    std::optional<Outlet<Action>> outlet;
    std::optional<Running> running;
};

SessionGraph::SessionGraph(std::map<std::string, SequenceNumbers> numbers,
                           const SessionRules& options, std::size_t workers)
    : doors_(std::make_unique<Doors>()) {
    auto known = std::make_shared<const Known>(
        Known{std::move(numbers), std::make_shared<const SessionRules>(options)});
    auto [inlet, events] = doors_->graph.inlet<Event>(door_records);
    doors_->inlet.emplace(std::move(inlet));
    doors_->outlet.emplace(std::move(events)
                               .key_by<&Event::user>()
                               .process<Action>(UserSession(std::move(known)),
                                                {.name = "sessions", .parallelism = workers})
                               .outlet(door_records));
    doors_->running.emplace(start(doors_->graph, {.workers = workers}));
}

SessionGraph::~SessionGraph() = default;

bool SessionGraph::push(Event event) {
    return doors_->inlet->push(std::move(event));
}

bool SessionGraph::pop(std::vector<Action>& actions, std::size_t actions_max) {
    actions.clear();
    std::optional<Action> action = doors_->outlet->pop();
    if (!action) return false;
    actions.push_back(std::move(*action));
    take_more(actions, actions_max);
    return true;
}

void SessionGraph::try_pop(std::vector<Action>& actions, std::size_t actions_max) {
    actions.clear();
    take_more(actions, actions_max);
}

void SessionGraph::take_more(std::vector<Action>& actions, std::size_t actions_max) {
    while (actions.size() < actions_max) {
        std::optional<Action> action = doors_->outlet->try_pop();
        if (!action) return;
        actions.push_back(std::move(*action));
    }
}

void SessionGraph::stop() {
    doors_->running->stop();
}

void SessionGraph::cancel() {
    doors_->running->cancel();
}

void SessionGraph::wait() {
    doors_->running->wait();
}

}  // namespace strid::exchange
