// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/destination.hpp>
#include <strid/base/file_use.hpp>
#include <strid/pattern/team.hpp>
#include <strid/program/session.hpp>

#include "commands.hpp"
#include "common_options.hpp"
#include "learning.hpp"
#include "parallel.hpp"
#include "tools/common/progress.hpp"
#include "tools/common/worker_options.hpp"

namespace strid::tree {

namespace {

struct LearnArguments {
    std::string input = "-";
    std::string output = {};
    std::string pmml = {};
    LearningOptions learning = {};
    std::uint32_t cases_min = 2;
    bool no_prune = false;
    std::size_t folds = 0;
    std::uint64_t seed = 1;
    tool::WorkerOptions workers = {};
    bool quiet = false;
};

/// One command at work: what its parts share.
class Learning {
  public:
    Learning(const LearnArguments& arguments, const tool::Interruption& interruption)
        : arguments_(arguments),
          interruption_(interruption),
          team_(arguments.workers.of_team()),
          workers_{team_.threads(), arguments.workers.pin} {}

    int run() {
        std::vector<FileUse> files{
            {FileUse::Kind::reads, arguments_.input, false, nullptr, "--input"}};
        if (!arguments_.output.empty()) {
            files.push_back({FileUse::Kind::writes, arguments_.output, true, nullptr, "--output"});
        }
        if (!arguments_.pmml.empty()) {
            files.push_back({FileUse::Kind::writes, arguments_.pmml, true, nullptr, "--pmml"});
        }
        check_files(files);
        const Table table = read();
        interruption_.check();
        remark_on(table);
        // Folds are made before the tree is learned, so that too many are refused at once.
        std::vector<std::vector<std::uint32_t>> folds;
        if (arguments_.folds != 0) {
            folds = stratified_folds(table, arguments_.folds, arguments_.seed);
        }
        std::vector<Tree> trees = learn({&table});
        const Model model{table.schema, std::move(trees.front())};
        std::string text = learned_text(model, table);
        if (!folds.empty()) text += cross_validation_text(table, validate(table, folds));
        // Both texts are made before a file is written, since either may refuse a name.
        const std::string json = arguments_.output.empty() ? "" : model_json(model);
        const std::string pmml = arguments_.pmml.empty() ? "" : model_pmml(model);
        if (!json.empty()) write(arguments_.output, json);
        if (!pmml.empty()) write(arguments_.pmml, pmml);
        if (arguments_.output != "-" && arguments_.pmml != "-") write_to_stdout(text);
        return ExitCode::done;
    }

  private:
    Table read() {
        CsvBlocks input(arguments_.input, arguments_.learning.reading.delimiter,
                        interruption_.requested());
        tool::Progress progress("B", input.size_bytes(), arguments_.quiet);
        return read_table(input, arguments_.learning.reading, team_, workers_,
                          [&](std::uint64_t bytes) { progress.at(bytes, "reading"); });
    }

    std::vector<Tree> learn(const std::vector<const Table*>& tables) {
        std::vector<std::unique_ptr<Training>> trainings;
        std::uint64_t rows = 0;
        for (const Table* const table : tables) {
            trainings.push_back(std::make_unique<Training>(*table, arguments_.learning.growth,
                                                           interruption_.requested()));
            rows += table->rows();
        }
        prepare(trainings, team_);
        interruption_.check();
        tool::Progress progress(" cases", rows, arguments_.quiet);
        std::vector<Tree> trees =
            grow(trainings, workers_, [&](std::uint64_t cases) { progress.at(cases, "growing"); });
        if (!arguments_.no_prune) {
            for (Tree& tree : trees) prune(tree, arguments_.learning.confidence);
        }
        return trees;
    }

    // As many folds at once as there are threads: each has a table of its own.
    std::vector<FoldResult> validate(const Table& table,
                                     const std::vector<std::vector<std::uint32_t>>& folds) {
        std::vector<FoldResult> results;
        while (results.size() < folds.size()) {
            const std::size_t first = results.size();
            const std::size_t count = std::min(team_.threads(), folds.size() - first);
            std::vector<Table> parts(count);
            strid::pattern::parallel_for(team_, 0, count, [&](std::size_t i) {
                std::vector<bool> is_left_out(table.rows(), false);
                for (const std::uint32_t row : folds[first + i]) is_left_out[row] = true;
                std::vector<std::uint32_t> rows;
                for (std::uint32_t row = 0; row < table.rows(); ++row) {
                    if (!is_left_out[row]) rows.push_back(row);
                }
                parts[i] = subset(table, rows);
            });
            std::vector<const Table*> tables;
            for (const Table& part : parts) tables.push_back(&part);
            const std::vector<Tree> trees = learn(tables);
            for (std::size_t i = 0; i < count; ++i) {
                results.push_back(
                    {trees[i].nodes.size(), confusion(trees[i], subset(table, folds[first + i]))});
            }
        }
        return results;
    }

    void remark_on(const Table& table) const {
        for (const std::string& remark : table.remarks) {
            write_to_stderr("strid: warning: " + remark + '\n');
        }
        const double needed = 2 * arguments_.learning.growth.cases_min;
        if (!table.weights.empty() && table.weight() < needed) {
            write_to_stderr(fmt::format(
                "strid: warning: --weights: all rows together weigh {:.6g}, and a test needs {} "
                "(twice --cases-min): the tree is one leaf. A row of weight 2 counts as two rows\n",
                table.weight(), needed));
        }
    }

    void write(const std::string& path, const std::string& text) const {
        Destination file(path, Writing::whole);
        file.open();
        file.write(text, interruption_.requested());
        file.commit(interruption_.requested());
    }

    const LearnArguments& arguments_;
    const tool::Interruption& interruption_;
    strid::pattern::Team team_;
    const tool::WorkerOptions workers_;  // as many as the team has
};

constexpr const char* learn_footer =
    "The input is CSV with the names of the columns in its first row; also gzip, zstd, xz or\n"
    "bzip2. A column is numeric where each value is a number. A missing value is ?, NA or empty.\n"
    "\n"
    "The tree goes to standard output: a line for each branch; of a leaf its class, the weight\n"
    "of its training cases and, after a slash, of those that are of another class.\n"
    "\n"
    "Examples:\n"
    "  strid tree learn --input golf.csv --target play\n"
    "  strid tree learn --input data.csv.gz --target class --ignore id --output model.json\n"
    "  strid tree learn --input iris.csv --target species --cross-validate 10 --seed 7";

void add_columns_option(CLI::App& command, const char* name, std::vector<std::string>& columns,
                        const char* help) {
    command.add_option(name, columns, help)
        ->type_name("COL[,COL]")
        ->delimiter(',')
        ->allow_extra_args(false);
}

}  // namespace

void add_learn_command(CLI::App& app, Action& action) {
    auto arguments = std::make_shared<LearnArguments>();
    CLI::App& command = *app.add_subcommand("learn", "Learns a decision tree from a table.");
    command.footer(learn_footer);
    ReadingOptions& reading = arguments->learning.reading;
    command.add_option("--input", arguments->input, "The table; -: standard input (default)")
        ->type_name("FILE");
    command.add_option("--target", reading.target, "The column that holds the classes")
        ->type_name("COL")
        ->required();
    command
        .add_option("--output", arguments->output,
                    "The model as JSON; -: to standard output, in place of the tree")
        ->type_name("FILE");
    command
        .add_option("--pmml", arguments->pmml,
                    "The model as PMML 4.4, for other programs; -: as with --output")
        ->type_name("FILE");
    command
        .add_option("--weights", reading.weights,
                    "The column of the weights: a row of weight 2 counts as two rows")
        ->type_name("COL");
    add_columns_option(command, "--categorical", reading.categorical,
                       "Columns whose values are names, also where they are numbers");
    add_columns_option(command, "--numeric", reading.numeric,
                       "Columns that have to be numbers: another value is an error");
    add_columns_option(command, "--ignore", reading.ignored, "Columns to leave out");
    add_missing_option(command, reading.missing);
    add_delimiter_option(command, reading.delimiter);
    add_number_option(command, "--cases-min", arguments->cases_min, 1, 1'000'000'000,
                      "Two branches of a test have so many cases at least (default: 2)");
    command.add_flag("--no-prune", arguments->no_prune, "The tree as it has grown");
    add_decimal_option(command, "--confidence", arguments->learning.confidence,
                       "For pruning; less prunes more");
    add_number_option(command, "--cross-validate", arguments->folds, 2, 1'000'000,
                      "Also estimates the accuracy by so many folds");
    add_number_option(command, "--seed", arguments->seed, 0, UINT64_MAX,
                      "For drawing the folds (default: 1)");
    add_running_options(command, arguments->workers, arguments->quiet);
    command.callback([&action, arguments] {
        action = [arguments](const tool::Interruption& interruption) {
            const double confidence = arguments->learning.confidence;
            if (!(confidence > 0 && confidence < 1)) {
                throw GraphError("--confidence: not between 0 and 1");
            }
            for (const auto& [path, option] :
                 {std::pair(arguments->output, "--output"), {arguments->pmml, "--pmml"}}) {
                if (path != "-" || arguments->folds == 0) continue;
                throw GraphError(fmt::format(
                    "--cross-validate writes to standard output, and so does {} -", option));
            }
            arguments->learning.growth.cases_min = arguments->cases_min;
            return Learning(*arguments, interruption).run();
        };
    });
}

}  // namespace strid::tree
