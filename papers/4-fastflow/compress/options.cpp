// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>
#include <divsufsort.h>
#include <fmt/format.h>

#include <strid/base/version.hpp>
#include <strid/program/arguments.hpp>
#include <strid/program/session.hpp>

namespace strid::compress {

namespace {

const char* description(Direction direction) {
    return direction == Direction::compress
               ? "Compresses files in parallel to what bzip2 reads; FILE becomes FILE.bz2"
               : "Decompresses files of bzip2 in parallel; FILE.bz2 becomes FILE";
}

const char* footer() {
    return R"(Without a FILE, or for -, from standard input to standard output. A FILE is
removed when the whole result is there; -k keeps it. The result has its
permissions and times.

  strid compress log.txt                  log.txt.bz2 in the place of log.txt
  strid compress -kv *.csv                keeps the files, prints the ratios
  strid decompress -c log.txt.bz2 | head
  tar c folder | strid compress > folder.tar.bz2
  strid decompress -t *.bz2               are they sound?

Unlike the other commands, it ends as bzip2 does: with 0; 1 where a file cannot
be opened, read or written, is left out, or an option is wrong; 2 where
compressed data is corrupt.)";
}

std::string_view name_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// A flag that may be given more than once, also against others: the last one counts.
CLI::Option* add_switch(CLI::App& app, const std::string& name, std::function<void()> set,
                        const std::string& help) {
    return app
        .add_flag_function(
            name, [set = std::move(set)](std::int64_t /*count*/) { set(); }, help)
        ->trigger_on_parse();
}

void add_flag(CLI::App& app, const std::string& name, bool& flag, const std::string& help) {
    add_switch(
        app, name, [&flag] { flag = true; }, help);
}

void add_options(CLI::App& app, Options& options) {
    add_switch(
        app, "-z,--compress",
        [&options] {
            options.direction = Direction::compress;
            options.test = false;
        },
        "Compress, whatever name the program is called by");
    add_switch(
        app, "-d,--decompress",
        [&options] {
            options.direction = Direction::decompress;
            options.test = false;
        },
        "Decompress");
    add_switch(
        app, "-t,--test",
        [&options] {
            options.direction = Direction::decompress;
            options.test = true;
        },
        "Decompress and write nothing");
    add_flag(app, "-c,--stdout", options.to_stdout, "Write to standard output; the files stay");
    add_flag(app, "-k,--keep", options.keep, "Do not remove the files");
    add_flag(app, "-f,--force", options.force,
             "Replace outputs that exist; take symbolic links and files with several hard links; "
             "decompress: passes on data that is not compressed");
    add_flag(app, "-q,--quiet", options.quiet,
             "Nothing about files that are left out, and no progress");
    add_flag(app, "-v,--verbose", options.verbose, "A line about each file");
    add_flag(app, "-s,--small", options.small,
             "Less memory: one worker, and blocks of 200 kB at most");
    for (int level = 1; level <= 9; ++level) {
        std::string name = fmt::format("-{}", level);
        if (level == 1) name += ",--fast";
        if (level == 9) name += ",--best";
        const auto set = [&options, level] { options.level = level; };
        CLI::Option* const option = add_switch(
            app, name, set,
            level == 1 ? "Blocks of 100 kB; -2 to -8: of 200 to 800 kB" : "of 900 kB (default)");
        if (level != 1 && level != 9) option->group("");
    }
    tool::add_worker_options(app, options.workers,
                             "Threads that code blocks (default: one for each core)");
    app.set_version_flag(
        "-V,-L,--version,--license",
        fmt::format("strid {}, to the format of bzip2 1.0 by libdivsufsort {}; Apache License 2.0",
                    library_version(), ::divsufsort_version()));
    app.add_option("FILE", options.files, "-: standard input");
}

/// The words of a variable of the environment, which bzip2 takes before those of its command line.
void add_words_of(const char* variable, std::vector<std::string>& words) {
    const char* const value = std::getenv(variable);
    if (value == nullptr) return;
    std::istringstream text(value);
    for (std::string word; text >> word;) words.push_back(word);
}

}  // namespace

std::optional<int> read_options(int argc, const char* const* argv, Options& options) {
    if (argc > 0 && name_of(argv[0]) == "strid-decompress") {
        options.direction = Direction::decompress;
    }
    options.workers.count = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1,
                                                    tool::WorkerOptions::count_max);
    const bool is_decompress = options.direction == Direction::decompress;
    CLI::App app{description(options.direction),
                 is_decompress ? "strid decompress" : "strid compress"};
    app.footer(footer());
    add_options(app, options);
    std::vector<std::string> words(argv, argv + std::min(argc, 1));
    add_words_of("BZIP2", words);
    add_words_of("BZIP", words);
    words.insert(words.end(), argv + std::min(argc, 1), argv + argc);
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    const std::optional<int> code =
        parse_arguments(app, static_cast<int>(pointers.size()), pointers.data());
    if (code) return *code == ExitCode::usage ? Code::failed : *code;
    if (options.small) {
        constexpr int level_max = 2;
        options.level = std::min(options.level, level_max);
        options.workers.count = 1;
    }
    if (options.files.empty()) options.files.emplace_back("-");
    return std::nullopt;
}

}  // namespace strid::compress
