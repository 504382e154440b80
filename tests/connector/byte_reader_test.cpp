// SPDX-License-Identifier: Apache-2.0
//
// Oracles: the gzip and zstd command lines make the inputs.
#include <random>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <strid/base/error.hpp>
#include <strid/connector/byte_reader.hpp>

#include "drive.hpp"

namespace strid {
namespace {

using test::Folder;
using test::message_of;
using test::shell;
using testing::HasSubstr;

std::string read_all(const std::string& path, std::size_t step = 777) {
    ByteReader reader(path);
    std::string all;
    std::string piece(step, '\0');
    for (;;) {
        const auto result = reader.read(piece, 1000);
        if (result.status == ByteReader::Status::end) return all;
        if (result.status == ByteReader::Status::waiting) continue;
        EXPECT_GT(result.bytes, 0U);
        all.append(piece, 0, result.bytes);
    }
}

std::string sample(std::size_t bytes) {
    std::mt19937_64 random(7);
    std::string text;
    while (text.size() < bytes) text += std::to_string(random() % 100000) + "\n";
    return text;
}

TEST(ByteReader, ReadsPlainGzipAndZstd) {
    const Folder folder;
    const std::string text = sample(1'000'000);
    const auto path = folder.write("a", text);
    ASSERT_TRUE(shell("gzip -k " + path + " && zstd -q " + path + " && cat " + path + ".gz " +
                      path + ".gz > " + path + "2.gz && cat " + path + ".zst " + path + ".zst > " +
                      path + "2.zst"));
    EXPECT_EQ(read_all(path), text);
    EXPECT_EQ(read_all(path + ".gz"), text);
    EXPECT_EQ(read_all(path + ".zst", 1 << 20), text);
    EXPECT_EQ(read_all(path + "2.gz"), text + text);
    EXPECT_EQ(read_all(path + "2.zst"), text + text);
}

TEST(ByteReader, ShortInputsThatLookLikeTheBeginningOfAMagicNumberArePlain) {
    const Folder folder;
    for (const std::string text : {"", "\x1f", "(", "(\xb5/", "P", "PQRS", "\x1f\x8c"}) {
        EXPECT_EQ(read_all(folder.write("a", text)), text);
    }
}

TEST(ByteReader, ReportsProgressInBytesOfTheStoredFile) {
    const Folder folder;
    const auto path = folder.write("a", sample(500'000));
    ASSERT_TRUE(shell("gzip " + path));
    ByteReader reader(path + ".gz");
    EXPECT_EQ(reader.size_bytes(), std::filesystem::file_size(path + ".gz"));
    std::string piece(1 << 20, '\0');
    while (reader.read(piece, 0).status != ByteReader::Status::end) {
    }
    EXPECT_EQ(reader.bytes_read(), reader.size_bytes());
}

TEST(ByteReader, EveryTruncationIsAnErrorThatNamesTheFile) {
    const Folder folder;
    const auto path = folder.write("a", sample(3000));
    ASSERT_TRUE(shell("gzip -k " + path + " && zstd -q " + path));
    for (const std::string suffix : {".gz", ".zst"}) {
        const std::string whole = folder.read("a" + suffix);
        for (std::size_t bytes = 4; bytes < whole.size(); bytes += 1 + bytes / 40) {
            const auto cut = folder.write("cut", whole.substr(0, bytes));
            const auto message = message_of<InputOutputError>([&] { read_all(cut); });
            EXPECT_THAT(message, HasSubstr(cut)) << bytes;
            EXPECT_THAT(message, HasSubstr("truncated")) << bytes;
        }
    }
}

TEST(ByteReader, DamageIsAnError) {
    const Folder folder;
    const auto path = folder.write("a", sample(30'000));
    ASSERT_TRUE(shell("gzip -k " + path + " && zstd -q --check " + path));
    for (const std::string suffix : {".gz", ".zst"}) {
        std::string bytes = folder.read("a" + suffix);
        for (std::size_t i = 0; i < 8; ++i) bytes[bytes.size() / 2 + i] ^= 0x55;
        const auto bad = folder.write("bad", bytes);
        EXPECT_THAT(message_of<InputOutputError>([&] { read_all(bad); }), HasSubstr("damaged"));
    }
    const auto tail = folder.write("tail", folder.read("a.gz") + "more");
    EXPECT_THAT(message_of<InputOutputError>([&] { read_all(tail); }),
                HasSubstr("other bytes follow"));
    const auto padded = folder.write("padded", folder.read("a.gz") + std::string(700, '\0'));
    EXPECT_EQ(read_all(padded), sample(30'000));
}

TEST(ByteReader, MissingFilesAndFoldersAreErrors) {
    const Folder folder;
    const auto missing = folder.file("missing.csv");
    EXPECT_EQ(message_of<InputOutputError>([&] { ByteReader reader(missing); }),
              missing + ": cannot open: No such file or directory");
    EXPECT_THAT(message_of<InputOutputError>([&] { ByteReader reader(folder.file("")); }),
                HasSubstr("Is a directory"));
    EXPECT_FALSE(input_may_block(missing));
    EXPECT_FALSE(input_may_block(folder.file("")));
}

TEST(ByteReader, ReadErrorsAreReported) {
    // The memory of this process from address 0 on: opening works, reading gives EIO.
    EXPECT_THAT(message_of<InputOutputError>([] { read_all("/proc/self/mem"); }),
                HasSubstr("/proc/self/mem: cannot read: "));
}

TEST(ByteReader, NamedPipesAreReadAsTheyAreWritten) {
    const Folder folder;
    const auto path = folder.file("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_TRUE(input_may_block(path));
    ByteReader reader(path);
    std::string piece(100, '\0');
    EXPECT_EQ(reader.read(piece, 0).status, ByteReader::Status::waiting);  // no writer yet
    const int writer = ::open(path.c_str(), O_WRONLY);
    ASSERT_GE(writer, 0);
    EXPECT_EQ(reader.read(piece, 0).status, ByteReader::Status::waiting);
    ASSERT_EQ(::write(writer, "a\n", 2), 2);
    const auto result = reader.read(piece, 1000);
    EXPECT_EQ(result.status, ByteReader::Status::read);
    EXPECT_EQ(piece.substr(0, result.bytes), "a\n");
    ::close(writer);
    EXPECT_EQ(reader.read(piece, 1000).status, ByteReader::Status::end);
    EXPECT_EQ(reader.size_bytes(), 0U);
}

TEST(ByteReader, ACompressedPipeGivesWhatCanBeDecoded) {
    const Folder folder;
    const std::string text = sample(200'000);
    ASSERT_TRUE(shell("zstd -q " + folder.write("a", text)));
    const auto path = folder.file("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] { EXPECT_TRUE(shell("cat " + folder.file("a.zst") + " > " + path)); });
    EXPECT_EQ(read_all(path), text);
    writer.join();
}

}  // namespace
}  // namespace strid
