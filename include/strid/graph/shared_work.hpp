// SPDX-License-Identifier: Apache-2.0
//
// Operators whose replicas have every record each, in batches that all of them read, and share the
// work on it: what farmed windows and parallel joins are built of.
//
// Threads: as Stream.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <strid/base/hash.hpp>
#include <strid/graph/stream.hpp>
#include <strid/message/batch.hpp>

namespace strid {

namespace operators {

/// Hashes the key once, where the stream is one still.
template <class T, class KeyOf>
struct HashKey {
    static constexpr bool selective = false;
    static constexpr bool passes_records = true;
    [[no_unique_address]] KeyOf key_of;
    std::string name;  // of the key function in an error

    template <class Next>
    void operator()(T& record, Next&& next) {
        const std::uint64_t hash =
            guarded(name, [&] { return hash_of(std::invoke(key_of, std::as_const(record))); });
        message::Hashed<T> hashed{std::move(record), hash};
        next(hashed);
    }
};

}  // namespace operators

namespace graph {

struct SharedWork {
    /// A stream that is one side of a join: what is known of its times is known of the pair's.
    template <class Either, std::size_t side, class Upstream, class F>
    static auto side_of(Upstream&& upstream, F as_either, const OperatorOptions& options) {
        auto promised =
            operators::promised_time_of_side<Either, side>(upstream.handle_.promised_time);
        auto either = std::move(upstream).map(std::move(as_either), options);
        either.handle_.promised_time = std::move(promised);
        return either;
    }

    /// The records of a stream with the hashes of their keys.
    template <class Upstream, class KeyOf>
    static auto hashed(Upstream&& upstream, KeyOf key_of, OperatorOptions options) {
        using T = typename Upstream::record_type;
        std::string name = upstream.handle_.behind("key function");
        return std::move(upstream).template then<message::Hashed<T>>(
            operators::HashKey<T, KeyOf>{std::move(key_of), std::move(name)}, std::move(options),
            "map");
    }

    /// The operator that says for all replicas behind a broadcast which records are late.
    template <class S, class Stage>
    static auto judged(S stream, Stage stage, std::string name) {
        return with_watermarks(
            with_one_replica(std::move(stream).template then<typename Stage::Out::Record>(
                std::move(stage), OperatorOptions{.name = std::move(name), .parallelism = 1},
                "in_time")));
    }

    /// The operator behind a broadcast. `notes`: why it is as it is.
    template <class U, class T, class Stage, class... Notes>
    static auto shared(Stream<T> broadcast, Stage stage, OperatorOptions options, const char* kind,
                       Notes... notes) {
        auto stream =
            std::move(broadcast).template then<U>(std::move(stage), std::move(options), kind);
        stream.handle_.operators.back().shares_broadcast = true;
        (stream.handle_.operators.back().say(notes), ...);
        return stream;
    }
    template <class S>
    static S with_watermarks(S stream) {
        stream.handle_.operators.back().needs_watermarks = true;
        return stream;
    }

    /// The operator that brings what the replicas give into one order.
    template <class U, class S, class Stage>
    static Stream<U> collected(S stream, Stage stage, OperatorOptions options) {
        return with_one_replica(
            std::move(stream).template then<U>(std::move(stage), std::move(options), "collector"));
    }
    template <class S>
    static S with_one_replica(S stream) {
        stream.handle_.operators.back().one_replica = true;
        return stream;
    }
};

}  // namespace graph
}  // namespace strid
