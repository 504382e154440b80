// SPDX-License-Identifier: Apache-2.0
//
// Journals of each format, by random texts in random chunks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <strid/connector/csv_file.hpp>
#include <strid/connector/json_lines.hpp>
#include <strid/connector/text_lines.hpp>
#include <strid/state/journal.hpp>

#include "../support/folder.hpp"
#include "../support/seeds.hpp"
#include "journal_run.hpp"

namespace strid::test {
namespace {

struct Reading {
    std::string key;
    int value;
    friend bool operator==(const Reading&, const Reading&) = default;
};

/// Random texts, killed and gone on with at random places, some of which fall back by a snapshot:
/// the records are those of a file with the same text.
template <class Make>
void goes_on_by_journal(const std::string& text, const Make& make, bool has_lines = true) {
    constexpr std::size_t bytes_at_once = 80;
    Folder files;
    using Source = decltype(make(std::string{}, JournalOptions{}));
    using Runs = JournalRun<Source>;
    const auto expected = drain(make(files.write("whole", text), {}));
    for (const std::uint64_t seed : seeds(20)) {
        std::mt19937_64 random{seed};
        Folder folder;
        const Pipe pipe(folder);
        JournalOptions options{
            .folder = folder.file("journal"),
            .sync = seed % 10 == 0 ? JournalSync::each_chunk : JournalSync::never,
            .whole_lines = has_lines && random() % 2 == 0,
            .file_bytes = 1 + random() % 400};
        std::vector<typename Source::record_type> records;
        std::vector<std::pair<typename Runs::Kept, std::size_t>> kept;  // with the records before
        std::size_t written = 0;
        for (int life = 0; life != 1000; ++life) {
            std::optional<typename Runs::Kept> from;
            if (kept.size() > 1 && random() % 4 == 0) kept.pop_back();  // it was damaged
            if (!kept.empty()) {
                from = kept.back().first;
                records.resize(kept.back().second);
            } else {
                records.clear();
            }
            // The producer goes on behind the accepted text.
            if (life != 0) {
                const JournalFigures figures = read_journal(options.folder);
                written = options.whole_lines ? figures.line_bytes : figures.bytes;
                std::string rest(1 << 16, '\0');
                const int in = ::open(pipe.path().c_str(), O_RDONLY | O_NONBLOCK);
                while (::read(in, rest.data(), rest.size()) > 0) {
                }
                ::close(in);
            }
            Runs run{make(pipe.path(), options), from};
            run.number = static_cast<std::uint64_t>(life) * 100;
            const std::size_t begin = records.size();
            std::size_t steps = 1 + random() % 12;
            while (steps-- != 0) {
                const std::size_t bytes =
                    std::min<std::size_t>(text.size() - written, random() % bytes_at_once);
                pipe.write(std::string_view(text).substr(written, bytes));
                written += bytes;
                if (bytes != 0 || run.emit.records.empty()) run.read(1 + random() % 5);
                records.resize(begin);
                for (const auto& record : run.emit.records) records.push_back(record);
                if (random() % 5 == 0) {
                    kept.emplace_back(run.snapshot(), records.size());
                    if (kept.size() > 2) kept.erase(kept.begin());
                }
            }
            if (records.size() == expected.records.size() && written == text.size()) break;
        }
        ASSERT_EQ(records, expected.records) << "seed " << seed;
    }
}

std::string csv_text(std::mt19937_64& random, bool has_header) {
    std::string text = has_header ? "value,other,key\n" : "";
    for (int i = 0; i != 60; ++i) {
        const std::string number = std::to_string(i);
        const bool is_quoted = random() % 5 == 0;
        text += number + ",x," + (is_quoted ? "\"a\nb\"\"" + number + "\"" : "k" + number) + '\n';
        if (random() % 10 == 0) text += '\n';
    }
    return text;
}

TEST(JournalsOfFormats, CsvWithAHeader) {
    std::mt19937_64 random{1};
    goes_on_by_journal(csv_text(random, true), [](std::string path, JournalOptions options) {
        return csv_file<Reading>(
            std::move(path),
            {.columns = {"key", "value"}, .quoted_lines_max = 100, .journal = std::move(options)});
    });
}

TEST(JournalsOfFormats, CsvByNumbers) {
    std::mt19937_64 random{2};
    goes_on_by_journal(csv_text(random, false), [](std::string path, JournalOptions options) {
        return csv_file<Reading>(std::move(path),
                                 {.columns = {3, 1}, .journal = std::move(options)});
    });
}

TEST(JournalsOfFormats, JsonLinesAndDocuments) {
    std::string lines;
    std::string documents = "[";
    for (int i = 0; i != 60; ++i) {
        const std::string number = std::to_string(i);
        const std::string object = R"({"key": "k)" + number + R"(", "value": )" + number + '}';
        lines += object + '\n';
        if (i % 7 == 0) lines += '\n';
        documents += (i == 0 ? "" : ",\n ") + object;
    }
    documents += "]\n";
    const auto make = [](std::string path, JournalOptions options) {
        return json_lines<Reading>(std::move(path),
                                   {.members = {"key", "value"}, .journal = std::move(options)});
    };
    goes_on_by_journal(lines, make);
    goes_on_by_journal(documents, make, false);
}

/// Lines by their numbers, some of which are too long and refused.
TEST(JournalsOfFormats, LinesThatAreTooLong) {
    std::string text;
    std::vector<std::string> expected;
    for (int i = 0; i != 40; ++i) {
        const bool is_long = i % 5 == 3;
        const std::string line(is_long ? 90 + i : i % 7, static_cast<char>('a' + i % 26));
        text += line + '\n';
        if (!is_long) expected.push_back(std::to_string(i + 1) + ':' + line);
    }
    for (const std::uint64_t seed : seeds(20)) {
        std::mt19937_64 random{seed};
        Folder folder;
        const Pipe pipe(folder);
        const TextLinesOptions options{.on_malformed = OnMalformed::skip,
                                       .text = {.chunk_bytes = 32, .line_bytes_max = 64},
                                       .journal = {.folder = folder.file("journal"),
                                                   .sync = JournalSync::never,
                                                   .whole_lines = false,
                                                   .file_bytes = 1 + random() % 100}};
        std::vector<std::string> found;
        std::uint64_t malformed = 0;
        std::optional<LineRun::Kept> kept;
        std::size_t written = 0;
        while (written != text.size()) {
            LineRun run{text_lines(pipe.path(), options), kept};
            for (std::size_t steps = random() % 8; steps != 0; --steps) {
                const auto bytes = std::min<std::size_t>(text.size() - written, random() % 50);
                pipe.write(std::string_view(text).substr(written, bytes));
                written += bytes;
                run.read(1 + random() % 3);
            }
            kept = run.snapshot();
            for (const Line& line : run.emit.records) {
                found.push_back(std::to_string(line.number) + ':' + std::string(line.text));
            }
            malformed += run.emit.malformed;
        }
        ASSERT_EQ(found, expected) << "seed " << seed;
        ASSERT_EQ(malformed, 8U) << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid::test
