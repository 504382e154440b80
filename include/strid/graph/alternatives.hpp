// SPDX-License-Identifier: Apache-2.0
//
// Operators that give several streams, results and late records: one stream of variants, parted by
// what they hold.
//
// Threads: as Stream.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <strid/base/type_name.hpp>
#include <strid/graph/options.hpp>
#include <strid/graph/stream_types.hpp>
#include <strid/operator/late_apart.hpp>

namespace strid {

/// What a window gives with its late records apart: both have to be consumed.
template <class Result, class T, class Time = operators::NaturalTime<T>>
struct WindowStreams {
    Stream<Result> results;       ///< One record for each window.
    StreamTimedBy<T, Time> late;  ///< Records that came too late, unchanged.
};

/// What `in_order_of_time` and `k_slack` give with late records apart: both have to be consumed.
/// What follows the records directly is fused with what puts them out, and so finds them in order.
template <class Records, class T, class Time>
struct OrderedStreams {
    Records records;              ///< In the order of their event time.
    StreamTimedBy<T, Time> late;  ///< Records that came too late for their place, unchanged.
};

namespace graph {

/// The operator with its late records, of these types, among its results.
template <class... Late, class Operator>
operators::LateApart<Operator, Late...> with_late(Operator one) {
    return {std::move(one)};
}

/// Branch I of a split of variants: what they hold, as operator `name`-`what`. Not sealed: the
/// next operator is fused with it.
template <std::size_t I, class Any, class Branches>
auto alternative(Branches& branches, const std::string& name, const char* what) {
    return branches.select(I).map([](Any&& any) { return std::get<I>(std::move(any)); },
                                  OperatorOptions{.name = name.empty() ? "" : name + "-" + what});
}

/// A stream of variants by what they hold.
template <class S>
auto parted(S stream) {
    using Any = typename S::record_type;
    return std::move(stream).split(std::variant_size_v<Any>,
                                   [](const Any& any) { return any.index(); });
}

/// A stream of variants as a stream for each type; `of` says what these are, for their names.
template <class... T, class S>
std::tuple<Stream<T>...> alternatives(S stream, const std::string& name,
                                      const std::array<const char*, sizeof...(T)>& of) {
    using Any = typename S::record_type;
    auto branches = parted(std::move(stream));
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple<Stream<T>...>{alternative<I, Any>(branches, name, of[I])...};
    }(std::index_sequence_for<T...>{});
}

/// A stream of variants as a stream for each type, none of them sealed: an operator each with these
/// options, as `name`-`type`.
template <class S>
auto streams_by_type(S stream, const OperatorOptions& options) {
    using Any = typename S::record_type;
    auto branches = parted(std::move(stream));
    const auto one = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
        OperatorOptions named = options;
        if (!named.name.empty()) {
            named.name += "-" + type_name<std::variant_alternative_t<I, Any>>();
        }
        return branches.select(I).map([](Any&& any) { return std::get<I>(std::move(any)); }, named);
    };
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::tuple{one(std::integral_constant<std::size_t, I>{})...};
    }(std::make_index_sequence<std::variant_size_v<Any>>{});
}

/// The two streams of a window operator that gives its late records as well.
template <class T, class S, class Time>
auto results_and_late(S stream, const std::string& name, Time time) {
    using Result = std::variant_alternative_t<0, typename S::record_type>;
    auto [results, late] = alternatives<Result, T>(std::move(stream), name, {"results", "late"});
    return WindowStreams<Result, T, Time>{std::move(results),
                                          std::move(late).carrying(std::move(time))};
}

/// Those of an operator that puts records into an order, which they keep: what follows a split has
/// one replica unless it asks for more.
template <class T, class S, class Time>
auto records_and_late(S stream, const std::string& name, Time time) {
    using Any = typename S::record_type;
    auto branches = parted(std::move(stream));
    auto records = alternative<0, Any>(branches, name, "records").carrying(time);
    using Records = decltype(records);
    return OrderedStreams<Records, T, Time>{
        std::move(records), alternative<1, Any>(branches, name, "late").carrying(std::move(time))};
}

}  // namespace graph
}  // namespace strid
