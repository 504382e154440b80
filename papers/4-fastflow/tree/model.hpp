// SPDX-License-Identifier: Apache-2.0
//
// A tree with the names of what it was learned from, as JSON and as text. Plain values and pure
// functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "table.hpp"
#include "tree.hpp"

namespace strid::tree {

struct Model {
    Schema schema = {};
    Tree tree = {};
};

/// As JSON, one node to a line. Throws InputOutputError where a name is not UTF-8.
[[nodiscard]] std::string model_json(const Model& model);
/// Reads what model_json() has written. `name` is that of the file, for messages. Throws
/// InputOutputError that says where the text is not such a model.
[[nodiscard]] Model read_model(std::string_view json, const std::string& name);

/// As a TreeModel of PMML 4.4 (dmg.org), which answers as predict does. Throws InputOutputError
/// where a name is not UTF-8 or has a character that XML does not allow.
[[nodiscard]] std::string model_pmml(const Model& model);

/// The tree as C4.5 prints it: a line for each branch; of a leaf its class, the weight of its
/// training cases and, where there are any, that of those of another class.
[[nodiscard]] std::string tree_text(const Model& model);
/// How large it is and how well it fits its training cases.
[[nodiscard]] std::string tree_summary(const Model& model);

}  // namespace strid::tree
