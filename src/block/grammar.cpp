// SPDX-License-Identifier: Apache-2.0
//
// Recognisers by recursive descent over the term, one function for each production.
#include <algorithm>

#include <strid/engine/block/grammar.hpp>

namespace strid::block {

namespace {

// [Phi]^n: a pipe, or a container of identical pipes.
bool is_replicated_pipe(const ParallelBlock& block) {
    const std::vector<ParallelBlock> parts = block.elements();
    return std::all_of(parts.begin(), parts.end(), [&](const ParallelBlock& part) {
        return part.kind() == ParallelBlock::Kind::pipe && part == parts.front();
    });
}

bool all_multipipes(const ParallelBlock& side) {
    const std::vector<ParallelBlock> parts = branches_of(side);
    return std::all_of(parts.begin(), parts.end(), is_multipipe);
}

// Gr ::= M | A2A([G_i], M)
bool is_right_closed(const ParallelBlock& block) {
    if (is_matryoshka(block)) return true;
    return block.kind() == ParallelBlock::Kind::all_to_all && all_multipipes(block.left()) &&
           is_matryoshka(block.right());
}

const Function* last_logic(const ParallelBlock& seed) {
    const ParallelBlock first = seed.elements().front();
    const SequentialBlock* node = &first.nodes().back();
    if (node->kind() == SequentialBlock::Kind::comb) node = &node->rest().front();
    if (node->kind() != SequentialBlock::Kind::seq) return nullptr;
    // The node outlives this call: it is held by the seed's shared tree.
    const Function& function = node->function();
    return function.role == Function::Role::logic ? &function : nullptr;
}

}  // namespace

std::vector<ParallelBlock> branches_of(const ParallelBlock& side) {
    if (is_matryoshka(side)) return {side};
    return side.elements();
}

bool is_matryoshka(const ParallelBlock& block) {
    if (block.kind() != ParallelBlock::Kind::all_to_all) return is_replicated_pipe(block);
    return is_replicated_pipe(block.left()) && is_matryoshka(block.right());
}

bool is_left_closed(const ParallelBlock& block) {
    if (is_matryoshka(block)) return true;
    return block.kind() == ParallelBlock::Kind::all_to_all && is_matryoshka(block.left()) &&
           all_multipipes(block.right());
}

bool is_multipipe(const ParallelBlock& block) {
    if (is_matryoshka(block)) return true;
    if (block.kind() != ParallelBlock::Kind::all_to_all) return false;
    return (all_multipipes(block.left()) && is_left_closed(block.right())) ||
           (is_right_closed(block.left()) && all_multipipes(block.right()));
}

std::optional<Matryoshka> Matryoshka::view(const ParallelBlock& block) {
    if (!is_matryoshka(block)) return std::nullopt;
    return Matryoshka(block);
}

std::vector<ParallelBlock> Matryoshka::levels() const {
    std::vector<ParallelBlock> found;
    ParallelBlock rest = block_;
    while (rest.kind() == ParallelBlock::Kind::all_to_all) {
        found.push_back(rest.left());
        rest = ParallelBlock(rest.right());
    }
    found.push_back(rest);
    return found;
}

std::size_t Matryoshka::out_card() const {
    return seed().elements().size();
}

std::optional<OperatorKind> Matryoshka::last_operator() const {
    const ParallelBlock inner = seed();
    const Function* function = last_logic(inner);
    if (function == nullptr) return std::nullopt;
    return function->kind;
}

std::string Matryoshka::last_operator_name() const {
    const ParallelBlock inner = seed();
    const Function* function = last_logic(inner);
    return function == nullptr ? std::string() : function->operator_name;
}

bool Matryoshka::closed() const {
    return last_operator() == OperatorKind::sink;
}

std::optional<MultiPipe> MultiPipe::view(const ParallelBlock& block) {
    if (!is_multipipe(block)) return std::nullopt;
    return MultiPipe(block);
}

std::vector<ParallelBlock> MultiPipe::rightmost() const {
    std::vector<ParallelBlock> found;
    std::vector<ParallelBlock> pending{block_};
    while (!pending.empty()) {
        const ParallelBlock next = pending.back();
        pending.pop_back();
        if (is_matryoshka(next)) {
            found.push_back(next);
            continue;
        }
        std::vector<ParallelBlock> inner = branches_of(next.right());
        pending.insert(pending.end(), inner.rbegin(), inner.rend());
    }
    return found;
}

bool MultiPipe::no_sink() const {
    const std::vector<ParallelBlock> ends = rightmost();
    return std::none_of(ends.begin(), ends.end(),
                        [](const ParallelBlock& end) { return Matryoshka::view(end)->closed(); });
}

std::optional<ParallelBlock> MultiPipe::rightmost_named(std::string_view operator_name) const {
    for (const ParallelBlock& end : rightmost()) {
        if (Matryoshka::view(end)->last_operator_name() == operator_name) return end;
    }
    return std::nullopt;
}

}  // namespace strid::block
