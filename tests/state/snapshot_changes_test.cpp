// SPDX-License-Identifier: Apache-2.0
//
// Snapshots that have changes only: each is read as the whole one that it stands for, its chain is
// kept as long as it is, and damage to a file is one to all that build on it.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/state/bytes.hpp>
#include <strid/state/snapshot_folder.hpp>

#include "../support/seeds.hpp"
#include "snapshot_files.hpp"
#include "table_snapshots.hpp"

namespace strid {
namespace {

using test::Chain;
using test::content_of;
using test::expect_whole;
using test::message_of;
using test::write_content;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

constexpr SnapshotChanges always{.whole_bytes_min = 0, .chain_max = 1'000, .part_max = 1'000.0};

class ChangesInAFolder : public test::SnapshotsOfTest {
  protected:
    /// Stores so many, of which those at the beginning of a chain are whole.
    void store(SnapshotFolder& folder, std::initializer_list<std::size_t> chains) {
        for (const std::size_t chain : chains) {
            for (std::size_t i = 0; i != chain; ++i) {
                all.push_back(chain_.next(i != 0));
                folder.store(all.back().snapshot);
            }
        }
    }
    /// The newest one that is whole, by a process that starts.
    std::uint64_t newest() {
        warnings.clear();
        SnapshotFolder folder(path, always);
        const auto found = folder.newest(warn(), nullptr);
        if (!found) return 0;
        const std::uint64_t number = found->description.number;
        expect_whole(*found, all.at(number - 1));
        return number;
    }
    void flip_byte(std::uint64_t number, std::size_t from_end) {
        std::string content = content_of(file(number));
        content[content.size() - 1 - from_end] ^= 1;
        write_content(file(number), content);
    }

    Chain chain_{1};
    std::vector<Chain::Next> all;
    int folders_ = 0;
};

TEST_F(ChangesInAFolder, EachIsReadAsAWholeOne) {
    for (const std::uint64_t seed : test::seeds(8)) {
        Chain chain{seed};
        std::mt19937_64 random{seed};
        SnapshotFolder folder(parent.file(std::to_string(seed)), always);
        std::vector<Snapshot> in_memory;
        for (int i = 0; i != 12; ++i) {
            const auto next = chain.next(i != 0 && random() % 4 != 0);
            folder.store(next.snapshot);
            expect_whole(folder.read(next.snapshot.description.number), next);
            if (next.snapshot.description.builds_on == 0) in_memory.clear();
            in_memory.push_back(next.snapshot);
            expect_whole(joined(in_memory), next);
            ASSERT_FALSE(HasFailure()) << "seed " << seed;
        }
    }
}

TEST_F(ChangesInAFolder, AChainIsKeptAsLongAsItsLastOne) {
    SnapshotFolder folder(path, always);
    EXPECT_FALSE(folder.takes_changes()) << "there is nothing to build on";
    store(folder, {3});
    EXPECT_FALSE(folder.takes_changes()) << "there is nothing to fall back to";
    EXPECT_THAT(folder.numbers(), ElementsAre(1, 2, 3));
    EXPECT_THAT(folder.chain_of(3), ElementsAre(1, 2, 3));
    EXPECT_EQ(folder.oldest_needed(), 1U);
    store(folder, {1});
    EXPECT_TRUE(folder.takes_changes());
    EXPECT_THAT(folder.numbers(), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(folder.oldest_needed(), 3U);
    all.push_back(chain_.next(true));
    folder.store(all.back().snapshot);
    EXPECT_THAT(folder.numbers(), ElementsAre(1, 2, 3, 4, 5));
    EXPECT_EQ(folder.oldest_needed(), 3U);
    store(folder, {1});
    EXPECT_THAT(folder.numbers(), ElementsAre(4, 5, 6))
        << "the chain before the one before is gone";
    store(folder, {1, 1});
    EXPECT_THAT(folder.numbers(), ElementsAre(7, 8)) << "as without changes";
    EXPECT_EQ(folder.oldest_needed(), 7U);
}

TEST_F(ChangesInAFolder, ARunThatGoesOnKeepsTheChainItCameFrom) {
    {
        SnapshotFolder folder(path, always);
        store(folder, {2, 3});
    }
    SnapshotFolder folder(path, always);
    ASSERT_TRUE(folder.newest(warn(), nullptr));
    EXPECT_FALSE(folder.takes_changes()) << "a run begins with a whole one";
    store(folder, {1});
    EXPECT_THAT(folder.numbers(), ElementsAre(3, 4, 5, 6));
    EXPECT_EQ(folder.oldest_needed(), 5U);
}

/// The chain that it came from is read once more at the first store.
TEST_F(ChangesInAFolder, ARunWithoutDescriptorsRemovesNothing) {
    {
        SnapshotFolder folder(path, always);
        store(folder, {12});
    }
    SnapshotFolder folder(path, always);
    ASSERT_TRUE(folder.newest(warn(), nullptr));
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(next, 0);
    ::close(next);
    const rlimit few{static_cast<rlim_t>(next) + 4, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    store(folder, {1});
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(folder.numbers().size(), 13U);
    EXPECT_EQ(folder.oldest_needed(), 12U);
    flip_byte(13, 0);
    EXPECT_EQ(SnapshotFiles(path).read(12).description.number, 12U);
}

TEST_F(ChangesInAFolder, ARunThatBeginsAnewKeepsTheOldChainFirst) {
    {
        SnapshotFolder folder(path, always);
        store(folder, {3});
    }
    SnapshotFolder folder(path, always);
    store(folder, {1});
    EXPECT_THAT(folder.numbers(), ElementsAre(1, 2, 3, 4));
    EXPECT_FALSE(folder.takes_changes()) << "the chain before is that of another run";
    store(folder, {1});
    EXPECT_TRUE(folder.takes_changes());
    EXPECT_THAT(folder.numbers(), ElementsAre(4, 5));
}

TEST_F(ChangesInAFolder, OneThatBuildsOnAnotherThanTheLastIsRefused) {
    SnapshotFolder folder(path, always);
    store(folder, {2});
    auto next = chain_.next(true);
    next.snapshot.description.builds_on = 1;
    EXPECT_THAT(message_of<InputOutputError>([&] { folder.store(next.snapshot); }),
                HasSubstr("0000000003.snapshot: builds on a snapshot that was not stored before"));
    EXPECT_THAT(folder.numbers(), ElementsAre(1, 2));
    EXPECT_THAT(message_of<StateError>([&] { (void)joined({next.snapshot}); }),
                HasSubstr("begins with one that is not whole"));
}

TEST_F(ChangesInAFolder, ChainsEndByTheirLengthAndTheirBytes) {
    const auto takes = [this](const SnapshotChanges& rule, std::size_t stored) {
        SnapshotFolder folder(parent.file(std::to_string(++folders_)), rule);
        Chain chain{1};
        folder.store(chain.next(false).snapshot);  // to fall back to
        for (std::size_t i = 0; i != stored; ++i) folder.store(chain.next(i != 0).snapshot);
        return folder.takes_changes();
    };
    EXPECT_TRUE(takes({.whole_bytes_min = 0, .chain_max = 3, .part_max = 1'000.0}, 3));
    EXPECT_FALSE(takes({.whole_bytes_min = 0, .chain_max = 3, .part_max = 1'000.0}, 4));
    EXPECT_FALSE(takes({.whole_bytes_min = 1 << 20, .chain_max = 3, .part_max = 1.0}, 1));
    // The files of changes are about as long as the whole one here.
    EXPECT_TRUE(takes({.whole_bytes_min = 0, .chain_max = 100, .part_max = 0.5}, 1));
    EXPECT_FALSE(takes({.whole_bytes_min = 0, .chain_max = 100, .part_max = 0.5}, 2));
}

/// Any file of the last chain: the newest one that does not build on it stands.
TEST_F(ChangesInAFolder, DamageGoesBackToTheOneBefore) {
    for (const std::uint64_t damaged : {3, 4, 5, 6}) {
        for (const bool is_gone : {false, true}) {
            path = parent.file("damaged" + std::to_string(damaged) + (is_gone ? "gone" : ""));
            all.clear();
            chain_ = Chain{damaged};
            {
                SnapshotFolder folder(path, always);
                store(folder, {2, 4});
            }
            if (is_gone) {
                fs::remove(file(damaged));
            } else {
                flip_byte(damaged, 0);
            }
            EXPECT_EQ(newest(), damaged - 1);
            const std::string name = SnapshotFiles::name_of(damaged);
            if (damaged != 6) {
                EXPECT_THAT(warnings,
                            Contains(AllOf(HasSubstr("0000000006.snapshot: it builds on " + name),
                                           HasSubstr(is_gone ? "it is not there" : "checksum"))));
            }
            // Numbers go on behind those that are damaged, and these go with their chain.
            {
                SnapshotFolder folder(path, always);
                ASSERT_TRUE(folder.newest(nullptr, nullptr));
                store(folder, {1});
            }
            EXPECT_EQ(newest(), 7U);
            EXPECT_THAT(warnings, IsEmpty());
            const std::uint64_t first = damaged > 3 ? 3 : 1;
            std::vector<std::uint64_t> kept;
            for (std::uint64_t one = first; one != damaged; ++one) kept.push_back(one);
            kept.push_back(7);
            EXPECT_EQ(SnapshotFiles(path).numbers(), kept);
        }
    }
}

TEST_F(ChangesInAFolder, DamageToBothChainsIsAnError) {
    {
        SnapshotFolder folder(path, always);
        store(folder, {2, 2});
    }
    flip_byte(1, 3);
    flip_byte(3, 3);
    SnapshotFolder folder(path, always);
    EXPECT_THAT(message_of<StateError>([&] { (void)folder.newest(warn(), nullptr); }),
                AllOf(HasSubstr("0000000001.snapshot"), HasSubstr("there is no other one")));
    EXPECT_THAT(folder.numbers(), ElementsAre(1, 2, 3, 4));
}

/// With right checksums, but no sense.
TEST_F(ChangesInAFolder, PlacesThatDoNotFitAreRefused) {
    const auto fault = [](const auto& change) {
        Chain chain{3};
        std::vector<Snapshot> all{chain.next(false).snapshot, chain.next(true).snapshot};
        change(all[0].description.nodes[0].tables, all[1].description.nodes[0].tables);
        for (SnapshotTable& table : all[1].description.nodes[0].tables) {
            table.has_changes_only = true;
        }
        return message_of<StateError>([&] { (void)joined(all); });
    };
    using Tables = std::vector<SnapshotTable>;
    EXPECT_EQ(fault([](Tables&, Tables&) {}), "no failure");
    EXPECT_THAT(fault([](Tables& base, Tables&) { base.pop_back(); }), HasSubstr("is missing"));
    EXPECT_THAT(fault([](Tables& base, Tables&) { base[1].has_changes_only = true; }),
                HasSubstr("build on nothing"));
    EXPECT_THAT(fault([](Tables& base, Tables&) { base[2].bytes = ~std::uint64_t{0}; }),
                HasSubstr("does not fit"));
    EXPECT_THAT(fault([](Tables& base, Tables&) { base[2].bytes = 7; }), HasSubstr("too short"));
    EXPECT_THAT(fault([](Tables&, Tables& last) { last[2].begin = 1'000; }),
                HasSubstr("does not fit"));
    EXPECT_THAT(fault([](Tables&, Tables& last) { last[2].begin = last[1].begin; }),
                HasSubstr("overlap"));
}

/// A name can be read, or is gone: files go before those that they build on.
TEST_F(ChangesInAFolder, AReaderNeverFindsABrokenChain) {
    SnapshotFolder folder(path, always);
    store(folder, {5, 5});
    std::atomic<bool> is_over{false};
    std::atomic<int> reads{0};
    std::string fault;
    std::jthread reader([&] {
        const SnapshotFiles files(path);
        while (!is_over) {
            for (const std::uint64_t number : files.numbers()) {
                try {
                    (void)files.chain_of(number);
                    ++reads;
                } catch (const InputOutputError&) {
                } catch (const StateError& error) {
                    const auto now = files.numbers();
                    if (std::find(now.begin(), now.end(), number) != now.end())
                        fault = error.what();
                }
            }
        }
    });
    while (reads < 100) store(folder, {5});
    for (int i = 0; i != 20; ++i) store(folder, {5});
    is_over = true;
    reader.join();
    EXPECT_EQ(fault, "");
}

TEST_F(ChangesInAFolder, AKilledProcessLeavesWholeChains) {
    std::mt19937_64 random{test::first_seed()};
    std::uint64_t before = 0;
    for (int i = 0; i != 20; ++i) {
        // The snapshots of a process are those of its number.
        const auto chain_of = [](std::uint64_t process, std::uint64_t number) {
            Chain chain{process};
            for (std::uint64_t left = number; left != 1; --left) (void)chain.next(false);
            return chain;
        };
        const auto process = static_cast<std::uint64_t>(i);
        const pid_t child = ::fork();
        if (child == 0) {
            SnapshotFolder folder(path, {.whole_bytes_min = 0, .chain_max = 5, .part_max = 100.0});
            (void)folder.newest(nullptr, nullptr);
            Chain chain = chain_of(process, before + 1);
            for (;;) folder.store(chain.next(folder.takes_changes()).snapshot);
        }
        ::usleep(static_cast<useconds_t>(random() % 20'000));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        SnapshotFolder folder(path, always);
        const auto newest = folder.newest(warn(), nullptr);
        const std::uint64_t number = newest ? newest->description.number : 0;
        ASSERT_GE(number, before);
        if (number != before) {
            Chain chain = chain_of(process, before + 1);
            Chain::Next expected;
            const auto files = folder.chain_of(number);
            // The first of all is there to fall back to.
            const auto behind_whole = [before](std::uint64_t one) {
                return one == 1 ? 0 : (one - std::max<std::uint64_t>(before, 1) - 1) % 6;
            };
            for (std::uint64_t one = before + 1; one <= number; ++one) {
                expected = chain.next(behind_whole(one) != 0);
            }
            expect_whole(*newest, expected);
            EXPECT_EQ(files.size(), behind_whole(number) + 1);
        }
        ASSERT_FALSE(HasFailure()) << "process " << i;
        // Two chains, and what each process could not remove any more.
        ASSERT_LE(folder.numbers().size(), 12U + 6U * static_cast<std::size_t>(i));
        before = number;
    }
    EXPECT_THAT(warnings, IsEmpty());
    EXPECT_GT(before, 20U);
}

}  // namespace
}  // namespace strid
