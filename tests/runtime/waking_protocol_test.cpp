// SPDX-License-Identifier: Apache-2.0
//
// The protocol of notifying, claiming and sleeping (task_states.hpp, parking_lot.hpp), checked in
// every interleaving of its atomic operations. Every operation that matters is a read-modify-write
// or sequentially consistent, so interleavings are all there is.
//
// The model is written out by hand, one case per atomic operation; the explorer visits every
// reachable state. Two invariants: no task is stepped by two workers at once; and when nothing
// moves any more, every task has seen everything that was published before it was notified. A
// sleeper may also wake up for no reason, but that does not count as moving.
//
// A checker proves something only if it can fail: each mutant changes one operation of the
// protocol, and must be caught.
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

namespace strid::runtime {
namespace {

constexpr std::size_t tasks_max = 2;
constexpr std::size_t threads_max = 4;

enum class Mutant : std::uint8_t {
    none,
    no_last_look,             // sleeps without looking at the tasks once more
    look_before_announcing,   // looks, then raises the flag
    count_before_waking,      // a waker counts its wakee searching before it has one
    sleeper_stays_searching,  // gives up and is still counted as searching
    release_forgets,          // running -> idle, whatever happened meanwhile
    notify_checks_then_acts,  // reads the state, then writes it
    claim_checks_then_acts,   // the same when claiming
    relaxed_announcement,     // the flag is seen by others only later (a store buffer)
    wakes_without_lowering    // calls the kernel, leaves the flag raised
};

struct Scenario {
    std::size_t workers = 1;
    std::size_t tasks = 1;
    // The actions of each thread from outside: the tasks it notifies, in order.
    std::vector<std::vector<std::uint8_t>> notifiers;
    bool chain = false;  // every step of task 0 publishes to task 1 and notifies it
    Mutant mutant = Mutant::none;
};

enum Place : std::uint8_t {
    // A worker.
    claiming,
    claim_seen,
    leaving_search,
    begin_step,
    chain_publish,
    chain_notify,
    end_step,
    enter_search,
    spinning,
    spin_seen,
    give_up,
    count_parked,
    raise_flag,
    last_look,
    fall_asleep,
    asleep,
    awake,
    uncount_parked,
    // Both: a notification.
    publish,
    mark,
    mark_seen,
    look_searching,
    look_parked,
    look_flag,
    lower_flag,
    wake_uncount,
    wake_count,
    wake_count_back,
    wake_call,
    over
};

struct ThreadState {
    std::uint8_t place = claiming;
    std::uint8_t task = 0;   // at hand
    std::uint8_t other = 0;  // sleeper at hand
    std::uint8_t next = 0;   // a notifier: which of its notifications
    std::uint8_t searching = 0;
    std::uint8_t buffered = 0;  // a flag that others do not see yet
};

struct State {
    std::array<std::uint8_t, tasks_max> pending{};
    std::array<std::uint8_t, tasks_max> claimed{};
    std::array<std::uint8_t, tasks_max> published{};
    std::array<std::uint8_t, tasks_max> seen{};
    std::array<std::uint8_t, threads_max> flag{};
    std::int8_t searching = 0;
    std::int8_t parked = 0;
    std::array<ThreadState, threads_max> threads{};

    bool operator==(const State& other) const noexcept {
        return std::memcmp(this, &other, sizeof other) == 0;
    }
};
static_assert(std::has_unique_object_representations_v<State>);  // hashed by its bytes

struct Hash {
    std::size_t operator()(const State& state) const noexcept {
        const std::string_view bytes(reinterpret_cast<const char*>(&state), sizeof state);
        return std::hash<std::string_view>{}(bytes);
    }
};

class Model {
  public:
    explicit Model(Scenario scenario) : scenario_(std::move(scenario)) {}

    /// The first violation, or "".
    std::string explore() {
        State start;
        for (std::size_t i = 0; i < scenario_.notifiers.size(); ++i) {
            start.threads[scenario_.workers + i].place = publish;
            start.threads[scenario_.workers + i].task = scenario_.notifiers[i].front();
        }
        std::vector<State> open{start};
        visit(start);
        while (!open.empty() && failure_.empty()) {
            const State state = open.back();
            open.pop_back();
            bool moved = false;
            const std::size_t threads = scenario_.workers + scenario_.notifiers.size();
            for (std::size_t i = 0; i < threads; ++i) {
                State next = state;
                if (move(next, i)) {
                    moved = true;
                    if (visit(next)) open.push_back(next);
                }
                next = state;
                if (i < scenario_.workers && disturb(next, i) && visit(next)) open.push_back(next);
            }
            if (!moved) check_end(state);
        }
        return failure_;
    }

    [[nodiscard]] std::size_t states() const { return visited_.size(); }

  private:
    bool visit(const State& state) { return visited_.insert(state).second; }

    void check_end(const State& state) {
        for (std::size_t task = 0; task < scenario_.tasks; ++task) {
            if (state.seen[task] != state.published[task]) {
                failure_ = "lost wake-up of task " + std::to_string(task);
            }
        }
    }

    // Events that may happen to a worker beside its program: a sleep ends early, a store arrives.
    static bool disturb(State& state, std::size_t me) {
        ThreadState& thread = state.threads[me];
        if (thread.buffered != 0) {
            state.flag[me] = 1;
            thread.buffered = 0;
            return true;
        }
        if (thread.place != asleep) return false;
        thread.place = awake;
        return true;
    }

    bool move(State& state, std::size_t me) {
        return me < scenario_.workers ? move_worker(state, me) : move_notifier(state, me);
    }

    // From one task to the next in a scan; `after` is where the scan leads when it found none.
    void scan_on(ThreadState& thread, Place again, Place after) const {
        thread.place = ++thread.task < scenario_.tasks ? again : after;
        if (thread.place == after) thread.task = 0;
    }

    void try_claim(State& state, ThreadState& thread, Place scan, Place when_seen, Place none) {
        const bool ready = state.pending[thread.task] != 0 && state.claimed[thread.task] == 0;
        if (!ready) {
            scan_on(thread, scan, none);
        } else if (scenario_.mutant == Mutant::claim_checks_then_acts) {
            thread.place = when_seen;
        } else {
            take(state, thread);
        }
    }

    void take(State& state, ThreadState& thread) {
        state.pending[thread.task] = 0;
        state.claimed[thread.task] = 1;
        thread.place = leaving_search;
    }

    bool move_worker(State& state, std::size_t me) {
        ThreadState& thread = state.threads[me];
        switch (thread.place) {
            case claiming:
                try_claim(state, thread, claiming, claim_seen, enter_search);
                break;
            case spinning:
                try_claim(state, thread, spinning, spin_seen, give_up);
                break;
            case claim_seen:
            case spin_seen:
                take(state, thread);
                break;
            case leaving_search:
                if (thread.searching != 0) {
                    --state.searching;
                    thread.searching = 0;
                }
                thread.place = begin_step;
                break;
            case enter_search:
                if (thread.searching == 0 && state.searching < std::max(1, workers() / 2)) {
                    ++state.searching;
                    thread.searching = 1;
                }
                thread.place = thread.searching != 0 ? spinning : give_up;
                break;
            case give_up:
                if (scenario_.mutant != Mutant::sleeper_stays_searching) {
                    state.searching = static_cast<std::int8_t>(state.searching - thread.searching);
                }
                thread.searching = 0;
                thread.place =
                    scenario_.mutant == Mutant::look_before_announcing ? last_look : count_parked;
                break;
            case begin_step:
            case chain_publish:
            case chain_notify:
            case end_step:
                move_step(state, thread, me);
                break;
            default:
                return move_parking(state, thread, me);
        }
        return true;
    }

    void move_step(State& state, ThreadState& thread, std::size_t me) {
        switch (thread.place) {
            case begin_step:
                for (std::size_t i = 0; i < scenario_.workers; ++i) {
                    const std::uint8_t place = state.threads[i].place;
                    if (i != me && state.threads[i].task == thread.task &&
                        (place == end_step || place == chain_publish || place == chain_notify)) {
                        failure_ = "two workers step task " + std::to_string(thread.task);
                    }
                }
                state.seen[thread.task] = state.published[thread.task];
                thread.place = scenario_.chain && thread.task == 0 ? chain_publish : end_step;
                break;
            case chain_publish:
                ++state.published[1];
                thread.place = chain_notify;
                break;
            case chain_notify:  // this worker is awake: no other is woken
                state.pending[1] = 1;
                thread.place = end_step;
                break;
            default:
                state.claimed[thread.task] = 0;
                if (scenario_.mutant == Mutant::release_forgets) state.pending[thread.task] = 0;
                thread.task = 0;
                thread.place = claiming;
        }
    }

    bool move_parking(State& state, ThreadState& thread, std::size_t me) {
        const bool early_look = scenario_.mutant == Mutant::look_before_announcing;
        switch (thread.place) {
            case count_parked:
                ++state.parked;
                thread.place = raise_flag;
                break;
            case raise_flag:
                if (scenario_.mutant == Mutant::relaxed_announcement) {
                    thread.buffered = 1;
                } else {
                    state.flag[me] = 1;
                }
                thread.place = early_look || scenario_.mutant == Mutant::no_last_look ? fall_asleep
                                                                                      : last_look;
                break;
            case last_look:
                if (state.pending[thread.task] != 0 && state.claimed[thread.task] == 0) {
                    thread.task = 0;
                    thread.place = early_look ? claiming : awake;
                } else {
                    scan_on(thread, last_look, early_look ? count_parked : fall_asleep);
                }
                break;
            case fall_asleep:  // the kernel compares and sleeps in one
                thread.place = state.flag[me] != 0 || thread.buffered != 0 ? asleep : awake;
                break;
            case asleep:
                return false;
            case awake: {
                const bool mine = state.flag[me] != 0 || thread.buffered != 0;
                state.flag[me] = thread.buffered = 0;
                if (!mine) thread.searching = 1;  // another worker woke and counted it
                thread.place = mine ? uncount_parked : claiming;
                break;
            }
            case uncount_parked:
                --state.parked;
                thread.place = claiming;
                break;
            default:
                return false;
        }
        return true;
    }

    bool move_notifier(State& state, std::size_t me) {
        ThreadState& thread = state.threads[me];
        switch (thread.place) {
            case publish:
                ++state.published[thread.task];
                thread.place = mark;
                break;
            case mark: {
                const bool idle =
                    state.pending[thread.task] == 0 && state.claimed[thread.task] == 0;
                if (scenario_.mutant == Mutant::notify_checks_then_acts) {
                    if (state.claimed[thread.task] != 0) {
                        finish(thread, me);  // "it runs, so it will see it"
                    } else {
                        thread.place = mark_seen;
                    }
                    break;
                }
                state.pending[thread.task] = 1;
                thread.place = look_searching;
                if (!idle) finish(thread, me);
                break;
            }
            case mark_seen:
                state.pending[thread.task] = 1;
                thread.place = look_searching;
                break;
            case look_searching:
                thread.place = look_parked;
                if (state.searching > 0) finish(thread, me);
                break;
            case look_parked:
                thread.place = look_flag;
                thread.other = 0;
                if (state.parked == 0) finish(thread, me);
                break;
            default:
                return move_waking(state, thread, me);
        }
        return true;
    }

    bool move_waking(State& state, ThreadState& thread, std::size_t me) {
        const bool early_count = scenario_.mutant == Mutant::count_before_waking;
        const auto next_sleeper = [&] {
            thread.place = look_flag;
            if (++thread.other == scenario_.workers) finish(thread, me);
        };
        switch (thread.place) {
            case look_flag:
                if (state.flag[thread.other] == 0) {
                    next_sleeper();
                } else {
                    if (early_count) ++state.searching;
                    thread.place = lower_flag;
                }
                break;
            case lower_flag:
                thread.place = wake_uncount;
                if (scenario_.mutant == Mutant::wakes_without_lowering) {
                    thread.place = wake_call;
                } else if (state.flag[thread.other] == 0) {
                    thread.place = wake_count_back;
                    if (!early_count) next_sleeper();
                } else {
                    state.flag[thread.other] = 0;
                }
                break;
            case wake_uncount:
                --state.parked;
                thread.place = early_count ? wake_call : wake_count;
                break;
            case wake_count_back:
                --state.searching;
                next_sleeper();
                break;
            case wake_count:
                ++state.searching;
                thread.place = wake_call;
                break;
            case wake_call: {
                ThreadState& sleeper = state.threads[thread.other];
                // Woken, it looks at its flag and sleeps on while that is raised.
                if (sleeper.place == asleep && state.flag[thread.other] == 0) sleeper.place = awake;
                finish(thread, me);
                break;
            }
            default:
                return false;
        }
        return true;
    }

    void finish(ThreadState& thread, std::size_t me) const {
        const auto& program = scenario_.notifiers[me - scenario_.workers];
        thread.other = 0;
        thread.place = over;
        if (++thread.next < program.size()) {
            thread.task = program[thread.next];
            thread.place = publish;
        }
    }

    [[nodiscard]] int workers() const { return static_cast<int>(scenario_.workers); }

    Scenario scenario_;
    std::unordered_set<State, Hash> visited_;
    std::string failure_;
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t scenarios_used = 5;  // the model is one thread: sanitizers only slow it down
#else
constexpr std::size_t scenarios_used = 9;
#endif

// From small to large.
std::vector<Scenario> scenarios() {
    std::vector<Scenario> all = {
        {1, 1, {{0, 0, 0}}, false, Mutant::none},   {1, 2, {{0, 1, 0}}, false, Mutant::none},
        {1, 1, {{0, 0}, {0}}, false, Mutant::none}, {2, 1, {{0, 0}}, false, Mutant::none},
        {2, 2, {{0, 1}}, false, Mutant::none},      {2, 2, {{0, 0}}, true, Mutant::none},
        {2, 1, {{0}, {0}}, false, Mutant::none},    {2, 2, {{0}, {1}}, false, Mutant::none},
        {2, 2, {{0}, {1}}, true, Mutant::none},
    };
    all.resize(scenarios_used);
    return all;
}

TEST(WakingProtocol, NoLostWakeUpAndNoDoubleStepInAnyInterleaving) {
    std::size_t states = 0;
    for (const Scenario& scenario : scenarios()) {
        Model model(scenario);
        EXPECT_EQ(model.explore(), "") << states << " states into the test";
        states += model.states();
    }
    RecordProperty("states", static_cast<int>(states));
    EXPECT_GT(states, 10'000U);  // it did explore
}

class WakingProtocolMutant : public testing::TestWithParam<Mutant> {};

TEST_P(WakingProtocolMutant, IsCaught) {
    std::string failure;
    for (Scenario scenario : scenarios()) {
        scenario.mutant = GetParam();
        failure = Model(scenario).explore();
        if (!failure.empty()) break;
    }
    EXPECT_NE(failure, "");
}

INSTANTIATE_TEST_SUITE_P(All, WakingProtocolMutant,
                         testing::Values(Mutant::no_last_look, Mutant::look_before_announcing,
                                         Mutant::count_before_waking,
                                         Mutant::sleeper_stays_searching, Mutant::release_forgets,
                                         Mutant::notify_checks_then_acts,
                                         Mutant::claim_checks_then_acts,
                                         Mutant::relaxed_announcement,
                                         Mutant::wakes_without_lowering));

}  // namespace
}  // namespace strid::runtime
