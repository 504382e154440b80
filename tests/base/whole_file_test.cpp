// SPDX-License-Identifier: Apache-2.0
//
// The ends of paths, paths that are one file, and files that are replaced as a whole.
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <fnmatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/destination.hpp>
#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/base/whole_file.hpp>
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
    const std::string leftover = "a.aaaaabbbbb.strid-partial";
    EXPECT_THROW(check_files({reads(folder.write(leftover, "")), writes(folder.file("a"))}),
                 GraphError);
    check_files({reads(folder.file(leftover)), writes(folder.file("a"), false)});
    check_files({reads(folder.file(leftover)), writes(folder.file("b"))});
    check_files({reads(folder.file("a.strid-partial")), writes(folder.file("a"))});
    check_files({reads(file), reads(hard)});
    check_files({reads(file), writes(folder.file("new")), writes(folder.file("newer"))});
    check_files({reads("/dev/null"), writes("/dev/null"), writes("/dev/null")});
}

TEST(FileUse, TheNameUntilWholeFitsAndIsAnotherEachTime) {
    const std::string long_name(255, 'x');
    for (const std::string& name : {std::string("a.csv"), long_name}) {
        const std::string temporary = temporary_name(name);
        EXPECT_LE(temporary.size(), 255U);
        EXPECT_NE(temporary, temporary_name(name));
        EXPECT_TRUE(is_temporary_name(temporary, name));
        EXPECT_FALSE(is_temporary_name(temporary, name.substr(1)));
        EXPECT_EQ(::fnmatch(temporary_pattern(name).c_str(), temporary.c_str(), 0), 0);
    }
    EXPECT_EQ(temporary_pattern("a.csv"), "a.csv.*.strid-partial");
    EXPECT_FALSE(is_temporary_name("a.csv.strid-partial", "a.csv"));
    EXPECT_FALSE(is_temporary_name("a.csv.AAAAABBBBB.strid-partial", "a.csv"));
    EXPECT_TRUE(is_unfinished_name(unfinished_name("a.csv"), "a.csv"));
    EXPECT_FALSE(is_unfinished_name(unfinished_name("a.csv"), "b.csv"));
    EXPECT_FALSE(is_unfinished_name(temporary_name("a.csv"), "a.csv"));
    EXPECT_FALSE(is_temporary_name(unfinished_name("a.csv"), "a.csv"));
}

const std::atomic<bool> never{false};

mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777U;
}

/// Of the one temporary file in the folder; empty if there is none.
std::string temporary_in(const Folder& folder) {
    std::string found;
    for (const auto& entry : fs::directory_iterator(folder.file("."))) {
        const std::string name = entry.path().filename();
        if (!name.ends_with(".strid-partial")) continue;
        EXPECT_EQ(found, "");
        found = name;
    }
    return found;
}

TEST(Destination, AFileIsWholeOrAsItWas) {
    const Folder folder;
    const auto path = folder.write("file", "old");
    ASSERT_EQ(::chmod(path.c_str(), 0604), 0);
    folder.write("file.aaaaabbbbb.strid-partial", "of a killed run, and longer");
    {
        Destination lost(path, Writing::whole);
        lost.open();
        lost.write("lost", never);
        EXPECT_EQ(folder.read(temporary_in(folder)), "lost");
        EXPECT_EQ(mode_of(folder.file(temporary_in(folder))), 0600U);
        Destination second(path, Writing::whole);
        EXPECT_THROW(second.open(), InputOutputError);
    }
    EXPECT_EQ(folder.read("file"), "old");
    EXPECT_EQ(temporary_in(folder), "");
    Destination kept(path, Writing::whole);
    kept.open();
    kept.write("new", never);
    EXPECT_EQ(folder.read("file"), "old");
    kept.commit(never);
    EXPECT_EQ(folder.read("file"), "new");
    EXPECT_EQ(temporary_in(folder), "");
    EXPECT_EQ(mode_of(path), 0604U);
}

TEST(Destination, ANewFileHasThePermissionsOfAnyNewFile) {
    const Folder folder;
    const mode_t mask = ::umask(027);
    Destination made(folder.file("file"), Writing::whole);
    made.open();
    EXPECT_EQ(mode_of(folder.file(temporary_in(folder))), 0600U);
    made.commit(never);
    ::umask(mask);
    EXPECT_EQ(mode_of(folder.file("file")), 0640U);
}

WholeFile begin(const Folder& folder, OldFile old) {
    return {"file", {.directory = fs::canonical(folder.file(".")), .name = "file"}, old};
}

TEST(WholeFile, AnotherFileInItsPlaceIsLeftAlone) {
    const Folder folder;
    const auto victim = folder.write("victim", "victim");
    ASSERT_EQ(::chmod(victim.c_str(), 0600), 0);
    struct stat status {};
    ASSERT_EQ(::stat(folder.file(".").c_str(), &status), 0);
    status.st_mode = S_IFREG | 0666;
    {
        WholeFile file = begin(folder, OldFile::refused);
        file.take_over(status);
        const auto temporary = folder.file(temporary_in(folder));
        fs::rename(temporary, folder.file("away"));
        fs::create_symlink("victim", temporary);
        EXPECT_THROW(file.commit(), InputOutputError);
    }
    EXPECT_EQ(mode_of(victim), 0600U);
    EXPECT_FALSE(fs::exists(folder.file("file")));
}

TEST(WholeFile, TakesOverPermissionsAndTimes) {
    const Folder folder;
    fs::create_symlink("other", folder.file("file"));
    folder.write("other", "other");
    struct stat status {};
    ASSERT_EQ(::stat(folder.file("other").c_str(), &status), 0);
    status.st_mode = S_IFREG | 0441;
    status.st_mtim = {1'000'000'000, 5'000};
    WholeFile file = begin(folder, OldFile::ignored);
    file.take_over(status);
    EXPECT_TRUE(fs::is_symlink(folder.file("file")));
    file.commit();
    EXPECT_EQ(mode_of(folder.file("file")), 0441U);
    struct stat made {};
    ASSERT_EQ(::lstat(folder.file("file").c_str(), &made), 0);
    EXPECT_EQ(made.st_mtim.tv_sec, 1'000'000'000);
    EXPECT_EQ(made.st_mtim.tv_nsec, 5'000);
    EXPECT_EQ(folder.read("other"), "other");
}

TEST(WholeFile, OneThatIsThereMeanwhileIsRefused) {
    const Folder folder;
    {
        WholeFile file = begin(folder, OldFile::refused);
        folder.write("file", "of another");
        EXPECT_THROW(file.commit(), InputOutputError);
    }
    EXPECT_EQ(folder.read("file"), "of another");
    EXPECT_EQ(temporary_in(folder), "");
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
