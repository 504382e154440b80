// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include <fmt/format.h>
#include <simdjson.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/excerpt.hpp>

#include "model.hpp"

namespace strid::tree {

namespace {

void append_string(std::string& out, const std::string& text) {
    if (!simdjson::validate_utf8(text)) {
        throw InputOutputError(
            fmt::format("'{}' is not UTF-8, as the model has to be", excerpt(text)));
    }
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
            out += c;
        }
    }
    out += '"';
}

void append_strings(std::string& out, const std::vector<std::string>& texts) {
    out += '[';
    for (const std::string& text : texts) {
        if (&text != &texts.front()) out += ", ";
        append_string(out, text);
    }
    out += ']';
}

void append_attribute(std::string& out, const Attribute& attribute) {
    out += "{\"name\": ";
    append_string(out, attribute.name);
    if (!attribute.is_numeric) {
        out += ", \"values\": ";
        append_strings(out, attribute.values);
    }
    out += '}';
}

void append_node(std::string& out, const Schema& schema, const TreeNode& node) {
    const auto end = std::back_inserter(out);
    fmt::format_to(end, "{{\"counts\": [{}]", fmt::join(node.counts, ", "));
    if (!node.is_leaf()) {
        fmt::format_to(end, ", \"attribute\": {}", node.attribute);
        if (schema.attributes[node.attribute].is_numeric) {
            fmt::format_to(end, ", \"threshold\": {}", node.threshold);
        }
        out += ", \"branches\": [";
        for (const Branch& branch : node.branches) {
            if (&branch != &node.branches.front()) out += ", ";
            fmt::format_to(end, "[{}, {}]", branch.value, branch.node);
        }
        out += ']';
    }
    out += '}';
}

}  // namespace

std::string model_json(const Model& model) {
    std::string out = "{\"format\": \"strid tree\", \"version\": 1,\n\"target\": ";
    append_string(out, model.schema.target);
    out += ",\n\"classes\": ";
    append_strings(out, model.schema.classes);
    out += ",\n\"attributes\": [";
    for (const Attribute& attribute : model.schema.attributes) {
        out += &attribute == &model.schema.attributes.front() ? "\n" : ",\n";
        append_attribute(out, attribute);
    }
    out += "],\n\"nodes\": [";
    for (const TreeNode& node : model.tree.nodes) {
        out += &node == &model.tree.nodes.front() ? "\n" : ",\n";
        append_node(out, model.schema, node);
    }
    out += "]}\n";
    return out;
}

}  // namespace strid::tree
