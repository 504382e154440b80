// SPDX-License-Identifier: Apache-2.0
#include "predictor.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_value.hpp>
#include <strid/engine/base/excerpt.hpp>
#include <strid/program/arguments.hpp>

namespace strid::tree {

Predictor::Predictor(const Model& model, const CsvBlocks& input, const PredictionOptions& options)
    : model_(model),
      options_(options),
      name_(input.name()),
      input_header_(input.header()),
      fields_(input.names().size()),
      delimiter_(input.delimiter()) {
    find_columns(input);
    if (options_.writes_rows && !options_.only_predictions) {
        for (const std::string& added : added_columns()) {
            if (!input.place_of(added)) continue;
            throw InputOutputError(
                fmt::format("{}: there is a column '{}' already (--only-predictions leaves the "
                            "columns of the input out)",
                            excerpt(name_, 4096), excerpt(added)));
        }
    }
}

std::size_t Predictor::find(const CsvBlocks& input, const std::string& wanted,
                            const char* what) const {
    if (const auto place = input.place_of(wanted)) return *place;
    throw InputOutputError(fmt::format("{}: the model does not fit: no column '{}', {}{}",
                                       excerpt(name_, 4096), excerpt(wanted), what,
                                       suggestion(wanted, input.names())));
}

void Predictor::find_columns(const CsvBlocks& input) {
    const auto& attributes = model_.schema.attributes;
    std::vector<bool> is_tested(attributes.size(), false);
    for (const TreeNode& node : model_.tree.nodes) {
        if (!node.is_leaf()) is_tested[node.attribute] = true;
    }
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        if (!is_tested[i]) continue;
        Tested tested{static_cast<std::uint32_t>(i),
                      find(input, attributes[i].name, "which the tree tests"),
                      {}};
        for (const std::string& value : attributes[i].values) {
            tested.codes.emplace(value, static_cast<std::uint32_t>(tested.codes.size()));
        }
        tested_.push_back(std::move(tested));
    }
    if (!options_.compares) return;
    target_ = find(input, model_.schema.target, "the target of --accuracy");
    for (const std::string& name : model_.schema.classes) {
        classes_.emplace(name, static_cast<std::uint32_t>(classes_.size()));
    }
}

std::vector<std::string> Predictor::added_columns() const {
    std::vector<std::string> names{"prediction", "confidence"};
    if (options_.probabilities) {
        for (const std::string& name : model_.schema.classes) {
            names.push_back("probability_" + name);
        }
    }
    return names;
}

std::string Predictor::header() const {
    std::string text;
    if (!options_.only_predictions) {
        text = input_header_;
        text += delimiter_;
    }
    const std::vector<std::string> added = added_columns();
    for (const std::string& name : added) {
        append_csv_field(text, name, delimiter_);
        text += &name == &added.back() ? '\n' : delimiter_;
    }
    return text;
}

PredictedBlock Predictor::predict(const CsvBlock& block) const {
    PredictedBlock predicted;
    if (options_.compares) predicted.confusion.emplace(model_.schema.classes.size());
    try {
        predict_rows(block, predicted);
    } catch (const InputOutputError&) {
        predicted.failure = std::current_exception();
    }
    return predicted;
}

void Predictor::predict_rows(const CsvBlock& block, PredictedBlock& predicted) const {
    BlockRows rows(block, name_, delimiter_, fields_);
    Classifier classifier(model_.schema, model_.tree);
    Values values;
    values.numbers.resize(model_.schema.attributes.size());
    values.codes.resize(model_.schema.attributes.size());
    while (rows.next()) {
        read_values(rows, values);
        const Prediction answer =
            classifier.classify([&](std::uint32_t attribute) { return values.numbers[attribute]; },
                                [&](std::uint32_t attribute) { return values.codes[attribute]; });
        ++predicted.rows;
        if (options_.compares) compare(rows, answer.kind, predicted);
        if (!options_.writes_rows) continue;
        if (!options_.only_predictions) {
            predicted.text += rows.text();
            predicted.text += delimiter_;
        }
        append_csv_field(predicted.text, model_.schema.classes[answer.kind], delimiter_);
        const auto end = std::back_inserter(predicted.text);
        fmt::format_to(end, "{}{:.4f}", delimiter_, answer.confidence);
        if (options_.probabilities) {
            for (const double share : classifier.shares()) {
                fmt::format_to(end, "{}{:.4f}", delimiter_, share);
            }
        }
        predicted.text += '\n';
    }
}

void Predictor::read_values(BlockRows& rows, Values& values) const {
    for (const Tested& tested : tested_) {
        const std::string_view text = detail::trimmed(rows.field(tested.column));
        const Attribute& attribute = model_.schema.attributes[tested.attribute];
        if (!attribute.is_numeric) {
            const auto found = tested.codes.find(text);
            const bool is_known = found != tested.codes.end() && !options_.missing.contains(text);
            values.codes[tested.attribute] = is_known ? found->second : missing_code;
            continue;
        }
        double number = std::numeric_limits<double>::quiet_NaN();
        if (!options_.missing.contains(text)) {
            const auto fault = detail::read_floating(text, number, NonFinite::reject);
            if (fault != nullptr) {
                fail_at_line(name_, rows.line(),
                             fmt::format("column '{}': {}: \"{}\" (the model takes it as a number)",
                                         excerpt(attribute.name), fault, excerpt(text)));
            }
        }
        values.numbers[tested.attribute] = number;
    }
}

void Predictor::compare(BlockRows& rows, ClassCode kind, PredictedBlock& predicted) const {
    const std::string_view text = detail::trimmed(rows.field(target_));
    if (options_.missing.contains(text)) {
        ++predicted.without_class;
        return;
    }
    const auto found = classes_.find(text);
    if (found == classes_.end()) {
        ++predicted.other_classes;
    } else {
        predicted.confusion->add(static_cast<ClassCode>(found->second), kind);
    }
}

}  // namespace strid::tree
