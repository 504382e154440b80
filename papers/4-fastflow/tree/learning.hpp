// SPDX-License-Identifier: Apache-2.0
//
// The parts of `strid tree learn` that no thread is needed for. Plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "classification.hpp"
#include "model.hpp"
#include "table_parser.hpp"
#include "training.hpp"

namespace strid::tree {

struct LearningOptions {
    ReadingOptions reading = {};
    GrowthOptions growth = {};
    bool prunes = true;
    double confidence = 0.25;
};

/// The summary of a learned tree.
[[nodiscard]] std::string learned_text(const Model& model, const Table& table);

/// Rows in `folds` parts that have the classes of the whole, by a shuffle that `seed` settles;
/// each in ascending order. Throws InputOutputError for more folds than rows.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> stratified_folds(const Table& table,
                                                                       std::size_t folds,
                                                                       std::uint64_t seed);

/// The result of one fold: the rows left out, predicted by a tree of the others.
struct FoldResult {
    std::size_t nodes;
    ConfusionMatrix confusion;
};
[[nodiscard]] std::string cross_validation_text(const Table& table,
                                                const std::vector<FoldResult>& folds);

}  // namespace strid::tree
