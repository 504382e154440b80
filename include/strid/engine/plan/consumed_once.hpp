// SPDX-License-Identifier: Apache-2.0
//
// The error of the compiler where a stream is used twice. The functions of streams take rvalues;
// these deleted overloads take lvalues, and their names say what to do instead. Compile time only.
#pragma once

#include <strid/stream/options.hpp>
#include <strid/window/join_options.hpp>

namespace strid::graph {

template <class...>
inline constexpr bool is_moved = false;

/// A base of the handles, which bring in these functions beside their own.
struct ConsumedOnce {
    template <class... A>
    auto map(A&&...) & {
        must_be_moved<A...>();
    }
    template <class F>
    auto map(F&&, const OperatorOptions&) & {
        must_be_moved<F>();
    }
    template <class... A>
    auto filter(A&&...) & {
        must_be_moved<A...>();
    }
    template <class F>
    auto filter(F&&, const OperatorOptions&) & {
        must_be_moved<F>();
    }
    template <class U, class... A>
    auto flat_map(A&&...) & {
        must_be_moved<U, A...>();
    }
    template <class... A>
    auto sink(A&&...) & {
        must_be_moved<A...>();
    }
    template <class F>
    auto sink(F&&, const OperatorOptions&) & {
        must_be_moved<F>();
    }
    template <class... A>
    auto event_time(A&&...) & {
        must_be_moved<A...>();
    }
    template <auto Member, class... A>
    auto event_time(A&&...) & {
        must_be_moved<decltype(Member), A...>();
    }
    template <class... A>
    auto key_by(A&&...) & {
        must_be_moved<A...>();
    }
    template <auto Member, class... A>
    auto key_by(A&&...) & {
        must_be_moved<decltype(Member), A...>();
    }
    template <class... A>
    auto window(A&&...) & {
        must_be_moved<A...>();
    }
    template <class... A>
    auto split(A&&...) & {
        must_be_moved<A...>();
    }
    template <class... A>
    auto split_by_type(A&&...) & {
        must_be_moved<A...>();
    }
    template <class... A>
    auto merge(A&&...) & {
        must_be_moved<A...>();
    }
    template <class... A>
    auto join(A&&...) & {
        must_be_moved<A...>();
    }
    template <class... A>
    auto as_of(A&&...) & {
        must_be_moved<A...>();
    }
    template <class Right, class Keys, class Bound, class F>
    auto join(Right&&, Keys&&, Bound&&, F&&, const JoinOptions&) & {
        must_be_moved<Right, Keys, Bound, F>();
    }
    template <class Right, class Keys, class F>
    auto as_of(Right&&, Keys&&, F&&, const AsOfOptions&) & {
        must_be_moved<Right, Keys, F>();
    }
    template <class... A>
    auto lookup(A&&...) & {
        must_be_moved<A...>();
    }
    template <auto Member, class... A>
    auto lookup(A&&...) & {
        must_be_moved<decltype(Member), A...>();
    }
    template <class... A>
    auto accumulate(A&&...) & {
        must_be_moved<A...>();
    }
    template <class... A>
    auto reduce(A&&...) & {
        must_be_moved<A...>();
    }

  private:
    template <class... A>
    static void must_be_moved() {
        static_assert(is_moved<A...>,
                      "a stream is consumed once: write std::move(stream).map(...), and to read "
                      "one twice: auto [a, b] = std::move(stream).tee<2>()");
    }
};

}  // namespace strid::graph
