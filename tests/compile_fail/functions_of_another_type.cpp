// SPDX-License-Identifier: Apache-2.0
//
// A function that an operator cannot take: the first line states what is required, and the
// compiler beside it what it got. Nothing else is reported: no list of candidates, no second fault.
// error: map needs a function F of the records T
// error: filter needs a function F of the records T that arrive: bool f(const T&)
// error: flat_map<U> needs a function F of the records T
// error: sink needs a function F of the records T
// error: call needs a function F of the records T
// error: call needs a function F of the records T
// error: call needs a function F of the records T
// error: split needs a function F of the records T
// error: a key needs a member of the records T
// error: the key must be hashable
// error: the key has text in it that its operator cannot copy
// error: accumulate needs a function F of the state and the records T
// error: reduce needs a function F of two of the records T
// error: process<U> needs a function F of the records T
// error: the function cannot be copied
// error: a time needs a member of the records T
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "numbers.hpp"

struct Other {
    int device;
};
struct Once {
    std::unique_ptr<int> owned;
    int operator()(int number) const { return number; }
};
struct Texts {
    std::string_view two[2];
    friend bool operator==(const Texts&, const Texts&) = default;
};

struct Timed {
    void operator()(int, strid::Timers&, auto&) const {}
    void on_timer(strid::EventTime, strid::Timers&, auto&) const {}
};

template <class Stream>
void build(Stream numbers) {
    auto keyed = strid::Graph{"other"}.source(Numbers{}).key_by([](int n) { return n % 7; });
#ifdef STRID_MUST_NOT_COMPILE
    std::move(numbers).map([](const std::string& text) { return text; });
    std::move(numbers).filter([](int) { return std::string{"yes"}; });
    std::move(numbers).template flat_map<int>([](const std::string&, auto&) {});
    std::move(numbers).sink([](const std::string&) {});
    std::move(numbers).call([](const std::string& text) { return text; });
    std::move(numbers).call([calls = 0](int) mutable { return ++calls; });
    std::move(numbers).call([](int) {});
    (void)std::move(numbers).split(2, [](int number) { return number * 0.5; });
    (void)std::move(numbers).template key_by<&Other::device>();
    (void)std::move(numbers).key_by([](int) { return std::vector<int>{}; });
    (void)std::move(numbers).key_by([](int) { return Texts{}; });
    std::move(keyed).accumulate(0, [](int&, const std::string&) {});
    std::move(keyed).reduce([](int, int) { return std::string{}; });
    std::move(keyed).template process<int>([](int, strid::Timers, auto&) {});
    std::move(numbers).map(Once{});
    std::move(numbers).event_time([](int number) { return number; }, strid::MonotonousTime{});
#else
    std::move(numbers).map([](int number) { return number; });
    std::move(numbers).filter([](int) { return true; });
    std::move(numbers).template flat_map<int>([](int, auto&) {});
    std::move(numbers).sink([](int) {});
    std::move(numbers).call([](int number, std::stop_token) { return number; });
    (void)std::move(numbers).split(2, [](int number) { return number % 2; });
    (void)std::move(numbers).key_by([](int) { return std::string{}; });
    std::move(keyed).accumulate(0, [](int& sum, int n) { sum += n; });
    std::move(keyed).reduce([](int a, int b) { return a + b; });
    std::move(keyed).template process<int>(Timed{});
#endif
}

template void build(decltype(strid::Graph{"numbers"}.source(Numbers{})));
