// SPDX-License-Identifier: Apache-2.0
//
// The command line of strid-align. Plain values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "alphabet.hpp"
#include "report.hpp"
#include "scoring.hpp"
#include "tools/common/worker_options.hpp"

namespace CLI {
class App;
}

namespace strid::align {

struct AlignOptions {
    std::string queries;
    std::string database;
    std::string output = "-";
    std::string matrix;
    std::optional<unsigned> gap_open;
    std::optional<unsigned> gap_extend;
    bool dna = false;
    std::optional<unsigned> match;
    std::optional<unsigned> mismatch;
    std::optional<bool> both_strands;
    Unknown unknown = Unknown::reject;
    std::size_t top = 10;
    std::optional<double> expected_max;
    Format format = Format::table;
    Mode mode = Mode::local;
    std::string vectors = "auto";
    tool::WorkerOptions workers = {};
    bool quiet = false;

    /// Throws GraphError for options that do not belong together.
    [[nodiscard]] Scoring scoring() const;
    void check() const;

  private:
    [[nodiscard]] bool matrix_is_file() const;
};

/// `options` must outlive the parsing.
void add_align_options(CLI::App& app, AlignOptions& options);

}  // namespace strid::align
