// SPDX-License-Identifier: Apache-2.0
//
// Operators whose replicas have every record each, in batches that all of them read, and share the
// work on it: what farmed windows and parallel joins are built of.
//
// Threads: as Stream.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <strid/engine/operator/per_record.hpp>
#include <strid/stream/stream.hpp>

namespace strid {

namespace graph {

struct SharedWork {
    /// A stream that is one side of a join: the properties of its times hold for those of the pair.
    template <class Either, std::size_t side, class Upstream, class F>
    static auto side_of(Upstream&& upstream, F as_either, const OperatorOptions& options) {
        auto assigned =
            operators::assigned_time_of_side<Either, side>(upstream.handle_.assigned_time);
        auto either = std::move(upstream).map(std::move(as_either), options);
        either.handle_.assigned_time = std::move(assigned);
        return either;
    }

    /// The records of a stream with the hashes of their keys. `one_replica`: all that is behind has
    /// them in one order.
    template <class Upstream, class KeyOf>
    static auto hashed(Upstream&& upstream, KeyOf key_of, const OperatorOptions& options,
                       bool one_replica) {
        using T = typename std::remove_cvref_t<Upstream>::record_type;
        std::string name = upstream.handle_.behind("key function");
        return std::move(upstream).apply(
            operators::HashKey<T, KeyOf>{std::move(key_of), std::move(name), one_replica}, options);
    }

    /// The next operator, and why it is as it is.
    template <class S, class Operator, class... Notes>
    static auto then(S stream, Operator one, const OperatorOptions& options, std::string_view kind,
                     Notes... notes) {
        return std::move(stream).then(std::move(one), options, kind, notes...);
    }
};

}  // namespace graph
}  // namespace strid
