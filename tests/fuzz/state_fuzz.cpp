// SPDX-License-Identifier: Apache-2.0
//
// Saved states: the first byte chooses a type, the others are its bytes. Invariants: bytes that are
// refused are a StateError; a state that is loaded can be used, and is saved as bytes that load
// again.
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <strid/base/time.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/engine/window/aggregates/basic.hpp>
#include <strid/engine/window/structures/daba_lite.hpp>
#include <strid/engine/window/structures/flat_fat.hpp>
#include <strid/engine/window/structures/monotone_deque.hpp>
#include <strid/engine/window/structures/panes.hpp>
#include <strid/engine/window/structures/subtract_on_evict.hpp>
#include <strid/engine/window/structures/timer_queue.hpp>
#include <strid/engine/window/structures/two_stacks.hpp>
#include <strid/state/codec.hpp>
#include <strid/window/aggregates.hpp>
#include <strid/window/aggregates/hyper_log_log.hpp>
#include <strid/window/aggregates/t_digest.hpp>

#include "../support/fuzzing.hpp"

namespace strid::fuzz {
namespace {

using namespace window;

constexpr auto itself = [](std::int64_t value) { return value; };
using Sum = decltype(sum<std::int64_t>(itself));
using Greatest = decltype(maximum<std::int64_t>(itself));

/// Loads a state into `value`; false where the bytes are refused.
template <class T>
bool loads(T& value, std::span<const std::byte> bytes) {
    try {
        StateReader reader{bytes};
        state::load(reader, value);
        reader.expect_end();
    } catch (const StateError&) {
        return false;
    }
    return true;
}

struct Nested {
    std::string text;
    std::vector<Nested> children;
};
using Values = std::tuple<bool, std::optional<std::string>, std::map<std::string, double>,
                          std::variant<std::int32_t, std::string, Nested>, std::vector<Nested>>;

template <class T>
void check_plain(std::span<const std::byte> bytes) {
    T value{};
    if (!loads(value, bytes)) return;
    T again{};
    require(loads(again, state::bytes_of(value)));
}

/// A window that slides.
template <class Window, class A>
void check_window(std::span<const std::byte> bytes, A aggregate) {
    Window window(aggregate);
    if (!loads(window, bytes)) return;
    Window again(aggregate);
    require(loads(again, state::bytes_of(window)));
    require(again.size() == window.size());
    window.insert(aggregate.lift(3));
    (void)window.query();
    for (std::size_t left = std::min<std::size_t>(window.size(), 1'000); left != 0; --left) {
        window.evict();
        (void)window.query();
    }
}

void check_panes(std::span<const std::byte> bytes) {
    const Sum aggregate = sum<std::int64_t>(itself);
    PaneTree<Sum> panes(aggregate);
    if (!loads(panes, bytes)) return;
    PaneTree<Sum> again(aggregate);
    require(loads(again, state::bytes_of(panes)));
    if (panes.empty()) return;
    require(panes.oldest() <= panes.newest());
    panes.drop_before(panes.newest());
    require(panes.oldest() == panes.newest());
}

void check_timers(std::span<const std::byte> bytes) {
    TimerTable<EventTime> timers;
    if (!loads(timers, bytes)) return;
    std::size_t found = 0;
    timers.for_each([&](EventTime time, std::uint64_t number) {
        require(timers.number_of(time) == number);
        ++found;
    });
    require(found == timers.size());
}

void check_table(std::span<const std::byte> bytes) {
    KeyedState<std::string_view, std::int64_t, KeyLife{.expires = true, .in_use_order = true}>
        table;
    auto part = operators::states_by_key(table);
    if (!loads(part, bytes)) return;
    std::size_t found = 0;
    while (auto* const entry = table.longest_unused()) {
        require(table.find(entry->key, entry->hash) == entry);
        table.expire(*entry);
        ++found;
    }
    require(table.keys() == 0);
    (void)found;
}

/// A table whose states may lie behind all keys.
void check_table_in_slices(std::span<const std::byte> bytes) {
    KeyedState<std::string_view, std::int64_t, KeyLife{.in_slices = true}> table;
    auto part = operators::states_by_key(table);
    if (!loads(part, bytes)) return;
    std::size_t found = 0;
    for (const auto& entry : table) {
        require(table.find(entry.key, entry.hash) == &entry);
        ++found;
    }
    require(table.keys() == found);
}

void check(std::uint8_t choice, std::span<const std::byte> bytes) {
    switch (choice % 10) {
        case 0:
            return check_plain<Values>(bytes);
        case 1:
            return check_window<DabaLite<Sum>>(bytes, sum<std::int64_t>(itself));
        case 2:
            return check_window<FlatFat<Sum>>(bytes, sum<std::int64_t>(itself));
        case 3:
            return check_window<TwoStacks<Sum>>(bytes, sum<std::int64_t>(itself));
        case 4:
            return check_window<SubtractOnEvict<Sum>>(bytes, sum<std::int64_t>(itself));
        case 5:
            return check_window<MonotoneDeque<Greatest>>(bytes, maximum<std::int64_t>(itself));
        case 6:
            return check_panes(bytes);
        case 7:
            return check_timers(bytes);
        case 8:
            check_table_in_slices(bytes);
            return check_table(bytes);
        default:
            break;
    }
    TDigest digest;
    if (loads(digest, bytes)) (void)digest.quantile(0.5);
    HyperLogLog<10> different;
    if (loads(different, bytes)) {
        different.add(7);
        (void)different.estimate();
    }
}

}  // namespace
}  // namespace strid::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    strid::fuzz::check(data[0], std::as_bytes(std::span(data + 1, size - 1)));
    return 0;
}
