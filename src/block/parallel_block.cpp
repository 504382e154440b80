// SPDX-License-Identifier: Apache-2.0
//
// The tree, its printing and its counting. A node holds either sequential nodes (Pipe) or parts:
// two for an A2A, more than one for a container.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/block/parallel_block.hpp>

#include "joined_terms.hpp"

namespace strid::block {

struct ParallelBlock::Node {
    Kind kind;
    std::vector<SequentialBlock> nodes;
    std::vector<ParallelBlock> parts;
};

ParallelBlock pipe(std::vector<SequentialBlock> nodes) {
    if (nodes.empty()) throw GraphError("a pipe needs at least one node");
    return ParallelBlock(std::make_shared<const ParallelBlock::Node>(
        ParallelBlock::Node{ParallelBlock::Kind::pipe, std::move(nodes), {}}));
}

ParallelBlock container(std::vector<ParallelBlock> parts) {
    if (parts.empty()) throw GraphError("a container needs at least one block");
    if (parts.size() == 1) return std::move(parts.front());
    return ParallelBlock(std::make_shared<const ParallelBlock::Node>(
        ParallelBlock::Node{ParallelBlock::Kind::container, {}, std::move(parts)}));
}

ParallelBlock replicate(const ParallelBlock& block, std::size_t copies) {
    return container(std::vector<ParallelBlock>(copies, block));
}

ParallelBlock all_to_all(ParallelBlock left, ParallelBlock right) {
    return ParallelBlock(std::make_shared<const ParallelBlock::Node>(ParallelBlock::Node{
        ParallelBlock::Kind::all_to_all, {}, {std::move(left), std::move(right)}}));
}

ParallelBlock::Kind ParallelBlock::kind() const noexcept {
    return node_->kind;
}

const std::vector<SequentialBlock>& ParallelBlock::nodes() const {
    STRID_ASSERT(node_->kind == Kind::pipe);
    return node_->nodes;
}

const ParallelBlock& ParallelBlock::left() const {
    STRID_ASSERT(node_->kind == Kind::all_to_all);
    return node_->parts[0];
}

const ParallelBlock& ParallelBlock::right() const {
    STRID_ASSERT(node_->kind == Kind::all_to_all);
    return node_->parts[1];
}

std::vector<ParallelBlock> ParallelBlock::elements() const {
    if (kind() == Kind::container) return node_->parts;
    return {*this};
}

bool operator==(const ParallelBlock& left, const ParallelBlock& right) {
    if (left.node_ == right.node_) return true;
    const ParallelBlock::Node& a = *left.node_;
    const ParallelBlock::Node& b = *right.node_;
    return a.kind == b.kind && a.nodes == b.nodes && a.parts == b.parts;
}

namespace {

bool all_equal(const std::vector<ParallelBlock>& parts) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const ParallelBlock& part) { return part == parts.front(); });
}

template <class Block>
std::string joined(const std::vector<Block>& blocks, Notation notation,
                   std::string_view separator) {
    std::vector<std::string> texts;
    for (const Block& block : blocks) texts.push_back(to_string(block, notation));
    return detail::join(texts, separator);
}

std::string container_to_string(const std::vector<ParallelBlock>& parts, Notation notation) {
    if (!all_equal(parts)) return fmt::format("[{}]", joined(parts, notation, ", "));
    return fmt::format("[{}]^{}", to_string(parts.front(), notation), parts.size());
}

void collect_names(const ParallelBlock& block, std::vector<std::string>& names) {
    switch (block.kind()) {
        case ParallelBlock::Kind::pipe:
            for (const SequentialBlock& node : block.nodes()) {
                for (Function& function : node.functions()) {
                    if (function.role != Function::Role::logic) continue;
                    if (std::find(names.begin(), names.end(), function.operator_name) ==
                        names.end()) {
                        names.push_back(std::move(function.operator_name));
                    }
                }
            }
            return;
        case ParallelBlock::Kind::container:
            for (const ParallelBlock& part : block.elements()) collect_names(part, names);
            return;
        case ParallelBlock::Kind::all_to_all:
            collect_names(block.left(), names);
            collect_names(block.right(), names);
            return;
    }
}

void count_sequential(const SequentialBlock& block, BlockCounts& totals) {
    if (block.kind() == SequentialBlock::Kind::seq) {
        ++totals.seqs;
        return;
    }
    ++totals.combiners;
    count_sequential(block.first(), totals);
    for (const SequentialBlock& part : block.rest()) count_sequential(part, totals);
}

std::string plural(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string to_string(const ParallelBlock& block, Notation notation) {
    switch (block.kind()) {
        case ParallelBlock::Kind::pipe:
            return fmt::format("Pipe({})", joined(block.nodes(), notation,
                                                  notation == Notation::unicode ? " • " : " * "));
        case ParallelBlock::Kind::container:
            return container_to_string(block.elements(), notation);
        case ParallelBlock::Kind::all_to_all:
            return fmt::format("A2A({}, {})", to_string(block.left(), notation),
                               to_string(block.right(), notation));
    }
    return {};
}

std::vector<std::string> operator_names(const ParallelBlock& block) {
    std::vector<std::string> names;
    collect_names(block, names);
    return names;
}

BlockCounts& BlockCounts::operator+=(const BlockCounts& other) noexcept {
    seqs += other.seqs;
    combiners += other.combiners;
    pipes += other.pipes;
    containers += other.containers;
    all_to_alls += other.all_to_alls;
    return *this;
}

BlockCounts counts(const ParallelBlock& block) {
    BlockCounts totals;
    switch (block.kind()) {
        case ParallelBlock::Kind::pipe:
            totals.pipes = 1;
            for (const SequentialBlock& node : block.nodes()) count_sequential(node, totals);
            break;
        case ParallelBlock::Kind::container:
            totals.containers = 1;
            for (const ParallelBlock& part : block.elements()) totals += counts(part);
            break;
        case ParallelBlock::Kind::all_to_all:
            totals.all_to_alls = 1;
            for (const ParallelBlock* side : {&block.left(), &block.right()}) {
                totals += counts(*side);
                if (side->kind() != ParallelBlock::Kind::container) ++totals.containers;
            }
            break;
    }
    return totals;
}

std::string to_string(const BlockCounts& counts) {
    return fmt::format("{}, {}, {}, {}, {}", plural(counts.seqs, "Seq"),
                       plural(counts.combiners, "Combiner"), plural(counts.pipes, "Pipe"),
                       plural(counts.containers, "Container"),
                       plural(counts.all_to_alls, "All-to-All"));
}

}  // namespace strid::block
