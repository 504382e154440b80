// SPDX-License-Identifier: Apache-2.0
//
// Figure 5's two functions are one recursion to the rightmost pipes; they differ in the last step.
#include <utility>

#include <strid/engine/block/grammar.hpp>
#include <strid/engine/block/utility.hpp>

namespace strid::block {

namespace {

enum class Addition : std::uint8_t { combined, piped };

ParallelBlock extend_last(const ParallelBlock& block, const SequentialBlock& addition,
                          Addition how) {
    switch (block.kind()) {
        case ParallelBlock::Kind::pipe: {
            std::vector<SequentialBlock> nodes = block.nodes();
            if (how == Addition::combined) {
                nodes.back() = comb(nodes.back(), addition);
            } else {
                nodes.push_back(addition);
            }
            return pipe(std::move(nodes));
        }
        case ParallelBlock::Kind::container: {
            const std::vector<ParallelBlock> before = block.elements();
            std::vector<ParallelBlock> after;
            after.reserve(before.size());
            for (std::size_t index = 0; index < before.size(); ++index) {
                // Replicas are one shared tree before; they stay one after.
                const bool repeats = index > 0 && before[index] == before[index - 1];
                after.push_back(repeats ? after.back() : extend_last(before[index], addition, how));
            }
            return container(std::move(after));
        }
        case ParallelBlock::Kind::all_to_all:
            return all_to_all(block.left(), extend_last(block.right(), addition, how));
    }
    return block;
}

ParallelBlock with_seed(const ParallelBlock& matryoshka, const ParallelBlock& seed) {
    if (matryoshka.kind() != ParallelBlock::Kind::all_to_all) return all_to_all(matryoshka, seed);
    return all_to_all(matryoshka.left(), with_seed(matryoshka.right(), seed));
}

}  // namespace

ParallelBlock combine_with_last(const ParallelBlock& block, const SequentialBlock& addition) {
    return extend_last(block, addition, Addition::combined);
}

ParallelBlock pipe_with_last(const ParallelBlock& block, const SequentialBlock& addition) {
    return extend_last(block, addition, Addition::piped);
}

std::optional<std::size_t> out_card(const ParallelBlock& matryoshka) {
    const std::optional<Matryoshka> view = Matryoshka::view(matryoshka);
    if (!view) return std::nullopt;
    return view->out_card();
}

std::optional<ParallelBlock> replace_seed(const ParallelBlock& matryoshka,
                                          const ParallelBlock& seed) {
    if (!is_matryoshka(matryoshka)) return std::nullopt;
    if (!is_matryoshka(seed) || seed.kind() == ParallelBlock::Kind::all_to_all) return std::nullopt;
    return with_seed(matryoshka, seed);
}

std::optional<OperatorKind> last_operator(const ParallelBlock& matryoshka) {
    const std::optional<Matryoshka> view = Matryoshka::view(matryoshka);
    return view ? view->last_operator() : std::nullopt;
}

}  // namespace strid::block
