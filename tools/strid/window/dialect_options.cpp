// SPDX-License-Identifier: Apache-2.0
#include "dialect_options.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/transport.hpp>
#include <strid/engine/base/excerpt.hpp>

#include "window_arguments.hpp"

namespace strid::tool {

namespace {

char read_character(std::string_view option, std::string_view text) {
    if (text == "tab" || text == "\\t") return '\t';
    if (text.size() == 1) return text.front();
    throw GraphError(
        fmt::format("{}: '{}' is not one character (tab and \\t are one)", option, excerpt(text)));
}

std::vector<std::string> read_thousands(std::string_view text) {
    if (text == "space" || text == " ") return {" ", "\u00a0", "\u2009", "\u202f"};
    if (text == "'") return {"'", "\u2019"};
    const char one = read_character("--thousands", text);
    if (std::string_view("0123456789+-eE\"").find(one) != std::string_view::npos) {
        throw GraphError(fmt::format("--thousands: '{}' is a part of numbers", one));
    }
    return {std::string(1, one)};
}

std::size_t read_number(std::string_view option, std::string_view text) {
    std::size_t number = 0;
    if (detail::read_integer(text, number) == nullptr) return number;
    throw GraphError(fmt::format("{}: '{}' is not a number of lines", option, excerpt(text)));
}

/// The dialect by the names of the inputs. Throws GraphError where they say different things.
char delimiter_by_name(const std::vector<std::string>& inputs) {
    const auto tsv = std::count_if(inputs.begin(), inputs.end(), is_named_tsv);
    if (tsv == 0) return '\0';
    if (static_cast<std::size_t>(tsv) == inputs.size()) return '\t';
    throw GraphError("some inputs are named as .tsv and some are not: --delimiter says which");
}

void check_dialect_of_tables(const WindowJob& job, bool is_given) {
    const auto table =
        std::find_if(job.inputs.begin(), job.inputs.end(),
                     [](const std::string& input) { return transport_is_table(input); });
    if (table == job.inputs.end() || !is_given) return;
    throw GraphError(fmt::format(
        "{}: --delimiter, --decimal-comma, --comment, --quote, --escape, --skip and --ragged are "
        "for text, and this is a table",
        excerpt(*table, 200)));
}

}  // namespace

void add_input_options(CLI::App& command, WindowCommand& options) {
    command
        .add_option("--input", options.job.inputs,
                    "A file, plain or gzip, zstd, xz, bzip2, or Parquet; tcp://HOST:PORT, "
                    "tcp-listen://:PORT?clients=N, "
                    "unix://PATH, unix-listen://PATH; http-listen://:PORT/PATH, "
                    "mqtt://HOST/TOPIC, kafka://HOST:PORT/TOPIC, "
                    "nats://HOST/SUBJECT?stream=NAME, redis://HOST/STREAM, "
                    "postgres://HOST/DB?table=NAME, "
                    "sqlite:PATH?query=SELECT, parquet:FOLDER; -: standard input (default). "
                    "Several are read one behind the other, each with its own header")
        ->type_name("FILE...");
    command
        .add_option("--follow", options.followed,
                    "A file that grows, is rotated or is truncated, as tail -F reads it, from its "
                    "beginning on, until Ctrl-C; several with --merge-inputs")
        ->type_name("FILE...");
    command
        .add_option("--zstd-dictionary", options.job.csv.text.zstd_dictionary,
                    "The dictionary that zstd inputs were compressed with")
        ->type_name("FILE");
    command.add_flag("--merge-inputs", options.job.merge_inputs,
                     "Several inputs, each in order of time, as one in order of time");
}

void add_dialect_options(CLI::App& command, WindowCommand& options) {
    CsvOptions& csv = options.job.csv;
    add_text_option(
        command, "--delimiter", "CHAR",
        [&options](const std::string& text) {
            options.delimiter = read_character("--delimiter", text);
        },
        "Between fields (default: a comma; tab for files named .tsv; ; with --decimal-comma)");
    command.add_flag("--decimal-comma", csv.decimal_comma, "Numbers are written 1,5");
    add_text_option(
        command, "--thousands", "CHAR",
        [&options](const std::string& text) { options.job.thousands = read_thousands(text); },
        "Between groups of digits: 1,234,567 by ',', 1 234 567 by space (any that does not break "
        "a line)");
    add_text_option(
        command, "--comment", "CHAR",
        [&csv](const std::string& text) { csv.comment = read_character("--comment", text); },
        "Lines that begin with it are passed over");
    add_choice<bool>(command, "--quote", csv.quotes, {{"double", true}, {"none", false}},
                     "none: a quote is a character as any other; double (default): fields may "
                     "stand in double quotes");
    add_text_option(
        command, "--escape", "CHAR",
        [&csv](const std::string& text) { csv.escape = read_character("--escape", text); },
        "The character behind it stands for itself, in quotes and outside: '\\\\' reads the files "
        "of MySQL, Spark and Hive");
    add_text_option(
        command, "--skip", "N",
        [&csv](const std::string& text) { csv.skip_lines = read_number("--skip", text); },
        "So many lines before the header, or the first row, are passed over");
    add_text_option(
        command, "--null", "WORDS",
        [&csv](const std::string& text) { csv.null_words = read_columns(text); },
        "Fields of values and times that are one of these are empty: --null NA,NULL,-");
    command.add_flag("--ragged", csv.ragged,
                     "Rows may have more or fewer fields than the header: more are passed over, "
                     "missing values are empty");
    add_text_option(
        command, "--quoted-lines", "N",
        [&csv](const std::string& text) {
            csv.quoted_lines_max = read_number("--quoted-lines", text);
            csv.quoted_bytes_max = csv.text.line_bytes_max;
        },
        "A quoted field goes over so many lines at most, or the row is malformed (default 100 on "
        "pipes; in files 128 MiB)");
}

void settle_inputs(WindowCommand& options) {
    WindowJob& job = options.job;
    if (options.followed.empty()) return;
    if (job.inputs == std::vector<std::string>{"-"}) job.inputs.clear();
    for (const std::string& path : options.followed) job.inputs.push_back("follow:" + path);
    if (job.inputs.size() > 1 && !job.merge_inputs) {
        throw GraphError(
            "--follow: a file that is followed has no end, so that other inputs are read beside it "
            "with --merge-inputs");
    }
}

void settle_dialect(WindowCommand& options) {
    WindowJob& job = options.job;
    CsvOptions& csv = job.csv;
    const char by_name = delimiter_by_name(job.inputs);
    const bool is_given = options.delimiter != '\0';
    if (is_given) {
        csv.delimiter = options.delimiter;
    } else if (by_name != '\0') {
        csv.delimiter = by_name;
    } else if (csv.decimal_comma) {
        csv.delimiter = ';';
    }
    if (csv.decimal_comma) options.plan->format.decimal_point = ',';
    const std::string point(1, csv.decimal_comma ? ',' : '.');
    if (std::count(job.thousands.begin(), job.thousands.end(), point) != 0) {
        throw GraphError(fmt::format(
            "--thousands: '{}' is the decimal point{}", point,
            csv.decimal_comma ? "" : "; --decimal-comma says that numbers are written 1.234,5"));
    }
    const bool has_dialect = is_given || csv.decimal_comma || csv.ragged || csv.comment != '\0' ||
                             csv.skip_lines != 0 || !csv.quotes || csv.escape != '\0';
    check_dialect_of_tables(job, has_dialect);
    const bool is_csv = has_dialect || by_name != '\0' || options.no_header;
    const bool is_json = job.format == TableFormat::json ||
                         std::any_of(job.inputs.begin(), job.inputs.end(), [](const auto& path) {
                             return format_by_name(path) == TableFormat::json;
                         });
    if (is_csv && is_json && job.format != TableFormat::csv) {
        throw GraphError(
            options.no_header
                ? "--no-header is for CSV: the members of JSON have names"
                : "--delimiter, --decimal-comma, --comment, --quote, --escape, --skip and --ragged "
                  "are for CSV");
    }
    if (is_csv) job.format = TableFormat::csv;
    if (job.merge_inputs && options.plan->times.empty()) {
        throw GraphError("--merge-inputs merges by time: it is for windows of time");
    }
}

}  // namespace strid::tool
