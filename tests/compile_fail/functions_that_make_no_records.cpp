// SPDX-License-Identifier: Apache-2.0
//
// Functions that are no source: the first line states what is required.
// error: from_generator needs a function that makes a coroutine: Generator<T> f()
// error: from_generator needs a function that takes nothing
// error: would outlive their text: yield records that own it
// error: from_callback needs a function that returns the next record
// error: from_callback needs a function that takes nothing
// error: would outlive their text: return records that own it
// error: from_generator calls the function once, to make the coroutine
// error: a function whose call changes it names its state
// error: a function that is pulled has on(const Opened&) and on(Restored) at most
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <strid/connector/callback.hpp>
#include <strid/connector/generator.hpp>

using strid::Generator;

struct View {
    std::string_view text;
};

struct Counting {
    static constexpr strid::FunctionTraits traits{.hears = strid::events<strid::Restored>};
    void on(strid::Restored) {}
    auto state() { return std::tie(next); }
    std::optional<int> operator()() { return next++; }
    int next = 0;
};

#ifdef STRID_MUST_NOT_COMPILE

struct CountingMaker : Counting {
    Generator<int> operator()() const { co_yield next; }
};
struct Flushed {
    static constexpr strid::FunctionTraits traits{.hears = strid::events<strid::Flush>};
    void on(strid::Flush) {}
    std::optional<int> operator()() const { return 1; }
};

#endif

void build() {
#ifdef STRID_MUST_NOT_COMPILE
    (void)strid::from_generator([] { return std::optional{1}; });
    (void)strid::from_generator([](int first) -> Generator<int> { co_yield first; });
    (void)strid::from_generator([]() -> Generator<View> { co_yield View{"text"}; });
    (void)strid::from_callback([] { return 1; });
    (void)strid::from_callback([](int first) { return std::optional{first}; });
    (void)strid::from_callback([] { return std::optional{View{"text"}}; });
    (void)strid::from_generator(CountingMaker{});
    (void)strid::from_callback(
        [at = std::make_shared<int>(0)]() mutable { return std::optional{(*at)++}; });
    (void)strid::from_callback(Flushed{});
#else
    (void)strid::from_generator([]() -> Generator<int> { co_yield 1; });
    (void)strid::from_generator([]() -> Generator<std::string> { co_yield "text"; });
    (void)strid::from_callback([] { return std::optional{1}; });
    (void)strid::from_callback([](const strid::Context&) { return std::optional{1}; });
    (void)strid::from_callback([next = 0]() mutable { return std::optional{next++}; });
    (void)strid::from_callback(Counting{});
#endif
}
