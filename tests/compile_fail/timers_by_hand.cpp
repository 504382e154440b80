// SPDX-License-Identifier: Apache-2.0
//
// The timers of a function belong to its operator: a test drives the function by a harness.
// error: the engine makes the Timers of a function
// error: the records of this operator come with the hash of a key
// error: an operator that brings tasks needs the threads of a run
#include <functional>

#include <strid/test/harness.hpp>

using namespace strid;

struct Doubles {
    void operator()(int record, Timers& timers, Emitter<int>& emit) {
        timers.at(EventTime::of_ns(record));
        emit(2 * record);
    }
    void on_timer(EventTime, Timers&, Emitter<int>&) {}
};

/// Behind key_by.
struct OfKeys : OperatorTypes<message::Hashed<int>, int> {
    static constexpr OperatorTraits traits{.hears = events<>};
    void process(message::Hashed<int>& arrived, auto& emit) { emit(arrived.record); }
};

#ifdef STRID_MUST_NOT_COMPILE

struct WithTasks : OperatorTypes<int, int> {
    static constexpr OperatorTraits traits{
        .emits = Emits::any_number, .hears = events<TasksWanted, Watermark>, .has = Has::held_back};
    void process(int& number, auto& emit) { emit(number); }
    void on(const TasksWanted&) {}
    bool on(Watermark, auto&) { return true; }
    [[nodiscard]] bool held_back() const { return false; }
};

void by_hand() {
    Timers timers;
}
void without_a_key() {
    test::Harness harness{OfKeys{}};
}
void with_tasks() {
    test::Harness harness{WithTasks{}};
}

#else

void by_harness() {
    test::Harness harness{test::process<int>(Doubles{}),
                          test::arriving_by_key<int>(std::identity{})};
    harness.record(1);
    test::Harness keyed{OfKeys{}, test::arriving_by_key<int>(std::identity{})};
    keyed.record(1);
}

#endif
