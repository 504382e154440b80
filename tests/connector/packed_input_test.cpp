// SPDX-License-Identifier: Apache-2.0
//
// xz, bzip2 and UTF-16. Oracles: the command lines of xz, bzip2 and iconv make the inputs.
#include <random>

#include <gmock/gmock.h>

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
        if (result.status == ByteReader::Status::read) all.append(piece, 0, result.bytes);
    }
}

std::string sample(std::size_t bytes) {
    std::mt19937_64 random(7);
    std::string text;
    while (text.size() < bytes) text += std::to_string(random() % 100000) + "\n";
    return text;
}

TEST(PackedInput, ReadsXzAndBzip2OfAnyNumberOfStreams) {
    const Folder folder;
    const std::string text = sample(1'500'000);
    const auto path = folder.write("a", text);
    ASSERT_TRUE(shell("xz -k -1 " + path + " && bzip2 -k " + path + " && cat " + path + ".xz " +
                      path + ".xz > " + path + "2.xz && cat " + path + ".bz2 " + path + ".bz2 > " +
                      path + "2.bz2 && : | xz > " + path + "0.xz && : | bzip2 > " + path +
                      "0.bz2 && xz -1 -T2 --block-size=100000 -c " + path + " > " + path + "3.xz"));
    for (const std::string suffix : {".xz", ".bz2"}) {
        for (const std::size_t step : {777U, 1U << 20}) {
            EXPECT_EQ(read_all(path + suffix, step), text);
            EXPECT_EQ(read_all(path + "2" + suffix, step), text + text);
        }
        EXPECT_EQ(read_all(path + "0" + suffix), "");
    }
    EXPECT_EQ(read_all(path + "3.xz"), text);
    const auto padded = folder.write("padded", folder.read("a.xz") + std::string(8, '\0'));
    EXPECT_EQ(read_all(padded), text);
    const auto small = folder.write("small", "1\n2\n");
    ASSERT_TRUE(shell("xz -k " + small + " && bzip2 -k " + small));
    EXPECT_EQ(read_all(small + ".xz", 1), "1\n2\n");
    EXPECT_EQ(read_all(small + ".bz2", 1), "1\n2\n");
}

TEST(PackedInput, TextsThatBeginLikeAMagicNumberAreText) {
    const Folder folder;
    for (const std::string text : {"B", "BZh", "BZh9", "BZh91AY&S", "BZh91AY&SX", "BZh0", "\xfd",
                                   "\xfd"
                                   "7zXZ",
                                   "PK", "#*M", "?", "\xff", "\xfe", "\xffx"}) {
        EXPECT_EQ(read_all(folder.write("a", text)), text);
    }
}

TEST(PackedInput, EveryTruncationIsAnErrorThatNamesTheFile) {
    const Folder folder;
    const auto path = folder.write("a", sample(3000));
    ASSERT_TRUE(shell("xz -k " + path + " && bzip2 -k " + path));
    for (const std::string suffix : {".xz", ".bz2"}) {
        const std::string whole = folder.read("a" + suffix);
        for (const std::string& before : {std::string{}, whole}) {
            for (std::size_t bytes = 10; bytes < whole.size(); bytes += 1 + bytes / 15) {
                const auto cut = folder.write("cut", before + whole.substr(0, bytes));
                const auto message = message_of<InputOutputError>([&] { read_all(cut); });
                EXPECT_THAT(message, HasSubstr(cut)) << bytes;
                EXPECT_THAT(message, HasSubstr("truncated")) << bytes;
            }
        }
    }
}

TEST(PackedInput, DamageIsAnError) {
    const Folder folder;
    const auto path = folder.write("a", sample(30'000));
    ASSERT_TRUE(shell("xz -k " + path + " && bzip2 -k " + path));
    for (const std::string suffix : {".xz", ".bz2"}) {
        std::string bytes = folder.read("a" + suffix);
        const auto tail = folder.write("tail", bytes + "more than six bytes");
        EXPECT_THAT(message_of<InputOutputError>([&] { read_all(tail); }),
                    HasSubstr("other bytes "));
        for (std::size_t i = 0; i < 8; ++i) bytes[bytes.size() / 2 + i] ^= 0x55;
        const auto bad = folder.write("bad", bytes);
        EXPECT_THAT(message_of<InputOutputError>([&] { read_all(bad); }), HasSubstr("damaged"));
    }
}

TEST(PackedInput, AZipArchiveSaysWhatItIs) {
    const Folder folder;
    const auto path = folder.write("a.xlsx", std::string("PK\x03\x04\x14\0\0\0", 8));
    EXPECT_THAT(message_of<InputOutputError>([&] { read_all(path); }), HasSubstr("zip archive"));
}

TEST(PackedInput, Utf16IsReadAsUtf8) {
    const Folder folder;
    std::string text;
    for (int i = 0; i < 20'000; ++i) {
        text += std::to_string(i) + ",\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBB\xBF\r\n";
    }
    const auto path = folder.write("a", text);
    for (const std::string code : {"UTF-16LE", "UTF-16BE"}) {
        const std::string mark = code == "UTF-16LE" ? "\\377\\376" : "\\376\\377";
        ASSERT_TRUE(shell("(printf '" + mark + "'; iconv -f UTF-8 -t " + code + " " + path +
                          ") > " + path + "16 && gzip -kf " + path + "16 && xz -kf " + path +
                          "16"));
        for (const std::size_t step : {1000U, 1U << 20}) {
            EXPECT_EQ(read_all(path + "16", step), text);
        }
        EXPECT_EQ(read_all(path + "16.gz"), text);
        EXPECT_EQ(read_all(path + "16.xz"), text);
    }
    EXPECT_EQ(read_all(folder.write("b", "\xff\xfe"), 1), "");
    EXPECT_EQ(read_all(folder.write("b", std::string("\xff\xfe"
                                                     "a\0\xac\x20",
                                                     6)),
                       1),
              "a\xE2\x82\xAC");
}

TEST(PackedInput, DamagedUtf16IsAnError) {
    const Folder folder;
    const auto odd = folder.write("odd", std::string("\xff\xfe"
                                                     "a\0b",
                                                     5));
    EXPECT_THAT(message_of<InputOutputError>([&] { read_all(odd); }),
                HasSubstr(odd + ": truncated text in UTF-16"));
    const auto half = folder.write("half", std::string("\xff\xfe"
                                                       "a\0\x00\xd8"
                                                       "b\0",
                                                       8));
    EXPECT_THAT(message_of<InputOutputError>([&] { read_all(half); }),
                HasSubstr("half of a surrogate pair at byte 5"));
}

}  // namespace
}  // namespace strid
