// SPDX-License-Identifier: Apache-2.0
//
// One node type serves the three productions: a Seq has a function and no parts, a Comb one part
// after its first, a fan-out two or more.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/block/sequential_block.hpp>

#include "joined_terms.hpp"

namespace strid::block {

struct SequentialBlock::Node {
    Kind kind = Kind::seq;
    Function function;
    std::optional<SequentialBlock> first;
    std::vector<SequentialBlock> rest;
};

SequentialBlock seq(Function function) {
    auto node = std::make_shared<SequentialBlock::Node>();
    node->kind = SequentialBlock::Kind::seq;
    node->function = std::move(function);
    return SequentialBlock(std::move(node));
}

SequentialBlock comb(SequentialBlock first, SequentialBlock second) {
    auto node = std::make_shared<SequentialBlock::Node>();
    node->kind = SequentialBlock::Kind::comb;
    node->first = std::move(first);
    node->rest.push_back(std::move(second));
    return SequentialBlock(std::move(node));
}

SequentialBlock fan_out(SequentialBlock head, std::vector<SequentialBlock> branches) {
    if (branches.size() < 2) throw GraphError("a fan-out combiner needs at least two branches");
    auto node = std::make_shared<SequentialBlock::Node>();
    node->kind = SequentialBlock::Kind::fan_out;
    node->first = std::move(head);
    node->rest = std::move(branches);
    return SequentialBlock(std::move(node));
}

SequentialBlock::Kind SequentialBlock::kind() const noexcept {
    return node_->kind;
}

const Function& SequentialBlock::function() const {
    STRID_ASSERT(node_->kind == Kind::seq);
    return node_->function;
}

const SequentialBlock& SequentialBlock::first() const {
    STRID_ASSERT(node_->first.has_value());
    return *node_->first;
}

const std::vector<SequentialBlock>& SequentialBlock::rest() const {
    return node_->rest;
}

std::vector<Function> SequentialBlock::functions() const {
    if (kind() == Kind::seq) return {function()};
    std::vector<Function> all = first().functions();
    for (const SequentialBlock& part : rest()) {
        for (Function& inner : part.functions()) all.push_back(std::move(inner));
    }
    return all;
}

bool operator==(const SequentialBlock& left, const SequentialBlock& right) {
    if (left.node_ == right.node_) return true;
    const SequentialBlock::Node& a = *left.node_;
    const SequentialBlock::Node& b = *right.node_;
    return a.kind == b.kind && a.function == b.function && a.first == b.first && a.rest == b.rest;
}

std::string to_string(const SequentialBlock& block, Notation notation) {
    if (block.kind() == SequentialBlock::Kind::seq) {
        return fmt::format("Seq({})", to_string(block.function()));
    }
    const std::string first = to_string(block.first(), notation);
    std::vector<std::string> rest;
    for (const SequentialBlock& part : block.rest()) rest.push_back(to_string(part, notation));
    if (block.kind() == SequentialBlock::Kind::comb) {
        return fmt::format("Comb({}, {})", first, rest.front());
    }
    return fmt::format("Comb{}({}, {{{}}})", notation == Notation::unicode ? "◂" : "<", first,
                       detail::join(rest, ", "));
}

}  // namespace strid::block
