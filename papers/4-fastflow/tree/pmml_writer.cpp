// SPDX-License-Identifier: Apache-2.0
//
// A value that is missing, or that the model does not know, goes to all branches in parts
// (weightedConfidence, asMissing), and one that a node has no branch for is judged by that node
// (returnLastPrediction): as Classifier does. Nodes are written without recursion, because a tree
// may be deeper than a stack.
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include <strid/base/error.hpp>
#include <strid/base/version.hpp>
#include <strid/engine/base/excerpt.hpp>

#include "model.hpp"

namespace strid::tree {

namespace {

/// The value of an attribute of XML.
std::string escaped(std::string_view text) {
    const auto refuse = [&text](const char* why) {
        throw InputOutputError(fmt::format("'{}' {}, as PMML has to be", excerpt(text), why));
    };
    if (!simdjson::validate_utf8(text.data(), text.size())) refuse("is not UTF-8");
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\t' || c == '\n' || c == '\r') {
            fmt::format_to(std::back_inserter(out), "&#{};", static_cast<unsigned>(byte));
        } else if (byte < 0x20) {
            refuse("has a control character and is not text of XML");
        } else {
            out += c;
        }
    }
    if (text.find("\xEF\xBF\xBE") != std::string_view::npos ||
        text.find("\xEF\xBF\xBF") != std::string_view::npos) {
        refuse("has U+FFFE or U+FFFF and is not text of XML");
    }
    return out;
}

class PmmlWriter {
  public:
    explicit PmmlWriter(const Model& model) : schema_(model.schema), tree_(model.tree) {
        is_tested_.resize(schema_.attributes.size(), false);
        for (const TreeNode& node : tree_.nodes) {
            if (!node.is_leaf()) is_tested_[node.attribute] = true;
        }
        for (const std::string& name : schema_.classes) classes_.push_back(escaped(name));
        for (const Attribute& attribute : schema_.attributes) {
            names_.push_back(escaped(attribute.name));
        }
    }

    std::string write() {
        add(R"(<?xml version="1.0" encoding="UTF-8"?>
<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">
<Header><Application name="strid tree" version="{}"/></Header>
)",
            version);
        write_dictionary();
        add("<TreeModel functionName=\"classification\" algorithmName=\"C4.5\" "
            "splitCharacteristic=\"multiSplit\" missingValueStrategy=\"weightedConfidence\" "
            "noTrueChildStrategy=\"returnLastPrediction\">\n<MiningSchema>\n"
            "<MiningField name=\"{}\" usageType=\"target\"/>\n",
            escaped(schema_.target));
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (!is_tested_[i]) continue;
            add("<MiningField name=\"{}\" invalidValueTreatment=\"asMissing\"/>\n", names_[i]);
        }
        add("</MiningSchema>\n");
        write_nodes();
        add("</TreeModel>\n</PMML>\n");
        return std::move(out_);
    }

  private:
    template <class... Values>
    void add(fmt::format_string<Values...> form, Values&&... values) {
        fmt::format_to(std::back_inserter(out_), form, std::forward<Values>(values)...);
    }

    void write_dictionary() {
        const auto categorical = [this](const std::string& name,
                                        const std::vector<std::string>& values) {
            add("<DataField name=\"{}\" optype=\"categorical\" dataType=\"string\">\n", name);
            for (const std::string& value : values) {
                add("<Value value=\"{}\"/>\n", escaped(value));
            }
            add("</DataField>\n");
        };
        add("<DataDictionary>\n");
        categorical(escaped(schema_.target), schema_.classes);
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (!is_tested_[i]) continue;
            if (!schema_.attributes[i].is_numeric) {
                categorical(names_[i], schema_.attributes[i].values);
                continue;
            }
            add("<DataField name=\"{}\" optype=\"continuous\" dataType=\"double\"/>\n", names_[i]);
        }
        add("</DataDictionary>\n");
    }

    void write_nodes() {
        struct Open {
            std::uint32_t node;
            std::size_t next_branch;
        };
        std::vector<Open> open;
        begin_node(0, "<True/>");
        open.push_back({0, 0});
        while (!open.empty()) {
            Open& last = open.back();
            const TreeNode& node = tree_.nodes[last.node];
            if (last.next_branch == node.branches.size()) {
                add("</Node>\n");
                open.pop_back();
                continue;
            }
            const Branch branch = node.branches[last.next_branch++];
            begin_node(branch.node, predicate(node, branch.value));
            open.push_back({branch.node, 0});
        }
    }

    [[nodiscard]] std::string predicate(const TreeNode& node, std::uint32_t value) const {
        const Attribute& attribute = schema_.attributes[node.attribute];
        const auto form = [&](const char* comparison, const std::string& with) {
            return fmt::format("<SimplePredicate field=\"{}\" operator=\"{}\" value=\"{}\"/>",
                               names_[node.attribute], comparison, with);
        };
        if (!attribute.is_numeric) return form("equal", escaped(attribute.values[value]));
        return form(value == 0 ? "lessOrEqual" : "greaterThan", fmt::format("{}", node.threshold));
    }

    void begin_node(std::uint32_t index, const std::string& predicate) {
        const TreeNode& node = tree_.nodes[index];
        add("<Node id=\"{}\" score=\"{}\" recordCount=\"{}\">{}\n", index, classes_[node.majority],
            node.cases, predicate);
        for (std::size_t c = 0; c < classes_.size(); ++c) {
            add("<ScoreDistribution value=\"{}\" recordCount=\"{}\"/>\n", classes_[c],
                node.counts[c]);
        }
    }

    const Schema& schema_;
    const Tree& tree_;
    std::vector<bool> is_tested_;
    std::vector<std::string> classes_;  // escaped, as are the names
    std::vector<std::string> names_;
    std::string out_;
};

}  // namespace

std::string model_pmml(const Model& model) {
    return PmmlWriter(model).write();
}

}  // namespace strid::tree
