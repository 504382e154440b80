// SPDX-License-Identifier: Apache-2.0
//
// Sources over sockets, from peers that the test drives itself through the C library.
#include <cstring>
#include <string>

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/connector/json_lines.hpp>
#include <strid/connector/text_lines.hpp>

#include "../support/opened.hpp"
#include "drive.hpp"

namespace strid {
namespace {

using test::Emit;
using test::Folder;
using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

::sockaddr_un address_of(const std::string& path) {
    ::sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

int connected_to(const std::string& path) {
    const int peer = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const auto address = address_of(path);
    EXPECT_EQ(::connect(peer, reinterpret_cast<const ::sockaddr*>(&address), sizeof address), 0);
    return peer;
}

void send(int peer, const std::string& text) {
    ASSERT_EQ(::write(peer, text.data(), text.size()), static_cast<::ssize_t>(text.size()));
}

/// Polls until there are so many records, or the source is finished.
template <class Source, class Record>
SourceStatus poll_until(Source& source, Emit<Record>& emit, std::size_t records) {
    for (;;) {
        const SourceStatus status = source.poll(emit, 100);
        if (status == SourceStatus::finished || emit.records.size() >= records) return status;
        std::this_thread::yield();
    }
}

TEST(SocketInput, ASourceThatListensTakesAClientAndEndsWithIt) {
    const Folder folder;
    const auto path = folder.file("a.sock");
    auto source = csv_file<std::pair<int, double>>("unix-listen://" + path);
    EXPECT_TRUE(source.blocks());
    Emit<std::pair<int, double>> emit;
    test::open(source);
    EXPECT_EQ(source.poll(emit, 100), SourceStatus::idle);  // no client yet
    const int peer = connected_to(path);
    send(peer, "1,2.5\n7");
    EXPECT_NE(poll_until(source, emit, 1), SourceStatus::finished);
    EXPECT_THAT(emit.records, ElementsAre(std::pair(1, 2.5)));
    EXPECT_EQ(source.poll(emit, 100), SourceStatus::idle);
    send(peer, "0,3\n8,4");
    ::close(peer);
    EXPECT_EQ(poll_until(source, emit, 99), SourceStatus::finished);
    EXPECT_THAT(emit.records,
                ElementsAre(std::pair(1, 2.5), std::pair(70, 3.0), std::pair(8, 4.0)));
    EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(SocketInput, ASourceThatConnectsReadsWhatTheServerSends) {
    const Folder folder;
    const auto path = folder.file("b.sock");
    const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const auto address = address_of(path);
    ASSERT_EQ(::bind(server, reinterpret_cast<const ::sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(server, 1), 0);
    auto source = json_lines<int>("unix://" + path, {.members = {"at"}});
    Emit<int> emit;
    test::open(source);
    EXPECT_EQ(source.poll(emit, 100), SourceStatus::idle);
    const int peer = ::accept(server, nullptr, nullptr);
    send(peer, "[{\"at\":1},{\"at\":2}");
    EXPECT_NE(poll_until(source, emit, 2), SourceStatus::finished);
    EXPECT_THAT(emit.records, ElementsAre(1, 2));
    send(peer, ",{\"at\":3}]");
    ::close(peer);
    EXPECT_EQ(poll_until(source, emit, 99), SourceStatus::finished);
    EXPECT_THAT(emit.records, ElementsAre(1, 2, 3));
    ::close(server);
}

TEST(SocketInput, AListenerThatIsDroppedLeavesNoFile) {
    const Folder folder;
    const auto path = folder.file("c.sock");
    {
        auto source = text_lines("unix-listen://" + path);
        test::open(source);
        EXPECT_EQ(::access(path.c_str(), F_OK), 0);
    }
    EXPECT_NE(::access(path.c_str(), F_OK), 0);
    const auto file = folder.write("file", "text\n");  // which is no socket, and stays
    auto source = text_lines("unix-listen://" + file);
    EXPECT_THAT(message_of<InputOutputError>([&] { test::open(source); }),
                HasSubstr("cannot listen: Address already in use"));
    EXPECT_EQ(folder.read("file"), "text\n");
}

TEST(SocketInput, AServerThatIsNotThereIsAnError) {
    const Folder folder;
    auto source = text_lines("unix://" + folder.file("none"));
    test::open(source);
    Emit<Line> emit;
    EXPECT_THAT(
        message_of<InputOutputError>([&] { static_cast<void>(poll_until(source, emit, 1)); }),
        HasSubstr("cannot connect: No such file"));
}

}  // namespace
}  // namespace strid
