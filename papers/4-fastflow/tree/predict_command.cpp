// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/destination.hpp>
#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/connector/byte_reader.hpp>
#include <strid/pattern/team.hpp>
#include <strid/program/session.hpp>

#include "commands.hpp"
#include "common_options.hpp"
#include "parallel.hpp"
#include "predictor.hpp"
#include "tools/common/progress.hpp"
#include "tools/common/worker_options.hpp"

namespace strid::tree {

namespace {

struct PredictArguments {
    std::string model = {};
    std::string input = "-";
    std::string output = {};
    char delimiter = ',';
    MissingWords missing = {};
    bool compares = false;
    bool only_predictions = false;
    bool probabilities = false;
    tool::WorkerOptions workers = {};
    bool quiet = false;
};

constexpr std::size_t model_bytes_max = std::size_t{1} << 30;

std::string read_all(const std::string& path, const std::atomic<bool>& interrupted) {
    ByteReader reader(path);
    std::string text;
    std::vector<char> part(std::size_t{1} << 16);
    for (;;) {
        if (interrupted.load(std::memory_order_relaxed)) throw Interrupted();
        const auto got = reader.read(part, 50);
        if (got.status == ByteReader::Status::end) return text;
        if (got.status == ByteReader::Status::read) text.append(part.data(), got.bytes);
        if (text.size() > model_bytes_max) {
            throw InputOutputError(
                fmt::format("{}: a model of more than {} bytes", path, model_bytes_max));
        }
    }
}

/// The sums over all blocks.
struct Totals {
    std::uint64_t rows = 0;
    ConfusionMatrix confusion;
    std::uint64_t other_classes = 0;
    std::uint64_t without_class = 0;

    void add(const PredictedBlock& block) {
        rows += block.rows;
        if (block.confusion) confusion.add(*block.confusion);
        other_classes += block.other_classes;
        without_class += block.without_class;
    }
};

std::string accuracy_text(const Totals& totals, const Schema& schema) {
    const std::uint64_t cases = totals.confusion.cases() + totals.other_classes;
    std::string text =
        cases == 0
            ? std::string("no row has a class to compare with\n")
            : fmt::format("accuracy {:.2f}%: {} of {} rows\n\n{}",
                          100 * static_cast<double>(totals.confusion.correct()) /
                              static_cast<double>(cases),
                          totals.confusion.correct(), cases, totals.confusion.text(schema.classes));
    if (totals.other_classes != 0) {
        text += fmt::format("{} rows are of a class that the model does not know\n",
                            totals.other_classes);
    }
    if (totals.without_class != 0) {
        text += fmt::format("{} rows without a class are not counted\n", totals.without_class);
    }
    return text;
}

void run_predictor(const Predictor& predictor, CsvBlocks& input, const tool::WorkerOptions& workers,
                   const std::function<void(PredictedBlock)>& take) {
    namespace pattern = strid::pattern;
    const auto blocks = pattern::source([&input]() -> std::optional<CsvBlock> {
        CsvBlock block;
        if (!input.next(block)) return std::nullopt;
        return block;
    });
    const auto predict = [&predictor](const CsvBlock& block) { return predictor.predict(block); };
    const auto store = [&take](PredictedBlock block) { take(std::move(block)); };
    run_pattern(pattern::pipeline(
                    pattern::named("read", blocks),
                    pattern::named("predict", pattern::ordered_farm(predict, pattern::Adaptive{},
                                                                    {.workers = workers.count})),
                    pattern::named("write", store)),
                workers);
}

int run_predict(const PredictArguments& arguments, const tool::Interruption& interruption) {
    std::vector<FileUse> files{{FileUse::Kind::reads, arguments.model, false, nullptr, "--model"},
                               {FileUse::Kind::reads, arguments.input, false, nullptr, "--input"}};
    if (!arguments.output.empty()) {
        files.push_back({FileUse::Kind::writes, arguments.output, true, nullptr, "--output"});
    }
    check_files(files);
    const std::atomic<bool>& interrupted = interruption.requested();
    const Model model = read_model(read_all(arguments.model, interrupted), arguments.model);
    CsvBlocks input(arguments.input, arguments.delimiter, interrupted);
    const Predictor predictor(model, input,
                              {.writes_rows = !arguments.output.empty(),
                               .only_predictions = arguments.only_predictions,
                               .compares = arguments.compares,
                               .probabilities = arguments.probabilities,
                               .missing = arguments.missing});
    std::optional<Destination> output;
    if (!arguments.output.empty()) {
        output.emplace(arguments.output, Writing::whole);
        output->open();
        output->write(predictor.header(), interrupted);
    }
    Totals totals{0, ConfusionMatrix(model.schema.classes.size()), 0, 0};
    tool::Progress progress("B", input.size_bytes(), arguments.quiet);
    tool::WorkerOptions workers = arguments.workers;
    workers.count = strid::pattern::Team(workers.count).threads();
    run_predictor(predictor, input, workers, [&](const PredictedBlock& block) {
        if (block.failure) std::rethrow_exception(block.failure);
        interruption.check();
        totals.add(block);
        if (output) output->write(block.text, interrupted);
        progress.at(input.bytes_read(), "predicting");
    });
    progress.clear();
    if (output) output->commit(interrupted);
    if (arguments.compares) write_to_stdout(accuracy_text(totals, model.schema));
    return ExitCode::done;
}

constexpr const char* predict_footer =
    "The rows of the input with two columns more: the prediction, and the share of its class\n"
    "among the training cases that got where the row gets. A value that is missing, or that\n"
    "the model does not know, follows all branches, in parts.\n"
    "\n"
    "With --accuracy, what is predicted is compared with the column of the target, and rows are\n"
    "written only where --output says so.\n"
    "\n"
    "Examples:\n"
    "  strid tree predict --model golf.json --input new.csv --output answers.csv\n"
    "  strid tree predict --model golf.json --input test.csv --accuracy\n"
    "  zcat rows.csv.gz | strid tree predict --model golf.json --only-predictions";

}  // namespace

void add_predict_command(CLI::App& app, Action& action) {
    auto arguments = std::make_shared<PredictArguments>();
    CLI::App& command = *app.add_subcommand("predict", "Asks a tree for the classes of rows.");
    command.footer(predict_footer);
    command.add_option("--model", arguments->model, "What learn --output has written")
        ->type_name("FILE")
        ->required();
    command.add_option("--input", arguments->input, "The table; -: standard input (default)")
        ->type_name("FILE");
    command
        .add_option("--output", arguments->output,
                    "The rows with their predictions; -: standard output (default)")
        ->type_name("FILE");
    command.add_flag("--accuracy", arguments->compares,
                     "Accuracy and confusion matrix, to standard output");
    command.add_flag("--only-predictions", arguments->only_predictions,
                     "Without the columns of the input");
    command.add_flag("--probabilities", arguments->probabilities,
                     "A column more for each class: its share");
    add_missing_option(command, arguments->missing);
    add_delimiter_option(command, arguments->delimiter);
    add_running_options(command, arguments->workers, arguments->quiet);
    command.callback([&action, arguments] {
        action = [arguments](const tool::Interruption& interruption) {
            if (arguments->compares && arguments->output == "-") {
                throw GraphError("--accuracy writes to standard output, and so does --output -");
            }
            if (arguments->compares && arguments->only_predictions && arguments->output.empty()) {
                throw GraphError("--only-predictions: --accuracy without --output writes no rows");
            }
            if (arguments->compares && arguments->probabilities && arguments->output.empty()) {
                throw GraphError("--probabilities: --accuracy without --output writes no rows");
            }
            if (!arguments->compares && arguments->output.empty()) arguments->output = "-";
            return run_predict(*arguments, interruption);
        };
    });
}

}  // namespace strid::tree
