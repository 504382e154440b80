// SPDX-License-Identifier: Apache-2.0
//
// A model applied to blocks of CSV: finds the columns that the tree tests, and makes a block of
// output of each block of input.
//
// Threads: predict() of one predictor may run in several at once.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "classification.hpp"
#include "csv_blocks.hpp"
#include "model.hpp"
#include "table_parser.hpp"

namespace strid::tree {

struct PredictionOptions {
    bool writes_rows = true;        ///< otherwise they are only counted
    bool only_predictions = false;  ///< without the columns of the input
    bool compares = false;          ///< with the classes in the column of the target
    bool probabilities = false;     ///< a column more for each class
    MissingWords missing = {};
};

/// The result of one block.
struct PredictedBlock {
    std::string text = {};  // rows of CSV
    std::uint64_t rows = 0;
    std::optional<ConfusionMatrix> confusion = {};
    std::uint64_t other_classes = 0;  // rows whose class the model does not know
    std::uint64_t without_class = 0;  // rows whose class is missing
    std::exception_ptr failure = {};  // of the first row that is malformed
};

class Predictor {
  public:
    /// Throws InputOutputError where the input lacks a column that the tree tests, or the target
    /// that is to be compared with.
    Predictor(const Model& model, const CsvBlocks& input, const PredictionOptions& options);

    /// The first row of the output.
    [[nodiscard]] std::string header() const;
    [[nodiscard]] PredictedBlock predict(const CsvBlock& block) const;

  private:
    using Codes = std::unordered_map<std::string_view, std::uint32_t>;

    /// An attribute that the tree tests.
    struct Tested {
        std::uint32_t attribute;
        std::size_t column;
        Codes codes;  // of a categorical one; keys stand in the schema
    };
    struct Values {
        std::vector<double> numbers;       // by attribute
        std::vector<std::uint32_t> codes;  // by attribute
    };

    void find_columns(const CsvBlocks& input);
    [[nodiscard]] std::size_t find(const CsvBlocks& input, const std::string& wanted,
                                   const char* what) const;
    [[nodiscard]] std::vector<std::string> added_columns() const;
    void predict_rows(const CsvBlock& block, PredictedBlock& predicted) const;
    void read_values(BlockRows& rows, Values& values) const;
    void compare(BlockRows& rows, ClassCode kind, PredictedBlock& predicted) const;

    const Model& model_;
    PredictionOptions options_;
    std::string name_;
    std::string input_header_;
    std::size_t fields_;
    char delimiter_;
    std::vector<Tested> tested_;
    std::size_t target_ = 0;
    Codes classes_;
};

}  // namespace strid::tree
