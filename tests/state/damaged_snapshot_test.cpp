// SPDX-License-Identifier: Apache-2.0
//
// Files of snapshots that are damaged in every place: each is an error, and never another value.
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <strid/state/bytes.hpp>
#include <strid/state/snapshot_folder.hpp>

#include "snapshot_files.hpp"

namespace strid {
namespace {

using test::block_of;
using test::content_of;
using test::empty_frame_of;
using test::snapshot_of;
using test::text_of;
using test::write_content;
using testing::AnyOf;
using testing::HasSubstr;

class DamagedSnapshot : public testing::Test {
  protected:
    DamagedSnapshot() {
        SnapshotFolder folder(path);
        folder.store(snapshot_of(1, "a state of some bytes, some bytes, some bytes, some bytes"));
        content = content_of(file);
        whole = text_of(folder.read(1));
        description = text_of(folder.describe(1));
    }

    /// The fault of the file, or nothing where it gives another value or another failure.
    [[nodiscard]] std::optional<std::string> fault() const {
        const SnapshotFiles files(path);
        try {
            if (text_of(files.describe(1)) != description) return std::nullopt;
        } catch (const StateError&) {
        }
        try {
            (void)files.read(1);
        } catch (const StateError& error) {
            return error.what();
        }
        return std::nullopt;
    }

    test::Folder parent;
    std::string path = parent.file("state");
    std::string file = path + "/0000000001.snapshot";
    std::string content;
    std::string whole;
    std::string description;
};

TEST_F(DamagedSnapshot, AnyByteThatIsChanged) {
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_GE(descriptor, 0);
    for (std::size_t at = 0; at != content.size(); ++at) {
        for (const unsigned flipped : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U, 255U, 0x5aU}) {
            const char byte = static_cast<char>(static_cast<unsigned char>(content[at]) ^ flipped);
            ASSERT_EQ(::pwrite(descriptor, &byte, 1, static_cast<off_t>(at)), 1);
            ASSERT_TRUE(fault()) << "byte " << at << " of " << content.size() << ", " << flipped;
        }
        ASSERT_EQ(::pwrite(descriptor, &content[at], 1, static_cast<off_t>(at)), 1);
    }
    ::close(descriptor);
    EXPECT_EQ(text_of(SnapshotFiles(path).read(1)), whole);
}

TEST_F(DamagedSnapshot, EveryLength) {
    for (std::size_t bytes = 0; bytes != content.size(); ++bytes) {
        write_content(file, content.substr(0, bytes));
        ASSERT_TRUE(fault()) << bytes << " of " << content.size();
        // As a file system may leave it when the machine stops.
        write_content(file, content.substr(0, bytes) + std::string(content.size() - bytes, '\0'));
        if (content.find_first_not_of('\0', bytes) == std::string::npos) continue;
        ASSERT_TRUE(fault()) << bytes << " of " << content.size() << ", then zeros";
    }
    write_content(file, content + '\0');
    EXPECT_THAT(fault().value_or(""), HasSubstr("1 bytes are left behind its last block"));
}

TEST_F(DamagedSnapshot, BlocksOfAnotherOne) {
    SnapshotFolder folder(path);
    folder.store(snapshot_of(2,
                             "another state, which is longer than that of the first snapshot, "
                             "another state"));
    const std::string other = content_of(path + "/0000000002.snapshot");
    const std::size_t first_line = content.find('\n') + 1;
    const auto end_of_block = [](const std::string& bytes, std::size_t at) {
        std::uint64_t stored = 0;
        std::memcpy(&stored, bytes.data() + at + sizeof stored, sizeof stored);
        return at + 3 * sizeof stored + stored;
    };
    write_content(file, content.substr(0, end_of_block(content, first_line)) +
                            other.substr(end_of_block(other, first_line)));
    EXPECT_THAT(fault().value_or(""), HasSubstr("a state is not as long as it was"));
}

TEST_F(DamagedSnapshot, LengthsThatNoBytesJustify) {
    for (const std::uint64_t bytes :
         {std::uint64_t{1} << 30, std::uint64_t{1} << 50, ~std::uint64_t{0}, ~std::uint64_t{1}}) {
        // Each checksum is right.
        const std::string frame = empty_frame_of(bytes);
        write_content(file, "strid snapshot 4\n" + block_of(bytes, frame));
        EXPECT_THAT(fault().value_or(""), HasSubstr("announces " + std::to_string(bytes)));
        // Nor is memory taken for a length below that.
        write_content(file, "strid snapshot 4\n" + block_of(100, frame));
        EXPECT_THAT(fault().value_or(""), HasSubstr("a block is not what its header says"));
        std::string longer = block_of(100, frame);
        longer.replace(8, 8, test::number_bytes(bytes));
        write_content(file, "strid snapshot 4\n" + longer);
        EXPECT_THAT(fault().value_or(""), HasSubstr("the snapshot is cut"));
    }
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 17}) {
        write_content(file, "strid snapshot 4\n" + block_of(bytes, empty_frame_of(bytes)));
        EXPECT_THAT(fault().value_or(""),
                    AnyOf(HasSubstr("cannot be decompressed"), HasSubstr("is cut")));
    }
    write_content(file, "strid snapshot 4\n" + block_of(0, ""));
    EXPECT_THAT(fault().value_or(""), HasSubstr("the snapshot is damaged"));
}

/// The shortest frame for its length: zeros.
TEST_F(DamagedSnapshot, AStateThatIsVeryShortWhenStored) {
    SnapshotFolder folder(path);
    const std::string zeros(std::size_t{1} << 24, '\0');
    folder.store(snapshot_of(2, zeros));
    EXPECT_LT(std::filesystem::file_size(path + "/0000000002.snapshot"), 4096U);
    EXPECT_EQ(folder.read(2).states[0].size(), zeros.size());
}

}  // namespace
}  // namespace strid
