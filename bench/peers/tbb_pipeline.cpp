// SPDX-License-Identifier: Apache-2.0
//
// Tokens are pointers into a fixed set, so that oneTBB allocates nothing per token for us: this is
// the cheapest way to pass 64 bytes on. A token that the filter empties travels on with count 0, as
// neither interface can drop one.
#include "tbb_pipeline.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

namespace strid::bench::peers {
namespace {

template <std::size_t Size>
struct alignas(64) Token {
    std::array<Record64, Size> records;
    std::size_t count;
};

template <std::size_t Size>
class TokenSource {
  public:
    explicit TokenSource(std::uint64_t records) : left_(records) {}

    bool fill(Token<Size>& token) noexcept {
        if (left_ == 0) return false;
        token.count = left_ < Size ? left_ : Size;
        for (std::size_t i = 0; i < token.count; ++i) source_.fill(token.records[i]);
        left_ -= token.count;
        return true;
    }

  private:
    PipelineSource source_;
    std::uint64_t left_;
};

template <std::size_t Size>
void map_token(Token<Size>& token) noexcept {
    for (std::size_t i = 0; i < token.count; ++i) pipeline_map(token.records[i]);
}

template <std::size_t Size>
void filter_token(Token<Size>& token) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < token.count; ++i) {
        if (!pipeline_keep(token.records[i])) continue;
        if (kept != i) token.records[kept] = token.records[i];
        ++kept;
    }
    token.count = kept;
}

template <std::size_t Size>
void sum_token(const Token<Size>& token, PipelineChecksum& checksum) noexcept {
    for (std::size_t i = 0; i < token.count; ++i) checksum.add(token.records[i]);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <std::size_t Size>
PipelineResult parallel_pipeline_of(std::uint64_t records, std::size_t tokens_max) {
    // Source and sink are serial and in order and at most tokens_max tokens are under way: the slot
    // that the source fills next is the one that the sink left longest ago.
    std::vector<Token<Size>> tokens(tokens_max);
    std::size_t next = 0;
    TokenSource<Size> source(records);
    PipelineChecksum checksum;
    using TokenPointer = Token<Size>*;
    const auto start = std::chrono::steady_clock::now();
    tbb::parallel_pipeline(
        tokens_max,
        tbb::make_filter<void, TokenPointer>(tbb::filter_mode::serial_in_order,
                                             [&](tbb::flow_control& control) -> TokenPointer {
                                                 TokenPointer token = &tokens[next];
                                                 next = (next + 1) % tokens.size();
                                                 if (source.fill(*token)) return token;
                                                 control.stop();
                                                 return nullptr;
                                             }) &
            tbb::make_filter<TokenPointer, TokenPointer>(tbb::filter_mode::parallel,
                                                         [](TokenPointer token) {
                                                             map_token(*token);
                                                             return token;
                                                         }) &
            tbb::make_filter<TokenPointer, TokenPointer>(tbb::filter_mode::parallel,
                                                         [](TokenPointer token) {
                                                             filter_token(*token);
                                                             return token;
                                                         }) &
            tbb::make_filter<TokenPointer, void>(
                tbb::filter_mode::serial_in_order,
                [&](TokenPointer token) { sum_token(*token, checksum); }));
    return {records, seconds_since(start), checksum};
}

/// Tokens on their way back from the serial sink to the serial source, as a node may overtake: a
/// message leaves a serial node only after the next one has been let in. Invariant: given_ - taken_
/// tokens are in the ring; the sink alone writes given_, the source alone taken_.
template <std::size_t Size>
class FreeTokens {
  public:
    explicit FreeTokens(std::vector<Token<Size>>& tokens) : given_(tokens.size()) {
        for (Token<Size>& token : tokens) ring_.push_back(&token);
    }
    Token<Size>* take() noexcept {
        while (given_.load(std::memory_order_acquire) == taken_) {  // pairs with give
        }
        return ring_[taken_++ % ring_.size()];
    }
    void give(Token<Size>* token) noexcept {
        const std::uint64_t given = given_.load(std::memory_order_relaxed);
        ring_[given % ring_.size()] = token;
        given_.store(given + 1, std::memory_order_release);  // pairs with take
    }

  private:
    std::vector<Token<Size>*> ring_;
    alignas(64) std::atomic<std::uint64_t> given_;
    alignas(64) std::uint64_t taken_ = 0;
};

template <std::size_t Size, class Policy>
PipelineResult flow_graph_of(std::uint64_t records, std::size_t tokens_max) {
    namespace flow = tbb::flow;
    using TokenPointer = Token<Size>*;
    // The limiter admits tokens_max tokens and the input node makes one ahead of it.
    std::vector<Token<Size>> tokens(tokens_max + 2);
    FreeTokens<Size> free_tokens(tokens);
    TokenSource<Size> source(records);
    PipelineChecksum checksum;
    flow::graph graph;
    flow::input_node<TokenPointer> input(graph, [&](tbb::flow_control& control) -> TokenPointer {
        TokenPointer token = free_tokens.take();
        if (source.fill(*token)) return token;
        control.stop();
        return nullptr;
    });
    flow::limiter_node<TokenPointer> limiter(graph, tokens_max);
    flow::function_node<TokenPointer, TokenPointer, Policy> map(graph, flow::serial,
                                                                [](TokenPointer token) noexcept {
                                                                    map_token(*token);
                                                                    return token;
                                                                });
    flow::function_node<TokenPointer, TokenPointer, Policy> filter(graph, flow::serial,
                                                                   [](TokenPointer token) noexcept {
                                                                       filter_token(*token);
                                                                       return token;
                                                                   });
    flow::function_node<TokenPointer, flow::continue_msg, Policy> sink(
        graph, flow::serial, [&](TokenPointer token) noexcept {
            sum_token(*token, checksum);
            free_tokens.give(token);
            return flow::continue_msg{};
        });
    flow::make_edge(input, limiter);
    flow::make_edge(limiter, map);
    flow::make_edge(map, filter);
    flow::make_edge(filter, sink);
    flow::make_edge(sink, limiter.decrementer());
    const auto start = std::chrono::steady_clock::now();
    input.activate();
    graph.wait_for_all();
    return {records, seconds_since(start), checksum};
}

/// Calls `run` with the size as a constant and with an arena of `threads` threads around it.
template <class Run>
PipelineResult with_size_and_threads(std::size_t records_per_token, std::size_t threads, Run run) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(threads));
    return arena.execute([&] {
        switch (records_per_token) {
            case 1:
                return run(std::integral_constant<std::size_t, 1>{});
            case 64:
                return run(std::integral_constant<std::size_t, 64>{});
            case 256:
                return run(std::integral_constant<std::size_t, 256>{});
            case 1024:
                return run(std::integral_constant<std::size_t, 1024>{});
            default:
                throw std::invalid_argument("records per token: 1, 64, 256 or 1024");
        }
    });
}

}  // namespace

PipelineResult run_tbb_parallel_pipeline(std::uint64_t records, std::size_t records_per_token,
                                         std::size_t threads, std::size_t tokens_max) {
    return with_size_and_threads(records_per_token, threads, [&](auto size) {
        return parallel_pipeline_of<decltype(size)::value>(records, tokens_max);
    });
}

PipelineResult run_tbb_flow_graph(std::uint64_t records, std::size_t records_per_token,
                                  std::size_t threads, FlowGraphNodes nodes,
                                  std::size_t tokens_max) {
    return with_size_and_threads(records_per_token, threads, [&](auto size) {
        constexpr std::size_t token_records = decltype(size)::value;
        if (nodes == FlowGraphNodes::lightweight) {
            return flow_graph_of<token_records, tbb::flow::queueing_lightweight>(records,
                                                                                 tokens_max);
        }
        return flow_graph_of<token_records, tbb::flow::queueing>(records, tokens_max);
    });
}

}  // namespace strid::bench::peers
