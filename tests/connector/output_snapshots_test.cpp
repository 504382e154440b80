// SPDX-License-Identifier: Apache-2.0
//
// Files that a run with snapshots writes: rows that come behind a snapshot wait for the other
// users, and the next run goes on exactly where the snapshot was.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/base/error.hpp>
#include <strid/connector/output_file.hpp>
#include <strid/operator/run_scope.hpp>

#include "../support/folder.hpp"

namespace strid {
namespace {

using testing::HasSubstr;

std::string contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A run, which ends without its results having their names unless it is committed.
struct SnapshotRun {
    explicit SnapshotRun(RunScope::Prepared before = {}) {
        scope.go_on_with(std::move(before), {});
    }
    RunScope scope;
};

class OutputSnapshots : public testing::Test {
  protected:
    [[nodiscard]] std::string path() const { return folder_.file("out.csv"); }
    /// The one file beside it.
    [[nodiscard]] std::filesystem::path unfinished() const {
        std::vector<std::filesystem::path> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder())) {
            if (entry.path().extension() == ".strid-unfinished") found.push_back(entry.path());
        }
        EXPECT_EQ(found.size(), 1U);
        return found.empty() ? std::filesystem::path() : found.front();
    }
    [[nodiscard]] std::filesystem::path folder() const { return folder_.file(""); }

  private:
    test::Folder folder_;
};

TEST_F(OutputSnapshots, RowsBehindASnapshotWaitForTheOtherUsers) {
    RunScope::Prepared at_snapshot;
    {
        SnapshotRun run;
        auto file = std::make_shared<OutputFile>(path());
        file->open("head\n", &run.scope);
        file->open("head\n", &run.scope);
        file->append("a1\n", 0);
        file->begin_snapshot(1);
        file->append("a2\n", 1);  // of the first user, behind the snapshot
        file->append("b1\n", 0);  // of the second, before it
        EXPECT_EQ(contents(unfinished()), "head\na1\nb1\n");
        file->begin_snapshot(1);
        at_snapshot = run.scope.prepare(1);
        file->append("b2\n", 1);
        EXPECT_EQ(contents(unfinished()), "head\na1\nb1\na2\nb2\n");
        file->abandon();
        file->abandon();
    }
    EXPECT_FALSE(std::filesystem::exists(path()));
    SnapshotRun next{at_snapshot};
    auto file = std::make_shared<OutputFile>(path());
    file->open("head\n", &next.scope);
    EXPECT_EQ(contents(unfinished()), "head\na1\nb1\n");
    file->append("a2\n", 0);
    file->close(0);
    next.scope.commit();
    EXPECT_EQ(contents(path()), "head\na1\nb1\na2\n");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 1);
}

TEST_F(OutputSnapshots, AUserThatHasClosedHasAllItsRowsInASnapshot) {
    RunScope::Prepared prepared;
    {
        SnapshotRun run;
        auto file = std::make_shared<OutputFile>(path());
        file->open({}, &run.scope);
        file->open({}, &run.scope);
        file->append("a\n", 0);
        file->begin_snapshot(5);
        file->append("behind\n", 5);
        file->append("b\n", 0);
        file->close(0);  // the second one, before the snapshot
        prepared = run.scope.prepare(5);
        file->close(5);
    }
    EXPECT_EQ(contents(unfinished()), "a\nb\nbehind\n");
    SnapshotRun next{std::move(prepared)};
    auto again = std::make_shared<OutputFile>(path());
    again->open({}, &next.scope);
    EXPECT_EQ(contents(unfinished()), "a\nb\n");
    again->abandon();
}

TEST_F(OutputSnapshots, TheEndHasAllRows) {
    RunScope::Prepared at_end;
    {
        SnapshotRun run;
        auto file = std::make_shared<OutputFile>(path());
        file->open({}, &run.scope);
        file->append("a\n", 0);
        file->begin_snapshot(1);
        (void)run.scope.prepare(1);
        file->append("b\n", 1);
        file->close(1);
        at_end = run.scope.prepare(2);
        run.scope.commit();
    }
    EXPECT_EQ(contents(path()), "a\nb\n");
    // The process ended between the name and the note that the run has ended.
    SnapshotRun next{at_end};
    auto file = std::make_shared<OutputFile>(path());
    file->open({}, &next.scope);
    file->close(0);
    next.scope.commit();
    EXPECT_EQ(contents(path()), "a\nb\n");
}

TEST_F(OutputSnapshots, AFileThatLostRowsIsRefused) {
    RunScope::Prepared prepared;
    {
        SnapshotRun run;
        auto file = std::make_shared<OutputFile>(path());
        file->open({}, &run.scope);
        file->append("one\ntwo\n", 0);
        file->begin_snapshot(1);
        prepared = run.scope.prepare(1);
        file->abandon();
    }
    const auto beside = unfinished();
    std::filesystem::resize_file(beside, 3);
    const auto refused = [&] {
        SnapshotRun next{prepared};
        auto file = std::make_shared<OutputFile>(path());
        try {
            file->open({}, &next.scope);
        } catch (const InputOutputError& error) {
            return std::string(error.what());
        }
        return std::string("not refused");
    };
    EXPECT_THAT(refused(), HasSubstr("it has 3 bytes, and had 8"));
    EXPECT_EQ(contents(beside), "one");
    std::filesystem::remove(beside);
    EXPECT_THAT(refused(), HasSubstr("No such file"));
    // A link in its place, to a file that is long enough.
    std::ofstream(folder() / "other") << "another user's data";
    std::filesystem::create_symlink(folder() / "other", beside);
    EXPECT_THAT(refused(), HasSubstr("cannot go on"));
    EXPECT_EQ(contents(folder() / "other"), "another user's data");
    std::filesystem::remove(beside);
    std::filesystem::create_hard_link(folder() / "other", beside);
    EXPECT_THAT(refused(), HasSubstr("no file of this user alone"));
    EXPECT_EQ(contents(folder() / "other"), "another user's data");
}

TEST_F(OutputSnapshots, ALiveFileIsCutWhereTheSnapshotWas) {
    RunScope::Prepared prepared;
    {
        SnapshotRun run;
        auto file = std::make_shared<OutputFile>(path(), Writing::live);
        file->open("head\n", &run.scope);
        file->append("one\n", 0);
        file->begin_snapshot(1);
        prepared = run.scope.prepare(1);
        file->append("two\n", 1);
        file->abandon();
    }
    EXPECT_EQ(contents(path()), "head\none\ntwo\n");
    {
        SnapshotRun next{prepared};
        auto file = std::make_shared<OutputFile>(path(), Writing::live);
        file->open("head\n", &next.scope);
        EXPECT_EQ(contents(path()), "head\none\n");
        file->append("2\n", 0);
        file->close(0);
        next.scope.commit();
    }
    EXPECT_EQ(contents(path()), "head\none\n2\n");
    std::filesystem::remove(path());
    SnapshotRun next{prepared};
    auto file = std::make_shared<OutputFile>(path(), Writing::live);
    EXPECT_THROW(file->open("head\n", &next.scope), InputOutputError);
}

/// Its stream has ended, and that of another sink goes on.
TEST_F(OutputSnapshots, ALiveFileOfAnEndedStreamKeepsItsRows) {
    RunScope::Prepared prepared;
    {
        SnapshotRun run;
        auto file = std::make_shared<OutputFile>(path(), Writing::live);
        file->open("head\n", &run.scope);
        file->append("one\n", 0);
        file->close(0);
        EXPECT_EQ(contents(path()), "head\none\n");
        prepared = run.scope.prepare(1);
    }
    SnapshotRun next{prepared};
    auto file = std::make_shared<OutputFile>(path(), Writing::live);
    file->open("head\n", &next.scope);
    file->close(0);
    next.scope.commit();
    EXPECT_EQ(contents(path()), "head\none\n");
}

TEST_F(OutputSnapshots, ARunWithoutSnapshotsLeavesNothingBehind) {
    {
        RunScope run;
        auto file = std::make_shared<OutputFile>(path());
        file->open({}, &run);
        file->append("one\n");
        file->abandon();
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 0);
}

}  // namespace
}  // namespace strid
