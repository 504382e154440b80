// SPDX-License-Identifier: Apache-2.0
//
// Journals of files that are followed: a run goes on in the file where the journal ends.
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <strid/base/error.hpp>
#include <strid/connector/byte_reader.hpp>
#include <strid/connector/text_lines.hpp>

#include "journal_run.hpp"

namespace strid::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

/// Lines come into a file that is followed, also while no run lives.
class JournalsOfFollowed : public JournalsOfTest {
  protected:
    void append(const std::string& name, std::string_view text) const {
        std::ofstream(folder_.file(name), std::ios::app) << text;
    }
    void rename(const std::string& from, const std::string& to) const {
        fs::rename(folder_.file(from), folder_.file(to));
    }
    [[nodiscard]] TextLines lines() const {
        return text_lines("follow:" + folder_.file("log"), {.journal = journal()});
    }
    /// Until the run has so many lines.
    static void read(LineRun& run, std::size_t lines) {
        for (int i = 0; i != 500 && run.emit.records.size() < lines; ++i) run.read();
    }
};

TEST_F(JournalsOfFollowed, TheFileIsReadOnWhereItWas) {
    append("log", "a\nb\nunfin");
    std::optional<LineRun::Kept> kept;
    {
        LineRun first{lines(), {}};
        read(first, 2);
        kept = first.snapshot();
        append("log", "ished\nc\n");
        read(first, 4);
    }
    append("log", "d\n");
    {
        LineRun second{lines(), kept};
        read(second, 3);
        second.read();
        EXPECT_THAT(texts(second.emit), ElementsAre("3:unfinished", "4:c", "5:d"));
        EXPECT_THAT(second.warnings, IsEmpty());
    }
    fs::remove_all(folder_.file("journal"));
    LineRun anew{lines(), {}};
    read(anew, 5);
    EXPECT_THAT(texts(anew.emit), ElementsAre("1:a", "2:b", "3:unfinished", "4:c", "5:d"));
}

TEST_F(JournalsOfFollowed, AFileThatHasAnotherNameIsReadToItsEnd) {
    append("log", "a\nb\n");
    {
        LineRun first{lines(), {}};
        read(first, 2);
        append("log", "c\n");
        rename("log", "log.1");
        append("log", "d\n");
        read(first, 4);
        EXPECT_THAT(texts(first.emit), ElementsAre("1:a", "2:b", "3:c", "4:d"));
    }
    append("log", "e\nf");
    rename("log", "log.2");
    append("log", "g\n");
    {
        LineRun second{lines(), {}};
        read(second, 7);
        EXPECT_THAT(texts(second.emit),
                    ElementsAre("1:a", "2:b", "3:c", "4:d", "5:e", "6:f", "7:g"));
    }
    fs::remove(folder_.file("log"));
    append("log", "h\n");
    struct statx status {};
    ASSERT_EQ(::statx(AT_FDCWD, folder_.file("log").c_str(), 0, STATX_BTIME, &status), 0);
    if ((status.stx_mask & STATX_BTIME) == 0) return;  // both may have one number
    LineRun third{lines(), {}};
    read(third, 8);
    EXPECT_EQ(texts(third.emit).back(), "8:h");
    EXPECT_THAT(third.warnings,
                ElementsAre(HasSubstr("journal: the file that was followed is gone: "
                                      "what it had behind byte 2 is not read")));
}

TEST_F(JournalsOfFollowed, AFileThatIsShorterIsReadFromItsBeginning) {
    append("log", "a\nb\nc\n");
    {
        LineRun first{lines(), {}};
        read(first, 3);
    }
    fs::resize_file(folder_.file("log"), 2);
    LineRun second{lines(), {}};
    read(second, 4);
    EXPECT_THAT(texts(second.emit), ElementsAre("1:a", "2:b", "3:c", "4:a"));
    EXPECT_THAT(second.warnings,
                ElementsAre(HasSubstr("the file that was followed is shorter than the 6 bytes that "
                                      "the journal has of it; it is read from its beginning")));
}

/// Only an input begins with the magic number of its format.
TEST_F(JournalsOfFollowed, ALineInTheMiddleIsNoMagicNumber) {
    append("log", "a line that is longer than a magic number\n");
    {
        LineRun first{lines(), {}};
        read(first, 1);
    }
    append("log", "PAR1 is the name of a sensor\n");
    LineRun second{lines(), {}};
    read(second, 2);
    EXPECT_EQ(texts(second.emit).back(), "2:PAR1 is the name of a sensor");
}

/// A file system may be mounted under another number.
TEST_F(JournalsOfFollowed, TheNumberOfTheDeviceMayChange) {
    append("log", "a\nb\n");
    const std::string path = "follow:" + folder_.file("log");
    ByteReader::FilePlace place = ByteReader(path).followed_place().value();
    place.bytes = 2;
    place.device += 1;
    ByteReader reader(path);
    ASSERT_TRUE(reader.follow_from(place));
    std::array<char, 64> text{};
    EXPECT_EQ(reader.read(text, 100).bytes, 2U);
    EXPECT_EQ(std::string_view(text.data(), 2), "b\n");
}

TEST_F(JournalsOfFollowed, AFileThatIsCompressedHasNone) {
    append("plain", "a\nb\n");
    ASSERT_TRUE(shell("gzip -c " + folder_.file("plain") + " > " + folder_.file("log")));
    LineRun run{lines(), {}};
    EXPECT_THAT(message_of<InputOutputError>([&] { run.read(); }),
                HasSubstr("log: a file that is followed is journalled as it stands only"));
}

}  // namespace
}  // namespace strid::test
