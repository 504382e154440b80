// SPDX-License-Identifier: Apache-2.0
#include "learning.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/random.hpp>
#include <strid/engine/base/excerpt.hpp>

namespace strid::tree {

namespace {

double accuracy(const ConfusionMatrix& matrix) {
    return static_cast<double>(matrix.correct()) / static_cast<double>(matrix.cases());
}

}  // namespace

std::string learned_text(const Model& model, const Table& table) {
    std::string left_out;
    if (table.rows_without_class != 0) {
        left_out = fmt::format(", {} without a class left out", table.rows_without_class);
    }
    if (table.rows_without_weight != 0) {
        left_out += fmt::format(", {} of weight 0 left out", table.rows_without_weight);
    }
    return fmt::format("Decision tree for {} ({} rows{}, {} attributes, {} classes):\n\n{}\n{}",
                       excerpt(model.schema.target, 200), table.rows(), left_out,
                       model.schema.attributes.size(), model.schema.classes.size(),
                       tree_text(model), tree_summary(model));
}

std::vector<std::vector<std::uint32_t>> stratified_folds(const Table& table, std::size_t folds,
                                                         std::uint64_t seed) {
    if (folds > table.rows()) {
        throw InputOutputError(
            fmt::format("--cross-validate {}: the table has only {} rows", folds, table.rows()));
    }
    std::vector<std::vector<std::uint32_t>> by_class(table.schema.classes.size());
    for (std::size_t row = 0; row < table.rows(); ++row) {
        by_class[table.classes[row]].push_back(static_cast<std::uint32_t>(row));
    }
    std::vector<std::vector<std::uint32_t>> parts(folds);
    std::size_t next = 0;
    for (std::size_t kind = 0; kind < by_class.size(); ++kind) {
        auto& rows = by_class[kind];
        Random random(seed, kind);
        for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
        for (const std::uint32_t row : rows) parts[next++ % folds].push_back(row);
    }
    for (auto& part : parts) std::sort(part.begin(), part.end());
    return parts;
}

std::string cross_validation_text(const Table& table, const std::vector<FoldResult>& folds) {
    ConfusionMatrix all(table.schema.classes.size());
    double sum = 0;
    double nodes = 0;
    std::string text = fmt::format("\nCross validation, {} stratified folds:\n\n", folds.size());
    text += "  fold     rows    nodes  correct  accuracy\n";
    for (std::size_t i = 0; i < folds.size(); ++i) {
        const ConfusionMatrix& matrix = folds[i].confusion;
        all.add(matrix);
        sum += accuracy(matrix);
        nodes += static_cast<double>(folds[i].nodes);
        text += fmt::format("{:>6} {:>8} {:>8} {:>8} {:>8.2f}%\n", i + 1, matrix.cases(),
                            folds[i].nodes, matrix.correct(), 100 * accuracy(matrix));
    }
    const auto count = static_cast<double>(folds.size());
    const double mean = sum / count;
    double squares = 0;
    for (const FoldResult& fold : folds) squares += std::pow(accuracy(fold.confusion) - mean, 2);
    text += fmt::format(
        "\naccuracy {:.2f}%, standard deviation {:.2f}%; {:.1f} nodes on average\n\n{}", 100 * mean,
        100 * std::sqrt(squares / (count - 1)), nodes / count, all.text(table.schema.classes));
    return text;
}

}  // namespace strid::tree
