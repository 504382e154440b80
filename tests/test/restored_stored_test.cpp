// SPDX-License-Identifier: Apache-2.0
//
// The state() of operators whose keys are partly in a store is complete (alike.hpp): it moves with
// the store, or goes on from a checkpoint.
#include <cstdint>
#include <memory>
#include <string>

#include <strid/engine/operator/per_record.hpp>
#include <strid/engine/window/operators/stored_process.hpp>
#include <strid/operator/per_key.hpp>
#include <strid/operator/stored_keys.hpp>

#include "../support/memory_stores.hpp"
#include "alike.hpp"

namespace strid::test {
namespace {

using namespace window;

StoredKeys few_in_memory() {
    static const auto stores = std::make_shared<MemoryStores>();
    return keep_in_memory(500, stores);
}

/// The numbers of a key that came.
struct Numbers {
    std::string numbers;
    auto state() { return std::tie(numbers); }
    static constexpr FunctionTraits traits{.hears = events<>};
    std::string operator()(const Reading& reading) {
        return numbers += std::to_string(reading.value) + ",";
    }
};

TEST(Restored, MapByKeyInAStore) {
    using Holder = operators::PerKey<Numbers, Reading, KeyOf, StoredKeys>;
    using Operator = operators::Map<message::Hashed<Reading>, Numbers, Holder>;
    keyed_state_is_complete(
        [] {
            return Operator{Holder{Numbers{}, {}, few_in_memory()}};
        },
        {.keys = 30});
}

/// Sets timers of both kinds, cancels some, and forgets its key now and then.
struct Alarms {
    static constexpr FunctionTraits traits{.hears = events<>};
    std::int64_t records = 0;
    EventTime next{};

    void operator()(const Reading& reading, Timers& timers, Emitter<std::string>& emit) {
        if (records % 3 == 1) timers.cancel(next);
        next = EventTime::of_ns(reading.time.ns() / 20 * 20 + 40);
        if (records % 4 != 3) timers.at(next);
        if (reading.value % 4 == 0) {
            timers.at(ProcessingTime::of_ns(Timers::now().ns() + 300 + 100 * (reading.value % 3)));
        }
        ++records;
        emit(text_of(reading) + " at " + text_of(timers.watermark()));
    }
    void on_timer(EventTime time, Timers& timers, Emitter<std::string>& emit) {
        emit("timer " + text_of(time) + " of " + std::to_string(records));
        if (records % 5 == 0) timers.forget_key();
    }
    void on_timer(ProcessingTime time, Timers&, Emitter<std::string>& emit) {
        emit("clock " + std::to_string(time.ns()) + " of " + std::to_string(records));
    }
};

TEST(Restored, StoredProcess) {
    using Process = StoredProcess<Reading, KeyOf, std::uint32_t, Alarms, std::string>;
    keyed_state_is_complete(
        [] {
            return Process{Alarms{}, {}, few_in_memory()};
        },
        {.keys = 20, .clock_step = 200});
}

}  // namespace
}  // namespace strid::test
