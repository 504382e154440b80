// SPDX-License-Identifier: Apache-2.0
#include "denoise_command.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/base/topology.hpp>
#include <strid/program/arguments.hpp>

#include "byte_input.hpp"
#include "file_names.hpp"
#include "frame_sink.hpp"
#include "image_frames.hpp"

namespace strid::denoise {

namespace {

/// "640x480"
void read_shape(const std::string& text, RawShape& shape) {
    constexpr std::size_t most = 1U << 30;
    const char* const end = text.data() + text.size();
    const auto width = std::from_chars(text.data(), end, shape.width);
    if (width.ec == std::errc() && width.ptr != end && *width.ptr == 'x') {
        const auto height = std::from_chars(width.ptr + 1, end, shape.height);
        const bool fits = shape.width - 1 < most && shape.height - 1 < most;
        if (height.ec == std::errc() && height.ptr == end && fits) return;
    }
    throw GraphError(fmt::format("'{}' is no size such as 640x480", text));
}

/// Also refuses what is no number (nan), which CLI::Range lets pass.
std::function<std::string(const std::string&)> between(double least, double most) {
    return [least, most](const std::string& text) -> std::string {
        double value = 0;
        const bool reads = CLI::detail::lexical_cast(text, value);
        if (reads && value >= least && value <= most) return {};
        return fmt::format("'{}' is no number from {:g} to {:g}", text, least, most);
    };
}

void add_model_options(CLI::App& app, DenoiseCommand& command) {
    RestorationOptions& model = command.options.restoration;
    add_number_option(
        app, "--window", 3, window_max,
        [&command](std::uint64_t side) {
            if (side % 2 == 0) throw GraphError("--window: the side of a window is odd");
            command.options.largest_window = static_cast<unsigned>(side);
        },
        "Side of the largest window of the detection, odd (default 39)");
    const auto add = [&app](const char* name, double& value, double least, double most,
                            const char* help) {
        app.add_option(name, value, help)->type_name("X")->check(between(least, most));
    };
    add("--edge", model.edge, 1e-3, 1e6,
        "Differences much larger than its root are edges (default 100)");
    add("--fidelity", model.fidelity, 0, 1e3,
        "Weight of the distance to the noisy value (default 0)");
    add("--relaxation", model.relaxation, 0.01, 1.99, "Length of a step (default 1.5)");
    CLI::Option* const tolerance =
        app.add_option("--tolerance", model.tolerance,
                       "Ends when an iteration changes a noisy sample by less on average, in grey "
                       "levels (default 0.01)")
            ->type_name("X")
            ->check(between(1e-6, 255));
    add_number_option(app, "--iterations-max", model.iterations_max, 1, 1'000'000,
                      "No more iterations than this (default 1000)");
    add_number_option(app, "--iterations", command.iterations, 1, 1'000'000,
                      "So many iterations, whether it converges or not");
    app.get_option("--iterations")->excludes(tolerance)->excludes("--iterations-max");
}

void add_noise_options(CLI::App& app, DenoiseCommand& command) {
    CLI::Option* const share =
        app.add_option("--add-noise", command.noise_share,
                       "Adds noise instead: this share of all samples, 0 to 1")
            ->type_name("SHARE")
            ->check(between(0, 1));
    add_number_option(
        app, "--seed", 0, ~std::uint64_t{0},
        [&command](std::uint64_t seed) { command.noise_seed = seed; },
        "Of the noise that is added (default 1)");
    app.get_option("--seed")->needs(share);
}

std::unique_ptr<ByteInput> open(const InputFile& file, ByteInput::Content content) {
    if (file.path == "-" && ::isatty(STDIN_FILENO) == 1) {
        throw GraphError("standard input is a terminal: name a file, or use a pipe");
    }
    return std::make_unique<ByteInput>(file.path, content);
}

/// The extension of a result's name says what it becomes.
ImageOptions image_options(const DenoiseCommand& command, const std::vector<InputFile>& files) {
    ImageOptions options{command.pixels_max, command.compression, command.quality, {}, false};
    options.is_one_file = is_one_output(command.output);
    for (const InputFile& file : files) {
        const std::string name = is_folder(command.output)
                                     ? result_in_folder(command.output, file.path)
                                     : command.output;
        options.targets.push_back(target_of_name(name));
    }
    return options;
}

Frames open_frames(const DenoiseCommand& command, const std::vector<InputFile>& files,
                   const tool::Interruption& interruption) {
    const auto refuse_several = [&files](const char* what) {
        if (files.size() > 1) {
            throw GraphError(fmt::format("{} files: {} comes from one", files.size(), what));
        }
    };
    if (command.raw.width != 0) {
        refuse_several("raw video");
        return raw_frames(open(files.front(), ByteInput::Content::as_stored), command.raw);
    }
    auto input = open(files.front(), ByteInput::Content::by_first_bytes);
    constexpr std::size_t signature_bytes = 9;
    bool ended = false;
    while (!ended && input->bytes().size() < signature_bytes) {
        interruption.check();
        ended = input->more(0) == ByteReader::Status::end;
    }
    if (begins_as_y4m(input->bytes())) {
        refuse_several("YUV4MPEG2");
        return y4m_frames(std::move(input), command.pixels_max, [&] { interruption.check(); });
    }
    std::vector<std::string> paths;
    for (const InputFile& file : files) paths.push_back(file.path);
    return image_frames(std::move(paths), std::move(input), image_options(command, files));
}

std::size_t cores() {
    const Topology topology = Topology::detect();
    return topology.cores().size();
}

void check(const DenoiseCommand& command) {
    if (command.has_pixel && command.raw.width == 0) throw GraphError("--pixel is of --raw video");
    if (command.raw.width > command.pixels_max / std::max<std::size_t>(command.raw.height, 1)) {
        throw GraphError(fmt::format("--raw: {}x{} pixels are more than {} (--pixels-max)",
                                     command.raw.width, command.raw.height, command.pixels_max));
    }
    if (command.output == "-" && ::isatty(STDOUT_FILENO) == 1) {
        throw GraphError("standard output is a terminal: --output FILE names a file");
    }
}

}  // namespace

void add_denoise_options(CLI::App& app, DenoiseCommand& command) {
    app.add_option("inputs", command.inputs, "Files, or one pattern; -: standard input (default)")
        ->type_name("FILE");
    app.add_option("--output", command.output,
                   "A file, a folder, a pattern (clean-%04d.png), or -: standard output (default)")
        ->type_name("FILE");
    add_text_option(
        app, "--raw", "WIDTHxHEIGHT",
        [&command](const std::string& text) { read_shape(text, command.raw); },
        "The input is raw video, frame after frame");
    add_choice(
        app, "--pixel", {"gray", "rgb24", "yuv420p"},
        [&command](std::size_t i) {
            command.raw.pixel = static_cast<RawPixel>(i);
            command.has_pixel = true;
        },
        "Of raw video (default: gray)");
    app.add_option("--reference", command.reference,
                   "Print PSNR and MSE of each frame against these: of the input's form")
        ->type_name("FILE");
    add_model_options(app, command);
    add_noise_options(app, command);
    CLI::Option* const detect =
        app.add_flag("--detect-only", command.options.detect_only,
                     "Writes where the noise is: the largest value there, 0 elsewhere");
    app.get_option("--add-noise")->excludes(detect);
    app.add_flag("--force", command.options.force,
                 "Also cleans a picture in black and white, where noise looks as what is drawn");
    app.get_option("--reference")->excludes(detect);
    app.add_option("--compression", command.compression,
                   "Of PNG and TIFF, as zlib has it (default 6)")
        ->type_name("0..9")
        ->check(CLI::Range(0, 9));
    app.add_option("--quality", command.quality,
                   "Of JPEG, which is written to a name with .jpg only (default 95)")
        ->type_name("1..100")
        ->check(CLI::Range(1, 100));
    add_number_option(app, "--pixels-max", command.pixels_max, 1, std::uint64_t{1} << 30,
                      "Refuses larger frames (default 134217728)");
    tool::add_worker_options(app, command.workers, "Threads that compute (default: one per core)");
    app.add_flag("--verbose", command.verbose,
                 "Print noise, iterations and the last change of each plane");
    app.add_flag("--quiet", command.quiet, "No progress");
}

FrameJob make_job(const DenoiseCommand& command, const tool::Interruption& interruption) {
    check(command);
    const std::vector<InputFile> inputs =
        find_inputs(command.inputs.empty() ? std::vector<std::string>{"-"} : command.inputs);
    std::vector<InputFile> references;
    if (!command.reference.empty()) references = find_references(command.reference, inputs);

    FrameJob job;
    job.sink = make_sink(command.output, inputs, references);
    job.frames = open_frames(command, inputs, interruption);
    if (!references.empty()) job.references = open_frames(command, references, interruption);
    job.worker.format = job.frames.format;
    job.worker.reference_format = job.references.format;
    job.worker.options = command.options;
    if (command.iterations != 0) {
        job.worker.options.restoration.iterations_max = command.iterations;
        job.worker.options.restoration.tolerance = 0;
    }
    if (command.noise_share) {
        job.worker.added_noise = AddedNoise{*command.noise_share, command.noise_seed.value_or(1)};
    }
    job.worker.verbose = command.verbose;
    job.workers = command.workers;
    if (job.workers.count == 0) job.workers.count = cores();
    job.frames_expected = inputs.size() > 1 ? inputs.size() : 0;
    job.quiet = command.quiet;
    return job;
}

}  // namespace strid::denoise
