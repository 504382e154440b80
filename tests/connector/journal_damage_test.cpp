// SPDX-License-Identifier: Apache-2.0
//
// Journals that are torn, damaged, or on a disk that is full.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/state/journal.hpp>

#include "../support/length_limit.hpp"
#include "journal_run.hpp"

namespace strid::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;
using DamagedJournals = JournalsOfTest;

/// Whatever a torn write has left of the last block, the lines before it are there once.
TEST_F(DamagedJournals, ATornEndIsCutOff) {
    {
        LineRun first{lines(), {}};
        for (const char* line : {"one\n", "two\n", "three\n"}) {
            pipe_.write(line);
            first.read();
        }
    }
    const fs::path file = files().front();
    const std::string whole = folder_.read(fs::relative(file, folder_.file("")).string());
    constexpr std::size_t last_block = 12 + 6;
    for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
        for (const bool has_zeros : {false, true}) {
            fs::remove_all(journal().folder);
            fs::create_directory(journal().folder);
            std::string torn = whole.substr(0, bytes);
            // As a file system may show bytes that never reached the disk.
            if (has_zeros) torn.resize(whole.size() + 100, '\0');
            folder_.write("journal/" + file.filename().string(), torn);
            const std::size_t header = 80;
            std::vector<std::string> expected;
            std::size_t end = header;
            for (const char* line : {"one", "two", "three"}) {
                end += 12 + std::string_view(line).size() + 1;
                if (end > bytes) break;
                expected.push_back(std::to_string(expected.size() + 1) + ':' + line);
            }
            if (has_zeros && bytes != 0 && bytes < header) continue;  // a header that is damaged
            std::optional<LineRun> again;
            try {
                again.emplace(lines(), std::nullopt);
            } catch (const InputOutputError& error) {
                // Of a header of a block with zeros behind it nothing says whether it is torn.
                EXPECT_TRUE(has_zeros) << bytes << error.what();
                continue;
            }
            again->read();
            ASSERT_EQ(texts(again->emit), expected) << bytes << " zeros: " << has_zeros;
            pipe_.write("next\n");
            again->read();
            expected.push_back(std::to_string(expected.size() + 1) + ":next");
            ASSERT_EQ(texts(again->emit), expected) << bytes;
            again.reset();
            LineRun third{lines(), {}};
            third.read();
            ASSERT_EQ(texts(third.emit), expected) << bytes;
        }
    }
    EXPECT_EQ(whole.size() - last_block, 80U + 2 * (12 + 4));
}

/// Any bit of a journal that is not in its last block.
TEST_F(DamagedJournals, DamageIsFound) {
    {
        LineRun first{lines(), {}};
        for (const char* line : {"one\n", "two\n", "three\n"}) {
            pipe_.write(line);
            first.read();
        }
    }
    const fs::path file = files().front();
    const std::string name = "journal/" + file.filename().string();
    const std::string whole = folder_.read(name);
    const std::size_t last_text = whole.size() - 6;
    for (std::size_t byte = 0; byte != whole.size(); ++byte) {
        std::string damaged = whole;
        damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << (byte % 8)));
        folder_.write(name, damaged);
        const auto read = [&] {
            LineRun again{lines(), {}};
            again.read();
            return texts(again.emit);
        };
        if (byte >= last_text) {  // as torn
            EXPECT_THAT(read(), ElementsAre("1:one", "2:two")) << byte;
            folder_.write(name, whole);
            continue;
        }
        EXPECT_THAT(message_of<InputOutputError>(read), HasSubstr(file.filename().string()))
            << byte;
    }
    std::string damaged = whole;
    damaged[80 + 12 + 1] = 'N';
    folder_.write(name, damaged);
    EXPECT_THAT(
        message_of<InputOutputError>([&] {
            LineRun{lines(), {}};
        }),
        HasSubstr("the journal is damaged behind byte 80 of the file: a block does not have "
                  "its checksum"));
}

TEST_F(DamagedJournals, WhereThereIsNoRoomNothingIsRead) {
    for (const std::uint64_t room :
         {0, 1, 79, 80, 81, 91, 92, 93, 95, 96, 97, 108, 109, 110, 111}) {
        JournalOptions options = journal();
        options.folder = folder_.file("journal" + std::to_string(room));
        std::optional<LineRun> run;
        run.emplace(lines(options), std::nullopt);
        {
            const LengthLimit limit(room);
            pipe_.write("a\nb\n");
            run->read();
            const bool fits = room >= 80 + 12 + 4;
            EXPECT_EQ(texts(run->emit).size(), fits ? 2U : 0U) << room;
            pipe_.write("c\n");
            run->read();
            run->read();
            ASSERT_EQ(run->warnings.size(), room >= 80 + 12 + 4 + 12 + 2 ? 0U : 1U) << room;
        }
        for (int i = 0; i != 30 && run->emit.records.size() != 3; ++i) run->read();
        const std::vector<std::string> expected{"1:a", "2:b", "3:c"};
        ASSERT_EQ(texts(run->emit), expected) << room;
        run.reset();
        LineRun second{lines(options), {}};
        second.read();
        EXPECT_EQ(texts(second.emit), expected) << room;
    }
}

TEST_F(DamagedJournals, WhereThereIsNoRoomTheRunFailsIfAsked) {
    JournalOptions options = journal();
    options.on_full = OnJournalFull::fail;
    LineRun run{lines(options), {}};
    pipe_.write("a\nb\n");
    const LengthLimit limit(85);
    EXPECT_THAT(message_of<InputOutputError>([&] { run.read(); }),
                HasSubstr("journal: cannot write to the journal: File too large"));
}

}  // namespace
}  // namespace strid::test
