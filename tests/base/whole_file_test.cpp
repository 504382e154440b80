// SPDX-License-Identifier: Apache-2.0
//
// The ends of paths, paths that are one file, and files that are replaced as a whole.
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/destination.hpp>
#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/engine/base/file_place.hpp>

#include "../support/folder.hpp"

namespace strid {
namespace {

namespace fs = std::filesystem;
using test::Folder;
using testing::HasSubstr;

std::string place_of(const std::string& path) {
    const auto place = find_place(path);
    return place ? place->path() : "nowhere";
}

TEST(FilePlace, FollowsLinksAlsoToWhatIsNotThere) {
    const Folder folder;
    const auto real = fs::canonical(folder.file(".")).string();
    fs::create_directory(folder.file("sub"));
    fs::create_symlink("../target", folder.file("sub/link"));
    fs::create_symlink("sub/link", folder.file("link"));
    fs::create_symlink("circle", folder.file("circle"));
    EXPECT_EQ(place_of(folder.file("link")), real + "/target");
    EXPECT_EQ(place_of(folder.file("sub/../sub/link")), real + "/target");
    EXPECT_EQ(place_of(folder.file("none/file")), "nowhere");
    EXPECT_EQ(place_of(folder.file("circle")), "nowhere");
    EXPECT_EQ(place_of("/file"), "/file");
}

TEST(FilePlace, FindsTheDescriptorsOfTheProcess) {
    for (const char* path : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
        const auto place = find_place(path);
        ASSERT_TRUE(place) << path;
        EXPECT_EQ(place->descriptor, 1) << path;
    }
    EXPECT_EQ(find_place("/dev/null")->descriptor, -1);
}

FileUse reads(std::string path) {
    return {.kind = FileUse::Kind::reads, .path = std::move(path), .user = "reader"};
}
FileUse writes(std::string path, bool beside = true) {
    return {
        .kind = FileUse::Kind::writes, .path = std::move(path), .beside = beside, .user = "writer"};
}

TEST(FileUse, WhatIsOneFileIsRefused) {
    const Folder folder;
    const auto file = folder.write("file", "");
    const auto hard = folder.file("hard");
    fs::create_hard_link(file, hard);
    EXPECT_THROW(check_files({reads(file), writes(hard)}), GraphError);
    EXPECT_THROW(check_files({writes(hard), reads(file)}), GraphError);
    EXPECT_THROW(check_files({writes(file), writes(hard)}), GraphError);
    EXPECT_THROW(check_files({writes(folder.file("new")), writes(folder.file("./new"))}),
                 GraphError);
    EXPECT_THROW(
        check_files({reads(folder.write("a.strid-partial", "")), writes(folder.file("a"))}),
        GraphError);
    check_files({reads(folder.file("a.strid-partial")), writes(folder.file("a"), false)});
    check_files({reads(file), reads(hard)});
    check_files({reads(file), writes(folder.file("new")), writes(folder.file("newer"))});
    check_files({reads("/dev/null"), writes("/dev/null"), writes("/dev/null")});
}

TEST(FileUse, TheNameUntilWholeFitsAndIsTheSameEachTime) {
    EXPECT_EQ(temporary_name("a.csv"), "a.csv.strid-partial");
    const std::string long_name(255, 'x');
    EXPECT_LE(temporary_name(long_name).size(), 255U);
    EXPECT_EQ(temporary_name(long_name), temporary_name(long_name));
    EXPECT_NE(temporary_name(long_name), temporary_name(long_name.substr(1)));
}

const std::atomic<bool> never{false};

TEST(Destination, AFileIsWholeOrAsItWas) {
    const Folder folder;
    const auto path = folder.write("file", "old");
    ASSERT_EQ(::chmod(path.c_str(), 0604), 0);
    {
        Destination lost(path, Writing::whole);
        lost.open();
        lost.write("lost", never);
        EXPECT_EQ(folder.read("file.strid-partial"), "lost");
        Destination second(path, Writing::whole);
        EXPECT_THROW(second.open(), InputOutputError);
    }
    EXPECT_EQ(folder.read("file"), "old");
    EXPECT_FALSE(fs::exists(folder.file("file.strid-partial")));
    folder.write("file.strid-partial", "of a killed run, and longer");
    Destination kept(path, Writing::whole);
    kept.open();
    kept.write("new", never);
    EXPECT_EQ(folder.read("file"), "old");
    kept.commit(never);
    EXPECT_EQ(folder.read("file"), "new");
    EXPECT_FALSE(fs::exists(folder.file("file.strid-partial")));
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0604U);
}

TEST(Destination, LiveIsThereAtOnce) {
    const Folder folder;
    const auto path = folder.write("file", "old and long");
    Destination live(path, Writing::live);
    live.open();
    EXPECT_EQ(folder.read("file"), "");
    live.write("new", never);
    EXPECT_EQ(folder.read("file"), "new");
    live.discard();
    EXPECT_EQ(folder.read("file"), "new");
}

TEST(Destination, ADescriptorGoesOnWhereItStands) {
    const Folder folder;
    const auto path = folder.write("file", "old\n");
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    ASSERT_GE(descriptor, 0);
    Destination append("/dev/fd/" + std::to_string(descriptor), Writing::whole);
    append.open();
    append.write("new\n", never);
    append.commit(never);
    EXPECT_EQ(folder.read("file"), "old\nnew\n");
    ::close(descriptor);
    EXPECT_THROW(append.open(), InputOutputError);
}

TEST(Destination, AWaitForAReaderIsGivenUp) {
    const Folder folder;
    const auto path = folder.file("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    Destination pipe(path, Writing::whole);
    EXPECT_TRUE(pipe.may_block());
    pipe.open();
    const std::atomic<bool> interrupted{true};
    EXPECT_THROW(pipe.write("text", interrupted), Interrupted);
    EXPECT_THROW(pipe.commit(interrupted), Interrupted);
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(reader, 0);
    pipe.write("text", interrupted);
    std::string much(1U << 20, 'x');
    EXPECT_THROW(pipe.write(much, interrupted), Interrupted);  // no reader
    ::close(reader);
    EXPECT_THROW(pipe.write("more", interrupted), InputOutputError);
}

}  // namespace
}  // namespace strid
