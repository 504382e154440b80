// SPDX-License-Identifier: Apache-2.0
//
// The allocator test of paper 5: a program of one thread that keeps its data in linked lists. The
// paper ran a speech recogniser; this is the part of one that allocates, token passing: a beam
// search through a graph of states, frame by frame. Each live state has a token, with a counted
// reference to the token before it and a list of links, one for each way into it. Tokens that lead
// nowhere go, and their links with them.
//
//   linked_lists [--frames N] [--states N] [--nodes allocated|recycled] [--repeat N] [--library L]
//
// `recycled`: tokens and links that go are kept in a list and used again, the paper's "don't
// release memory back to the allocator, cache it". With --library the program fails unless malloc
// and free come from a library of that name. The cost of the best path and the number of links are
// compared with those of a search over plain arrays.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

#include "bench/command_line.hpp"
#include "bench/preloaded.hpp"
#include "clocks.hpp"
#include "tables.hpp"

namespace {

using namespace strid::bench;

using Cost = std::uint64_t;
constexpr Cost none = std::numeric_limits<Cost>::max();
constexpr std::size_t arcs = 3;
constexpr Cost beam = 1'300;

struct Settings {
    std::size_t frames = 1'000;
    std::size_t states = 60'000;
    std::size_t repeat = 3;
    std::string nodes = "allocated";
    std::string library;
};

/// The graph and what is heard, made of numbers alone.
struct Speech {
    std::size_t states;
    [[nodiscard]] std::size_t target(std::size_t state, std::size_t arc) const {
        return arc == 0 ? state : mixed_below(state * arcs + arc, states);
    }
    [[nodiscard]] Cost cost(std::size_t frame, std::size_t state, std::size_t arc) const {
        return mixed_below((frame * states + state) * arcs + arc, 1000) + 1;
    }
};

struct Token;
struct Link {
    Link* next;
    Token* from;
    Cost cost;
};
struct Token {
    Token* next;    // of the same frame
    Token* before;  // on the best way here
    Link* links;
    Cost cost;
    std::uint32_t state;
    std::uint32_t references;
};

/// By operator new, or from the list of those that went.
template <class T, bool recycled>
class Nodes {
  public:
    Nodes() = default;
    Nodes(const Nodes&) = delete;
    Nodes& operator=(const Nodes&) = delete;
    ~Nodes() {
        while (free_ != nullptr) std::default_delete<T>{}(std::exchange(free_, free_->next));
    }
    T* make(const T& value) {
        if (recycled && free_ != nullptr) {
            T* const node = std::exchange(free_, free_->next);
            *node = value;
            return node;
        }
        return std::make_unique<T>(value).release();
    }
    void drop(T* node) noexcept {
        if (recycled) {
            node->next = std::exchange(free_, node);
        } else {
            std::default_delete<T>{}(node);
        }
    }

  private:
    T* free_ = nullptr;
};

struct Answer {
    Cost cost = none;
    std::uint64_t links = 0;
    bool operator==(const Answer&) const = default;
};

template <bool recycled>
class Search {
  public:
    explicit Search(const Settings& settings)
        : frames_(settings.frames), speech_{settings.states}, live_(settings.states) {}

    Answer run() {
        live_[0] = list_ = tokens_.make({nullptr, nullptr, nullptr, 0, 0, 1});
        for (std::size_t frame = 0; frame != frames_; ++frame) step(frame);
        Answer answer{.links = links_made_};
        for (const Token* token = list_; token != nullptr; token = token->next) {
            answer.cost = std::min(answer.cost, token->cost);
        }
        while (list_ != nullptr) release(std::exchange(list_, list_->next));
        return answer;
    }

  private:
    void step(std::size_t frame) {
        Cost best = none;
        for (const Token* token = list_; token != nullptr; token = token->next) {
            best = std::min(best, token->cost);
            live_[token->state] = nullptr;
        }
        Token* old = std::exchange(list_, nullptr);
        while (old != nullptr) {
            if (old->cost <= best + beam) expand(frame, *old);
            release(std::exchange(old, old->next));
        }
    }

    void expand(std::size_t frame, Token& from) {
        for (std::size_t arc = 0; arc != arcs; ++arc) {
            const std::size_t target = speech_.target(from.state, arc);
            const Cost cost = from.cost + speech_.cost(frame, from.state, arc);
            Token*& token = live_[target];
            if (token == nullptr) {
                token = tokens_.make(
                    {list_, nullptr, nullptr, none, static_cast<std::uint32_t>(target), 1});
                list_ = token;
            }
            token->links = links_.make({token->links, &from, cost});
            ++from.references;
            ++links_made_;
            if (cost < token->cost) {
                token->cost = cost;
                token->before = &from;
            }
        }
    }

    /// One reference less; without any it goes, and what it refers to may go too. In a loop: a path
    /// is as long as the speech.
    void release(Token* token) {
        leaving_.push_back(token);
        while (!leaving_.empty()) {
            Token* const one = leaving_.back();
            leaving_.pop_back();
            if (--one->references != 0) continue;
            while (one->links != nullptr) {
                Link* const link = std::exchange(one->links, one->links->next);
                leaving_.push_back(link->from);
                links_.drop(link);
            }
            tokens_.drop(one);
        }
    }

    std::size_t frames_;
    Speech speech_;
    Nodes<Token, recycled> tokens_;
    Nodes<Link, recycled> links_;
    std::vector<Token*> live_;
    std::vector<Token*> leaving_;
    Token* list_ = nullptr;
    std::uint64_t links_made_ = 0;
};

/// The same search with a cost for each state and nothing else.
Answer expected_of(const Settings& settings) {
    const Speech speech{settings.states};
    Answer answer;
    std::vector<Cost> costs(settings.states, none);
    costs[0] = 0;
    for (std::size_t frame = 0; frame != settings.frames; ++frame) {
        const Cost best = *std::min_element(costs.begin(), costs.end());
        std::vector<Cost> next(settings.states, none);
        for (std::size_t state = 0; state != settings.states; ++state) {
            if (costs[state] == none || costs[state] > best + beam) continue;
            for (std::size_t arc = 0; arc != arcs; ++arc) {
                Cost& at = next[speech.target(state, arc)];
                at = std::min(at, costs[state] + speech.cost(frame, state, arc));
                ++answer.links;
            }
        }
        costs = std::move(next);
    }
    answer.cost = *std::min_element(costs.begin(), costs.end());
    return answer;
}

std::size_t resident_bytes_max() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) << 10;
}

void measure(const Settings& settings) {
    std::vector<double> seconds;
    std::vector<Answer> answers;
    for (std::size_t i = 0; i != settings.repeat; ++i) {
        const double begin = thread_seconds();
        answers.push_back(settings.nodes == "recycled" ? Search<true>(settings).run()
                                                       : Search<false>(settings).run());
        seconds.push_back(thread_seconds() - begin);
    }
    const std::size_t resident_bytes = resident_bytes_max();
    const Answer expected = expected_of(settings);
    for (const Answer& answer : answers) {
        if (answer == expected) continue;
        throw std::runtime_error(fmt::format("wrong answer: cost {} over {} links, not {} over {}",
                                             answer.cost, answer.links, expected.cost,
                                             expected.links));
    }
    fmt::print(
        "{{\"nodes\": \"{}\", \"malloc_of\": \"{}\", \"links\": {}, \"resident_bytes\": {}, "
        "\"seconds\": [{:.6f}]}}\n",
        settings.nodes, library_of(std::malloc), expected.links, resident_bytes,
        fmt::join(seconds, ", "));
}

}  // namespace

int main(int argc, char** argv) try {
    Settings settings;
    CommandLine({{"--frames", number_into(settings.frames)},
                 {"--states", number_into(settings.states)},
                 {"--nodes", text_into(settings.nodes)},
                 {"--library", text_into(settings.library)},
                 {"--repeat", number_into(settings.repeat)}})
        .read(argc, argv);
    if (settings.nodes != "allocated" && settings.nodes != "recycled") {
        throw std::invalid_argument("nodes are allocated or recycled, not " + settings.nodes);
    }
    if (settings.frames == 0 || settings.states == 0 || settings.repeat == 0) {
        throw std::invalid_argument("frames, states and repetitions are at least one");
    }
    check_library(settings.library);
    measure(settings);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "strid: error: {}\n", error.what());
    return 1;
}
