// SPDX-License-Identifier: Apache-2.0
//
// A folder of snapshots on a disk that is full, and one that may not be written.
#include <cstdint>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/state/snapshot_folder.hpp>

#include "../support/length_limit.hpp"
#include "snapshot_files.hpp"

namespace strid {
namespace {

using test::in_another_process;
using test::message_of;
using test::snapshot_of;
using test::stored;
using test::text_of;
using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;
using UnwritableSnapshots = test::SnapshotsOfTest;

TEST_F(UnwritableSnapshots, WhenTheDiskIsFullTheOlderOnesStand) {
    SnapshotFolder folder(path);
    folder.store(snapshot_of(1));
    folder.store(snapshot_of(2));
    const std::uint64_t bytes = fs::file_size(file(2));
    for (std::uint64_t limit = 0; limit != bytes; ++limit) {
        std::string message;
        {
            const test::LengthLimit limited(limit);
            message = message_of<InputOutputError>([&] { folder.store(snapshot_of(3)); });
        }
        ASSERT_THAT(message, HasSubstr("0000000003.snapshot: cannot write the snapshot: "));
        ASSERT_THAT(names(), ElementsAre("0000000001.snapshot", "0000000002.snapshot", "lock"));
    }
    EXPECT_EQ(text_of(folder.read(1)), text_of(stored(snapshot_of(1))));
    EXPECT_EQ(text_of(folder.read(2)), text_of(stored(snapshot_of(2))));
    fs::create_directory(file(3));
    EXPECT_THAT(message_of<InputOutputError>([&] { folder.store(snapshot_of(3)); }),
                HasSubstr("0000000003.snapshot: cannot name the snapshot: "));
    EXPECT_FALSE(fs::exists(file(3).string() + ".partial"));
    fs::remove(file(3));
    folder.store(snapshot_of(3));
    EXPECT_THAT(folder.numbers(), ElementsAre(2, 3));
}

TEST_F(UnwritableSnapshots, AFolderThatCannotBeWritten) {
    constexpr uid_t other_user = 65534;  // the root user may write anywhere
    const bool is_root = ::geteuid() == 0;
    fs::permissions(parent.file(""), fs::perms{0755});
    {
        SnapshotFolder folder(path);
        folder.store(snapshot_of(1));
        if (is_root) {
            for (const fs::path& owned : {fs::path(path), file(1), fs::path(path) / "lock"}) {
                ASSERT_EQ(::chown(owned.c_str(), other_user, other_user), 0);
            }
        }
    }
    const auto check = [&] {
        if (is_root && ::seteuid(other_user) != 0) return 2;
        SnapshotFolder folder(path);
        fs::permissions(path, fs::perms{0500});
        const auto fault = message_of<InputOutputError>([&] { folder.store(snapshot_of(2)); });
        if (fault != file(2).string() + ": cannot write the snapshot: Permission denied") return 3;
        if (text_of(folder.read(1)) != text_of(stored(snapshot_of(1)))) return 4;
        fs::permissions(file(1), fs::perms{0});
        const auto unread =
            message_of<InputOutputError>([&] { (void)folder.newest(nullptr, nullptr); });
        if (unread != file(1).string() + ": cannot open the snapshot: Permission denied") return 5;
        return 0;
    };
    EXPECT_EQ(in_another_process(check), 0);
    fs::remove(fs::path(path) / "lock");
    const auto open = [&] {
        if (is_root && ::seteuid(other_user) != 0) return 2;
        const auto fault = message_of<InputOutputError>([&] { SnapshotFolder folder(path); });
        return fault == path + ": cannot write to the folder of snapshots: Permission denied" ? 0
                                                                                              : 3;
    };
    EXPECT_EQ(in_another_process(open), 0);
    EXPECT_THAT(message_of<InputOutputError>([&] { SnapshotFolder folder(path + "/a/b"); }),
                HasSubstr("/a/b: cannot make the folder of snapshots: No such file"));
}

}  // namespace
}  // namespace strid
