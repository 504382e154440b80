// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/snapshot_folder.hpp>

#include "../support/seeds.hpp"
#include "snapshot_files.hpp"

namespace strid {
namespace {

using test::content_of;
using test::in_another_process;
using test::message_of;
using test::snapshot_of;
using test::stored;
using test::text_of;
using test::write_content;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

namespace fs = std::filesystem;
using SnapshotFolderTest = test::SnapshotsOfTest;

mode_t mode_of(const fs::path& file) {
    struct stat status {};
    return ::stat(file.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

TEST_F(SnapshotFolderTest, AStoredSnapshotIsReadBack) {
    SnapshotFolder folder(path);
    EXPECT_FALSE(folder.newest(warn(), nullptr));
    std::string large(std::size_t{64} << 20, '\0');  // as short as zstd can make it
    large += "the end";
    for (const std::string& state : {std::string(), std::string("short"), large}) {
        const std::uint64_t number = folder.numbers().empty() ? 1 : folder.numbers().back() + 1;
        const Snapshot snapshot = snapshot_of(number, state);
        folder.store(snapshot);
        EXPECT_TRUE(text_of(folder.read(number)) == text_of(stored(snapshot)));
        EXPECT_EQ(text_of(folder.describe(number)), text_of(stored(snapshot).description));
        EXPECT_EQ(folder.file_bytes(number), fs::file_size(file(number)));
        const auto newest = folder.newest(warn(), nullptr);
        ASSERT_TRUE(newest);
        EXPECT_EQ(newest->description.number, number);
    }
    EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(SnapshotFolderTest, AFinishedRunIsReadBack) {
    SnapshotFolder folder(path);
    Snapshot snapshot = snapshot_of(7);
    snapshot.description.is_finished = true;
    for (SnapshotNode& node : snapshot.description.nodes) node.has_ended = true;
    snapshot.states.assign(3, {});
    folder.store(snapshot);
    EXPECT_EQ(text_of(folder.read(7)), text_of(stored(snapshot)));
}

TEST_F(SnapshotFolderTest, AStateInPiecesComesBackWhole) {
    SnapshotFolder folder(path);
    std::mt19937_64 random(7);
    std::vector<std::byte> all;
    Snapshot snapshot = snapshot_of(7);
    StateBytes& state = snapshot.states.front() = StateBytes{};
    for (const std::size_t bytes : {1, 100, 300'000, 65'536, 0, 3}) {
        std::vector<std::byte> piece(bytes);
        // Half of it can be compressed.
        for (std::size_t i = 0; i < bytes; i += 2) piece[i] = static_cast<std::byte>(random());
        all.insert(all.end(), piece.begin(), piece.end());
        state.add(std::move(piece));
    }
    EXPECT_EQ(state.size(), all.size());
    EXPECT_EQ(state.pieces().size(), 5U);
    folder.store(snapshot);
    EXPECT_EQ(folder.read(7).states.front().take(), all);
    EXPECT_TRUE(std::ranges::equal(state.whole(), all));
    EXPECT_EQ(state.pieces().size(), 1U);
}

TEST_F(SnapshotFolderTest, TwoAreKeptAndOtherFilesStay) {
    ASSERT_EQ(::mkdir(path.c_str(), 0755), 0);
    const std::vector<std::string> others = {
        "1.snapshot",           "+000000001.snapshot",          "00000000001.snapshot",
        "0000000001.snapshots", "notes.snapshot.partial",       "0000000001",
        "0000000001.partial",   "99999999999999999999.snapshot"};
    for (const std::string& other : others) write_content(fs::path(path) / other, other);
    SnapshotFolder folder(path);
    for (std::uint64_t number = 1; number != 6; ++number) {
        folder.store(snapshot_of(number));
        std::vector<std::uint64_t> expected = {number - 1, number};
        if (number == 1) expected.erase(expected.begin());
        EXPECT_EQ(folder.numbers(), expected);
    }
    for (const std::string& other : others) {
        EXPECT_EQ(content_of(fs::path(path) / other), other);
    }
    EXPECT_EQ(names().size(), others.size() + 3);  // with the lock
    EXPECT_EQ(mode_of(path), 0755);
}

TEST_F(SnapshotFolderTest, OnlyThisUserMayRead) {
    const mode_t mask = ::umask(0);
    {
        SnapshotFolder folder(path);
        folder.store(snapshot_of(1));
    }
    ::umask(mask);
    EXPECT_EQ(mode_of(path), 0700);
    EXPECT_EQ(mode_of(file(1)), 0600);
    EXPECT_EQ(mode_of(fs::path(path) / "lock"), 0600);
}

TEST_F(SnapshotFolderTest, ASecondWriterIsRefused) {
    {
        SnapshotFolder folder(path);
        const auto open = [this] { SnapshotFolder second(path); };
        const std::string expected = path + ": another run takes its snapshots here";
        EXPECT_EQ(message_of<InputOutputError>(open), expected);
        EXPECT_EQ(in_another_process(
                      [&] { return message_of<InputOutputError>(open) == expected ? 7 : 8; }),
                  7);
        folder.store(snapshot_of(1));
    }
    const SnapshotFolder next(path);
    EXPECT_THAT(next.numbers(), ElementsAre(1));
}

TEST_F(SnapshotFolderTest, ReadersNeedNoLock) {
    EXPECT_THAT(message_of<InputOutputError>([this] { SnapshotFiles files(path); }),
                HasSubstr("state: cannot open the folder of snapshots: No such file"));
    EXPECT_FALSE(fs::exists(path));
    ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
    const SnapshotFiles files(path);
    EXPECT_FALSE(files.was_used());
    SnapshotFolder folder(path);
    EXPECT_TRUE(files.was_used());
    EXPECT_THAT(files.numbers(), IsEmpty());
    folder.store(snapshot_of(1));
    EXPECT_EQ(text_of(files.read(1)), text_of(stored(snapshot_of(1))));
    folder.store(snapshot_of(2));
    folder.store(snapshot_of(3));
    EXPECT_THAT(files.numbers(), ElementsAre(2, 3));
    EXPECT_THAT(message_of<InputOutputError>([&] { (void)files.read(1); }),
                HasSubstr("0000000001.snapshot: cannot open the snapshot: No such file"));
}

TEST_F(SnapshotFolderTest, ADamagedOneIsPassedOver) {
    SnapshotFolder folder(path);
    folder.store(snapshot_of(5, "the fifth"));
    folder.store(snapshot_of(6));
    std::string content = content_of(file(6));
    content[content.size() - 1] = static_cast<char>(content[content.size() - 1] ^ 1);
    write_content(file(6), content);
    const auto newest = folder.newest(warn(), nullptr);
    ASSERT_TRUE(newest);
    EXPECT_EQ(text_of(*newest), text_of(stored(snapshot_of(5, "the fifth"))));
    EXPECT_THAT(warnings,
                ElementsAre(AllOf(StartsWith(file(6).string()),
                                  HasSubstr("the snapshot is damaged: a block does not have its "
                                            "checksum; the snapshot before it is taken"))));
    // The one that is whole is what the next run may fall back to.
    folder.store(snapshot_of(7));
    EXPECT_THAT(folder.numbers(), ElementsAre(5, 7));
    folder.store(snapshot_of(8));
    EXPECT_THAT(folder.numbers(), ElementsAre(7, 8));
}

TEST_F(SnapshotFolderTest, WithoutAWholeOneNothingIsRemoved) {
    SnapshotFolder folder(path);
    folder.store(snapshot_of(1));
    folder.store(snapshot_of(2));
    write_content(file(1), "strid snapshot 4\n");
    write_content(file(2), "");
    EXPECT_THAT(message_of<StateError>([&] { (void)folder.newest(warn(), nullptr); }),
                AllOf(HasSubstr("0000000001.snapshot: the snapshot is cut"),
                      HasSubstr("take another folder")));
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("0000000002.snapshot: the snapshot is cut")));
    EXPECT_THAT(folder.numbers(), ElementsAre(1, 2));
}

TEST_F(SnapshotFolderTest, OneThatNoRunCanGoOnFromIsPassedOver) {
    {
        SnapshotFolder folder(path);
        for (const std::uint64_t number : {4U, 5U, 6U}) folder.store(snapshot_of(number));
    }
    SnapshotFolder folder(path);
    std::uint64_t whole = 0;
    const auto fault_of = [&](const SnapshotDescription& found) {
        return found.number <= whole ? "" : "the checkpoint " + std::to_string(found.number);
    };
    EXPECT_THAT(message_of<StateError>([&] { (void)folder.newest(warn(), fault_of); }),
                AllOf(StartsWith(file(5).string() + ": the checkpoint 5; there is no other one")));
    whole = 5;
    warnings.clear();
    const auto newest = folder.newest(warn(), fault_of);
    ASSERT_TRUE(newest);
    EXPECT_EQ(newest->description.number, 5U);
    EXPECT_THAT(warnings, ElementsAre(file(6).string() +
                                      ": the checkpoint 6; the snapshot before it is taken"));
    // It is the one to fall back to, and not the one in between.
    folder.store(snapshot_of(7));
    EXPECT_THAT(folder.numbers(), ElementsAre(5, 7));
}

TEST_F(SnapshotFolderTest, OtherFilesThanSnapshotsAreRefused) {
    SnapshotFolder folder(path);
    folder.store(snapshot_of(1));
    const std::string elsewhere = parent.file("elsewhere");
    fs::copy_file(file(1), elsewhere);
    const auto fault_of = [&](std::uint64_t number) {
        EXPECT_THROW((void)folder.describe(number), StateError);
        return message_of<StateError>([&] { (void)folder.read(number); });
    };
    fs::create_symlink(elsewhere, file(2));
    EXPECT_EQ(fault_of(2), "it is a link, where a file is expected");
    ASSERT_EQ(::mkfifo(file(3).c_str(), 0600), 0);
    EXPECT_EQ(fault_of(3), "it is no file");
    fs::create_directory(file(4));
    EXPECT_EQ(fault_of(4), "it is no file");
    fs::rename(elsewhere, file(5));
    EXPECT_EQ(fault_of(5), "it has another number inside");
    std::string content = content_of(file(1));
    content[content.find('\n') - 1] = '9';
    write_content(file(6), content);
    EXPECT_EQ(fault_of(6), "it is no snapshot that this version of Strid can read");
    const auto newest = folder.newest(warn(), nullptr);
    ASSERT_TRUE(newest);
    EXPECT_EQ(newest->description.number, 1U);
    EXPECT_EQ(warnings.size(), 5U);
    fs::remove(fs::path(path) / "lock");
    fs::create_symlink(parent.file("made"), fs::path(path) / "lock");
    EXPECT_THAT(message_of<InputOutputError>([this] { SnapshotFolder second(path); }),
                HasSubstr("cannot write to the folder of snapshots"));
    EXPECT_FALSE(fs::exists(parent.file("made")));
}

TEST_F(SnapshotFolderTest, LeftoversAreReplaced) {
    write_content(parent.file("precious"), "content");
    SnapshotFolder folder(path);
    for (const std::uint64_t number : {1U, 2U}) {
        fs::create_symlink(parent.file("precious"), file(number).string() + ".partial");
        folder.store(snapshot_of(number));
    }
    EXPECT_EQ(content_of(parent.file("precious")), "content");
    EXPECT_THAT(names(), ElementsAre("0000000001.snapshot", "0000000002.snapshot", "lock"));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(file(2))));
}

TEST_F(SnapshotFolderTest, AKilledProcessLeavesWholeSnapshots) {
    std::mt19937_64 random{test::first_seed()};
    std::string state;
    for (int i = 0; i != 1 << 18; ++i) state.push_back(static_cast<char>(random()));
    SnapshotFolder(path).store(snapshot_of(1, state));
    const auto begun = std::chrono::steady_clock::now();
    SnapshotFolder(path).store(snapshot_of(2, state));
    const auto one = std::chrono::steady_clock::now() - begun;
    const auto several_us = static_cast<std::uint64_t>(one / std::chrono::microseconds(1)) * 4 + 1;
    std::uint64_t before = 2;
    for (int i = 0; i != 20; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            SnapshotFolder folder(path);
            for (std::uint64_t number = before + 1;; ++number) {
                folder.store(snapshot_of(number, state));
            }
        }
        ::usleep(static_cast<useconds_t>(random() % several_us));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        SnapshotFolder folder(path);
        const auto newest = folder.newest(warn(), nullptr);
        if (newest) {
            const std::uint64_t number = newest->description.number;
            ASSERT_TRUE(text_of(*newest) == text_of(stored(snapshot_of(number, state))));
            ASSERT_GE(number, before);
            before = number;
        }
        // Each process may be killed before it has removed the oldest.
        ASSERT_LE(folder.numbers().size(), 3U + static_cast<std::size_t>(i));
        ASSERT_EQ(names().size(), folder.numbers().size() + 1);
    }
    SnapshotFolder folder(path);
    folder.store(snapshot_of(before + 1));
    EXPECT_EQ(folder.numbers().size(), 2U);
    EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(SnapshotFolderTest, OneThatIsRemovedIsGone) {
    SnapshotFolder folder(path);
    folder.store(snapshot_of(1));
    folder.store(snapshot_of(2));
    folder.remove(2);
    EXPECT_THAT(folder.numbers(), ElementsAre(1));
    EXPECT_THAT(message_of<InputOutputError>([&] { folder.remove(2); }),
                HasSubstr("0000000002.snapshot: cannot be removed: No such file"));
    folder.store(snapshot_of(3));
    EXPECT_THAT(folder.numbers(), ElementsAre(1, 3));
}

}  // namespace
}  // namespace strid
