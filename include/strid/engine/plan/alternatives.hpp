// SPDX-License-Identifier: Apache-2.0
//
// Operators with several output streams, such as results and late records: one stream of variants,
// split by their type.
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

#include <strid/engine/base/type_name.hpp>
#include <strid/engine/operator/late_apart.hpp>
#include <strid/stream/late_streams.hpp>
#include <strid/stream/options.hpp>
#include <strid/stream/stream_types.hpp>

namespace strid::graph {

/// The operator with its late records, of these types, among its results.
template <class... Late, class Operator>
operators::WithLate<Operator, Late...> with_late(Operator one) {
    return {std::move(one)};
}

/// Which type a variant holds. A class of its own, not a lambda in a template: streams of the same
/// records share the kernels with it.
struct IndexOfType {
    /// Its place among the types of the variant.
    template <class Any>
    std::size_t operator()(const Any& any) const noexcept {
        return any.index();
    }
};
/// The value of type I out of a variant.
template <std::size_t I, class Any>
struct TakeType {
    /// The variant is moved from.
    auto operator()(Any&& any) const { return std::get<I>(std::move(any)); }
};

/// Branch I of a split of variants, as operator `name`-`what`. Not sealed: the next operator is
/// fused with it.
template <std::size_t I, class Any, class Branches>
auto alternative(Branches& branches, const std::string& name, const char* what) {
    return branches.select(I).map(TakeType<I, Any>{},
                                  OperatorOptions{.name = name.empty() ? "" : name + "-" + what});
}

/// A stream of variants by what they hold.
template <class S>
auto parted(S stream) {
    using Any = typename S::record_type;
    return std::move(stream).split(std::variant_size_v<Any>, IndexOfType{});
}

/// A stream of variants as a stream for each type; `of` gives their names.
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
        return branches.select(I).map(TakeType<I, Any>{}, named);
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

/// The two streams of any other operator, with their times. Its records keep their order: the
/// operator behind a split has one replica unless it asks for more.
template <class T, class S, class TimeOf, class Time>
auto records_and_late(S stream, const std::string& name, TimeOf time_of_records, Time time) {
    using Any = typename S::record_type;
    auto branches = parted(std::move(stream));
    auto records =
        alternative<0, Any>(branches, name, "records").carrying(std::move(time_of_records));
    using Records = decltype(records);
    return RecordsAndLate<Records, T, Time>{
        std::move(records), alternative<1, Any>(branches, name, "late").carrying(std::move(time))};
}

}  // namespace strid::graph
