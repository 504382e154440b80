// SPDX-License-Identifier: Apache-2.0
//
// Journals of pipes: a run reads again, once, what the run before it has read behind a snapshot.
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/connector/text_lines.hpp>
#include <strid/operator/run_scope.hpp>
#include <strid/state/journal.hpp>

#include "journal_run.hpp"

namespace strid::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;
using Journals = JournalsOfTest;

TEST_F(Journals, ARunGoesOnBehindItsSnapshot) {
    std::optional<LineRun::Kept> kept;
    {
        LineRun first{lines(), {}};
        pipe_.write("a\nb\n");
        first.read();
        kept = first.snapshot();
        pipe_.write("c\nd\n");
        first.read();
        EXPECT_THAT(texts(first.emit), ElementsAre("1:a", "2:b", "3:c", "4:d"));
    }
    LineRun second{lines(), kept};
    pipe_.write("e\n");
    second.read();
    EXPECT_THAT(texts(second.emit), ElementsAre("3:c", "4:d", "5:e"));
    EXPECT_THAT(names(), ElementsAre("000000-00000000000000000000.journal",
                                     "000000-00000000000000000008.journal"));
    const JournalFigures figures = read_journal(journal().folder);
    EXPECT_EQ(figures.lines, 5U);
    EXPECT_EQ(figures.line_bytes, 10U);
    EXPECT_EQ(figures.bytes, 10U);
}

TEST_F(Journals, WithoutASnapshotAllIsReadAgain) {
    for (int run = 0; run != 3; ++run) {
        LineRun again{lines(), {}};
        pipe_.write(std::to_string(run) + '\n');
        again.read();
        std::vector<std::string> expected;
        for (int i = 0; i <= run; ++i) {
            expected.push_back(std::to_string(i + 1) + ':' + std::to_string(i));
        }
        EXPECT_EQ(texts(again.emit), expected);
    }
}

TEST_F(Journals, TheFolderIsOfOneUserAndOneSource) {
    LineRun first{lines(), {}};
    pipe_.write("a\n");
    first.read();
    constexpr auto all = fs::perms::mask;
    EXPECT_EQ(fs::status(journal().folder).permissions() & all, fs::perms::owner_all);
    EXPECT_EQ(fs::status(files().front()).permissions() & all,
              fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_THAT(message_of<InputOutputError>([&] {
                    LineRun{lines(), {}};
                }),
                HasSubstr("journal: another source has its journal here"));
}

TEST_F(Journals, AreOfPipesInRunsWithSnapshots) {
    auto alone = lines();
    EXPECT_THAT(message_of<GraphError>([&] { test::open(alone); }),
                HasSubstr("a journal is of a run that takes snapshots, and this one takes none"));
    RunScope without;
    auto second = lines();
    const Context context{.name = {}, .run = &without};
    EXPECT_THAT(message_of<GraphError>([&] { test::open(second, context); }),
                HasSubstr("takes none"));
    const std::string file = folder_.write("file.csv", "1\n");
    EXPECT_THAT(message_of<GraphError>([&] {
                    LineRun{text_lines(file, {.journal = journal()}), {}};
                }),
                HasSubstr("file.csv: a file can be read once more, and needs no journal"));
    EXPECT_THAT(message_of<GraphError>([&] {
                    CsvFile<std::tuple<int>>({pipe_.path(), file}, {.journal = journal()});
                }),
                HasSubstr("a journal is of one input, and there are 2"));
    EXPECT_FALSE(fs::exists(journal().folder));
}

TEST_F(Journals, AnUnfinishedLineIsSentAgainOrGoesOn) {
    for (const bool whole_lines : {true, false}) {
        JournalOptions options = journal();
        options.folder = folder_.file(whole_lines ? "whole" : "joined");
        options.whole_lines = whole_lines;
        {
            LineRun first{lines(options), {}};
            pipe_.write("one\ntw");
            first.read();
            EXPECT_THAT(texts(first.emit), ElementsAre("1:one"));
        }
        const JournalFigures figures = read_journal(options.folder);
        EXPECT_EQ(figures.lines, 1U);
        EXPECT_EQ(figures.line_bytes, 4U);
        EXPECT_EQ(figures.bytes, 6U);
        LineRun second{lines(options), {}};
        pipe_.write(whole_lines ? "two\n" : "o\n");
        second.read();
        EXPECT_THAT(texts(second.emit), ElementsAre("1:one", "2:two"));
    }
}

int client_of(const std::string& path) {
    ::sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(::connect(client, reinterpret_cast<const ::sockaddr*>(&address), sizeof address), 0);
    return client;
}

TEST_F(Journals, ALongLineThatAClientHasBegunIsDropped) {
    JournalOptions options = journal();
    options.acknowledges = true;
    const std::string path = folder_.file("socket");
    LineRun run{text_lines("unix-listen://" + path, {.journal = options}), {}};
    run.read();
    int client = client_of(path);
    const std::string begun(4096, 'x');
    ASSERT_EQ(::send(client, "a\n", 2, 0), 2);
    run.read();
    for (int i = 0; i != 300; ++i) {
        ASSERT_EQ(::send(client, begun.data(), begun.size(), 0), 4096);
        run.read();
    }
    ::close(client);
    run.read();
    client = client_of(path);
    ASSERT_EQ(::send(client, "b\n", 2, 0), 2);
    for (int i = 0; i != 10; ++i) run.read();
    ::close(client);
    EXPECT_THAT(texts(run.emit), ElementsAre("1:a", "2:b"));
}

TEST_F(Journals, AServerThatReadsNoAcknowledgementsEndsTheStream) {
    JournalOptions options = journal();
    options.acknowledges = true;
    const std::string path = folder_.file("socket");
    const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ::sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    ASSERT_EQ(::bind(server, reinterpret_cast<const ::sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(server, 1), 0);
    LineRun run{text_lines("unix://" + path, {.journal = options}), {}};
    run.read();
    const int peer = ::accept(server, nullptr, nullptr);
    ASSERT_EQ(::send(peer, "a\n", 2, 0), 2);
    for (int i = 0; i != 10; ++i) run.read();
    ::close(peer);  // with what it was sent: a reset
    for (int i = 0; i != 10 && !run.ended; ++i) run.read();
    ::close(server);
    EXPECT_TRUE(run.ended);
    EXPECT_THAT(texts(run.emit), ElementsAre("1:a"));
}

TEST_F(Journals, FilesBehindTheSnapshotsAreRemoved) {
    JournalOptions options = journal();
    options.file_bytes = 1;  // a file for each chunk
    std::vector<LineRun::Kept> kept;
    {
        LineRun run{lines(options), {}};
        for (int i = 0; i != 6; ++i) {
            pipe_.write("line " + std::to_string(i) + '\n');
            run.read();
            kept.push_back(run.snapshot());
        }
        // The first two have the head: of an input its first four bytes are a chunk. Snapshot 6 is
        // stored, which this run does not see before its next snapshot: 5 and 4 may be gone on
        // with.
        EXPECT_THAT(names(), ElementsAre("000000-00000000000000000000.journal",
                                         "000000-00000000000000000004.journal",
                                         "000000-00000000000000000028.journal",
                                         "000000-00000000000000000035.journal"));
    }
    {
        LineRun before_last{lines(options), kept[4]};
        before_last.read();
        EXPECT_THAT(texts(before_last.emit), ElementsAre("6:line 5"));
    }
    {
        LineRun too_old{lines(options), kept[1]};
        EXPECT_THAT(message_of<InputOutputError>([&] { too_old.read(); }),
                    HasSubstr("the journal does not have bytes 14 to 28 of the input"));
    }
    LineRun lost{lines(options), {}};
    EXPECT_THAT(message_of<InputOutputError>([&] { lost.read(); }),
                HasSubstr("it goes on from a snapshot that this run does not have"));
}

/// A chain of snapshots keeps the one before it to fall back to.
TEST_F(Journals, FilesAreKeptAsFarAsTheOldestSnapshotNeedsThem) {
    JournalOptions options = journal();
    options.file_bytes = 1;
    std::vector<LineRun::Kept> kept;
    {
        LineRun run{lines(options), {}};
        for (std::uint64_t i = 0; i != 6; ++i) {
            pipe_.write("line " + std::to_string(i) + '\n');
            run.read();
            kept.push_back(run.snapshot(i < 2 ? i : 2));
        }
    }
    {
        LineRun oldest{lines(options), kept[1]};
        oldest.read();
        EXPECT_THAT(texts(oldest.emit),
                    ElementsAre("3:line 2", "4:line 3", "5:line 4", "6:line 5"));
    }
    LineRun too_old{lines(options), kept[0]};
    EXPECT_THAT(message_of<InputOutputError>([&] { too_old.read(); }),
                HasSubstr("the journal does not have bytes 7 to 14 of the input"));
}

/// The last file has no line's end, and the one with the line before it is removed.
TEST_F(Journals, AnUnfinishedLineIsCutOffBehindFilesThatAreRemoved) {
    JournalOptions options = journal();
    options.file_bytes = 1;
    std::optional<LineRun::Kept> kept;
    {
        LineRun run{lines(options), {}};
        for (int i = 0; i != 6; ++i) {
            pipe_.write("line " + std::to_string(i) + '\n');
            run.read();
            kept = run.snapshot();
        }
        pipe_.write("lin");
        run.read();
        run.snapshot();
        run.snapshot();
        kept = run.snapshot();
    }
    EXPECT_THAT(names(), ElementsAre("000000-00000000000000000000.journal",
                                     "000000-00000000000000000004.journal",
                                     "000000-00000000000000000042.journal"));
    const JournalFigures figures = read_journal(options.folder);
    EXPECT_EQ(figures.lines, 6U);
    EXPECT_EQ(figures.line_bytes, 42U);
    EXPECT_EQ(figures.bytes, 45U);
    LineRun second{lines(options), kept};
    pipe_.write("line 6\n");
    second.read();
    EXPECT_THAT(texts(second.emit), ElementsAre("7:line 6"));
}

TEST_F(Journals, ASnapshotThatIsNotStoredNeedsItsPredecessors) {
    JournalOptions options = journal();
    options.file_bytes = 1;
    LineRun run{lines(options), {}};
    for (int i = 0; i != 6; ++i) {
        pipe_.write("line\n");
        run.read();
        run.source.on(SnapshotBegins{++run.number});
    }
    EXPECT_EQ(files().size(), 7U);
}

TEST_F(Journals, AStreamThatHasEndedLeavesNone) {
    LineRun run{lines(), {}};
    pipe_.write("a\n");
    run.read();
    EXPECT_EQ(files().size(), 1U);
    pipe_.end();
    for (int i = 0; i != 100 && !run.ended; ++i) run.read();
    EXPECT_TRUE(run.ended);
    EXPECT_EQ(files().size(), 1U);
    run.scope->commit();
    EXPECT_EQ(files().size(), 1U);  // a run may go on from here
    run.scope->finish();
    EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Journals, ARestartLeavesTheOldOneUntilItHasSnapshots) {
    std::optional<LineRun::Kept> old;
    {
        LineRun first{lines(), {}};
        pipe_.write("old\n");
        first.read();
        old = first.snapshot();
    }
    {
        LineRun anew{lines(), {}, true};
        pipe_.write("new\n");
        anew.read();
        EXPECT_THAT(texts(anew.emit), ElementsAre("1:new"));
        EXPECT_EQ(files().size(), 2U);
    }
    {  // it had stored no snapshot: the old one stands
        LineRun second{lines(), old};
        second.read();
        EXPECT_THAT(texts(second.emit), IsEmpty());
        EXPECT_THAT(names(), ElementsAre("000000-00000000000000000000.journal"));
    }
    LineRun anew{lines(), {}, true};
    pipe_.write("new\n");
    anew.read();
    anew.snapshot();
    anew.snapshot();
    EXPECT_EQ(files().size(), 2U);
    anew.snapshot();  // two of its own are stored
    EXPECT_THAT(names(), ElementsAre("000001-00000000000000000000.journal"));
}

TEST_F(Journals, AnotherJournalIsRefused) {
    std::optional<LineRun::Kept> kept;
    {
        LineRun first{lines(), {}};
        pipe_.write("a\n");
        first.read();
        kept = first.snapshot();
    }
    fs::remove_all(journal().folder);
    EXPECT_THAT(message_of<InputOutputError>([&] {
                    LineRun{lines(), kept};
                }),
                HasSubstr("journal: is not the journal of the snapshot, or its files are gone"));
    EXPECT_THAT(message_of<InputOutputError>([&] {
                    LineRun{text_lines(pipe_.path()), kept};
                }),
                HasSubstr("came by a journal before the snapshot"));
}

/// The power was lost: the text before a snapshot was not on the disk.
TEST_F(Journals, ASnapshotMayBeAheadOfTheJournal) {
    std::optional<LineRun::Kept> kept;
    std::string early;
    const std::string name = "journal/000000-00000000000000000000.journal";
    {
        LineRun first{lines(), {}};
        pipe_.write("a\nb\n");
        first.read();
        early = folder_.read(name);
        pipe_.write("c\nd\n");
        first.read();
        kept = first.snapshot();
    }
    folder_.write(name, early);
    for (int run = 0; run != 2; ++run) {
        LineRun second{lines(), kept};
        if (run == 0) pipe_.write("e\n");
        second.read();
        EXPECT_THAT(texts(second.emit), ElementsAre("5:e"));
    }
}

}  // namespace
}  // namespace strid::test
