// SPDX-License-Identifier: Apache-2.0
//
// Requests for snapshots by the socket in their folder.
#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/engine/state/snapshot_requests.hpp>
#include <strid/state/snapshot_folder.hpp>

#include "../support/folder.hpp"

namespace strid {
namespace {

class SnapshotRequestsTest : public testing::Test {
  protected:
    test::Folder place_;
    SnapshotFolder folder_{place_.file("state")};
};

TEST_F(SnapshotRequestsTest, AreAnsweredOneAfterTheOther) {
    std::atomic<int> inside{0};
    std::atomic<int> taken{0};
    const auto requests = folder_.answer([&] {
        EXPECT_EQ(inside.fetch_add(1), 0);
        std::this_thread::yield();
        inside.fetch_sub(1);
        return ++taken % 2 == 0 ? std::string("not\nnow") : std::string{};
    });
    std::atomic<int> refused{0};
    std::vector<std::thread> clients;
    for (int i = 0; i != 8; ++i) {
        clients.emplace_back([&] {
            for (int request = 0; request != 10; ++request) {
                const std::optional<std::string> answer = folder_.request();
                ASSERT_TRUE(answer);
                if (!answer->empty()) {
                    EXPECT_EQ(*answer, "not now");
                    ++refused;
                }
            }
        });
    }
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(taken, 80);
    EXPECT_EQ(refused, 40);
}

TEST_F(SnapshotRequestsTest, AnErrorIsTheAnswer) {
    const auto requests =
        folder_.answer([]() -> std::string { throw InputOutputError("the disk is full"); });
    EXPECT_EQ(folder_.request(), "the disk is full");
}

TEST_F(SnapshotRequestsTest, EndWithTheRun) {
    EXPECT_EQ(folder_.request(), std::nullopt);
    auto requests = folder_.answer([] { return std::string{}; });
    EXPECT_EQ(folder_.request(), "");
    requests.reset();
    EXPECT_EQ(folder_.request(), std::nullopt);
    EXPECT_FALSE(std::filesystem::exists(place_.file("state/requests")));
}

/// The socket of a process that was killed stays in the folder, and no process listens.
TEST_F(SnapshotRequestsTest, WhatAKilledProcessHasLeftIsReplaced) {
    const int left = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_GE(left, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = place_.file("state/requests");
    ASSERT_LT(path.size(), sizeof address.sun_path);
    path.copy(address.sun_path, path.size());
    ASSERT_EQ(::bind(left, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(left);
    EXPECT_EQ(folder_.request(), std::nullopt);
    const auto requests = folder_.answer([] { return std::string{}; });
    EXPECT_EQ(folder_.request(), "");
}

}  // namespace
}  // namespace strid
