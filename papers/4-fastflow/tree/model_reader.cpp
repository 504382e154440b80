// SPDX-License-Identifier: Apache-2.0
//
// simdjson's document reader checks all of the text but does not say where it stopped; for that a
// text which is refused is walked once more by its on-demand reader.
#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <simdjson.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/excerpt.hpp>

#include "model.hpp"

namespace strid::tree {

namespace {

namespace dom = simdjson::dom;
namespace ondemand = simdjson::ondemand;

class ModelReader {
  public:
    explicit ModelReader(const std::string& name) : name_(name) {}

    Model read(dom::element root) {
        if (text(root, "format", "the model") != "strid tree") {
            fail("\"format\" is not \"strid tree\"");
        }
        if (number(root, "version", "the model") != 1) fail("\"version\" is not 1");
        schema_.target = text(root, "target", "the model");
        schema_.classes = texts(root, "classes", "the model");
        if (schema_.classes.size() < 2 || schema_.classes.size() > classes_max) {
            fail("\"classes\" are not 2 or more");
        }
        for (const dom::element attribute : list(root, "attributes", "the model")) {
            const std::string place = fmt::format("attributes[{}]", schema_.attributes.size());
            Attribute read{text(attribute, "name", place), true, {}};
            dom::element values;
            read.is_numeric = attribute["values"].get(values) != simdjson::SUCCESS;
            if (!read.is_numeric) read.values = texts(attribute, "values", place);
            schema_.attributes.push_back(std::move(read));
        }
        const dom::array nodes = list(root, "nodes", "the model");
        // size() stops counting at 2^24.
        count_ = static_cast<std::size_t>(std::distance(nodes.begin(), nodes.end()));
        if (count_ == 0) fail("\"nodes\" are none");
        std::vector<bool> is_branch(count_, false);
        Tree tree;
        for (const dom::element node : nodes) {
            tree.nodes.push_back(read_node(node, tree.nodes.size(), is_branch));
        }
        const auto lonely = std::find(is_branch.begin() + 1, is_branch.end(), false);
        if (lonely != is_branch.end()) {
            fail(fmt::format("nodes[{}] is no branch of a node", lonely - is_branch.begin()));
        }
        return {std::move(schema_), std::move(tree)};
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw InputOutputError(
            fmt::format("{}: not a model of strid tree: {}", excerpt(name_, 4096), what));
    }

    template <class T>
    T get(dom::element from, const char* member, const std::string& place, const char* kind) const {
        T value{};
        dom::element element;
        if (from[member].get(element) != simdjson::SUCCESS) {
            fail(fmt::format("{} has no \"{}\"", place, member));
        }
        if (element.get(value) != simdjson::SUCCESS) {
            fail(fmt::format("\"{}\" of {} is not {}", member, place, kind));
        }
        return value;
    }
    std::string text(dom::element from, const char* member, const std::string& place) const {
        return std::string(get<std::string_view>(from, member, place, "a string"));
    }
    double number(dom::element from, const char* member, const std::string& place) const {
        return get<double>(from, member, place, "a number");
    }
    dom::array list(dom::element from, const char* member, const std::string& place) const {
        return get<dom::array>(from, member, place, "an array");
    }
    std::vector<std::string> texts(dom::element from, const char* member,
                                   const std::string& place) const {
        std::vector<std::string> read;
        for (const dom::element element : list(from, member, place)) {
            std::string_view value;
            if (element.get(value) != simdjson::SUCCESS) {
                fail(fmt::format("\"{}\" of {} holds a value that is not a string", member, place));
            }
            read.emplace_back(value);
        }
        return read;
    }

    TreeNode read_node(dom::element from, std::size_t index, std::vector<bool>& is_branch) const {
        const std::string place = fmt::format("nodes[{}]", index);
        TreeNode node;
        for (const dom::element element : list(from, "counts", place)) {
            double count = 0;
            if (element.get(count) != simdjson::SUCCESS || !(count >= 0)) {
                fail(fmt::format("\"counts\" of {} holds a value that is not a weight", place));
            }
            node.counts.push_back(count);
            node.cases += count;
        }
        if (node.counts.size() != schema_.classes.size()) {
            fail(fmt::format("\"counts\" of {} are {} for {} classes", place, node.counts.size(),
                             schema_.classes.size()));
        }
        if (!(node.cases > 0)) fail(fmt::format("{} has no training cases", place));
        node.majority = majority_of(node.counts);
        dom::element attribute;
        if (from["attribute"].get(attribute) != simdjson::SUCCESS) return node;
        std::uint64_t number_of_attribute = 0;
        if (attribute.get(number_of_attribute) != simdjson::SUCCESS ||
            number_of_attribute >= schema_.attributes.size()) {
            fail(fmt::format("\"attribute\" of {} is not one of the {} attributes", place,
                             schema_.attributes.size()));
        }
        node.attribute = static_cast<std::uint32_t>(number_of_attribute);
        const Attribute& tested = schema_.attributes[node.attribute];
        if (tested.is_numeric) node.threshold = number(from, "threshold", place);
        const std::size_t values = tested.is_numeric ? 2 : tested.values.size();
        for (const dom::element branch : list(from, "branches", place)) {
            node.branches.push_back(read_branch(branch, place, index, values));
            const Branch& added = node.branches.back();
            if (node.branches.size() > 1 &&
                added.value <= node.branches[node.branches.size() - 2].value) {
                fail(fmt::format("the branches of {} are not in order", place));
            }
            if (is_branch[added.node]) {
                fail(fmt::format("nodes[{}] is a branch of two nodes", added.node));
            }
            is_branch[added.node] = true;
        }
        if (node.branches.size() < 2) fail(fmt::format("{} has fewer than 2 branches", place));
        return node;
    }

    Branch read_branch(dom::element from, const std::string& place, std::size_t index,
                       std::size_t values) const {
        dom::array pair;
        std::uint64_t value = 0;
        std::uint64_t node = 0;
        if (from.get(pair) != simdjson::SUCCESS || pair.size() != 2 ||
            pair.at(0).get(value) != simdjson::SUCCESS ||
            pair.at(1).get(node) != simdjson::SUCCESS) {
            fail(fmt::format("a branch of {} is not [value, node]", place));
        }
        if (value >= values) {
            fail(fmt::format("a branch of {} is for value {} of {}", place, value, values));
        }
        if (node <= index || node >= count_) {
            fail(fmt::format("a branch of {} leads to nodes[{}], of {}", place, node, count_));
        }
        return {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(node)};
    }

    const std::string& name_;
    Schema schema_;
    std::size_t count_ = 0;
};

simdjson::error_code walk(ondemand::value value, std::size_t depth = 0) {
    if (depth == simdjson::DEFAULT_MAX_DEPTH) return simdjson::DEPTH_ERROR;
    ondemand::json_type type{};
    if (const auto error = value.type().get(type)) return error;
    if (type == ondemand::json_type::array) {
        ondemand::array items;
        if (const auto error = value.get_array().get(items)) return error;
        for (auto item : items) {
            ondemand::value below;
            if (const auto error = item.get(below)) return error;
            if (const auto error = walk(below, depth + 1)) return error;
        }
    } else if (type == ondemand::json_type::object) {
        ondemand::object members;
        if (const auto error = value.get_object().get(members)) return error;
        for (auto member : members) {
            if (member.error()) return member.error();
            std::string_view key;
            if (const auto error = member.unescaped_key().get(key)) return error;
            ondemand::value below;
            if (const auto error = member.value().get(below)) return error;
            if (const auto error = walk(below, depth + 1)) return error;
        }
    } else if (type == ondemand::json_type::string) {
        return value.get_string().error();
    } else if (type == ondemand::json_type::number) {
        return value.get_double().error();
    }
    return simdjson::SUCCESS;
}

/// The line where the text stops being JSON; the last where that is not known.
std::size_t line_of_fault(const simdjson::padded_string& json) {
    const std::string_view text(json.data(), json.size());
    std::size_t offset = text.size();
    ondemand::parser parser;
    ondemand::document document;
    ondemand::value root;
    if (parser.iterate(json).get(document) == simdjson::SUCCESS &&
        document.get_value().get(root) == simdjson::SUCCESS && walk(root) != simdjson::SUCCESS) {
        const char* at = nullptr;
        if (document.current_location().get(at) == simdjson::SUCCESS && at >= text.data()) {
            offset = std::min(static_cast<std::size_t>(at - text.data()), text.size());
        }
    }
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto lines = std::count(text.begin(), end, '\n');
    return static_cast<std::size_t>(lines) +
           (text.ends_with('\n') && offset == text.size() ? 0 : 1);
}

}  // namespace

Model read_model(std::string_view json, const std::string& name) {
    const simdjson::padded_string padded(json);
    dom::parser parser;
    dom::element root;
    const auto error = parser.parse(padded).get(root);
    if (error == simdjson::EMPTY) {
        throw InputOutputError(fmt::format("{}: the model is empty", excerpt(name, 4096)));
    }
    if (error != simdjson::SUCCESS) {
        throw InputOutputError(fmt::format("{}:{}: not JSON, or cut off: {}", excerpt(name, 4096),
                                           line_of_fault(padded), simdjson::error_message(error)));
    }
    return ModelReader(name).read(root);
}

}  // namespace strid::tree
