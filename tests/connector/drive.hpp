// SPDX-License-Identifier: Apache-2.0
//
// Drives a source without the engine.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/operator/declared.hpp>
#include <strid/memory/text_arena.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/source.hpp>

#include "../support/folder.hpp"
#include "../support/opened.hpp"

namespace strid::test {

/// Keeps every record, and every chunk that the source names unless it is released.
template <class T>
struct Emit {
    bool operator()(T&& record) {
        records.push_back(std::move(record));
        ingress_ns.push_back(born);
        return records.size() < refuse_from;
    }
    bool operator()(const T& record) { return (*this)(T(record)); }
    void keep_alive(const memory::TextReference& chunk) {
        if (chunks.empty() || !(chunks.back() == chunk)) chunks.push_back(chunk);
    }
    void ingress_at(std::int64_t ns) { born = ns; }
    void count_malformed(std::uint64_t count) { malformed += count; }

    std::vector<T> records;
    std::vector<std::int64_t> ingress_ns;
    std::vector<memory::TextReference> chunks;
    std::uint64_t malformed = 0;
    std::int64_t born = 0;
    std::size_t refuse_from = SIZE_MAX;
};

/// Polls until the source is finished; the text of the records stays alive with the result.
template <class Source>
Emit<typename Source::record_type> drain(Source source, Context context = {},
                                         std::size_t budget = 100) {
    if constexpr (operators::has<Source, Has::keep_all_text>) source.keep_all_text();
    Emit<typename Source::record_type> emit;
    test::open(source, context);
    for (;;) {
        const SourceStatus status = source.poll(emit, budget);
        if (status == SourceStatus::finished) return emit;
        if (status == SourceStatus::idle) std::this_thread::yield();
    }
}

/// Runs a shell command; true when it succeeds.
inline bool shell(const std::string& command) {
    return std::system(command.c_str()) == 0;
}

/// The message of the exception of type `Thrown`, or a failure.
template <class Thrown, class Function>
std::string message_of(Function&& function) {
    try {
        function();
    } catch (const Thrown& error) {
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

}  // namespace strid::test
