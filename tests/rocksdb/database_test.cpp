// SPDX-License-Identifier: Apache-2.0
//
// Tables of which a part is in a database of RocksDB, and folders that it cannot have.
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/rocksdb/rocksdb.hpp>

#include "../support/file_limit.hpp"
#include "../support/folder.hpp"
#include "../support/seeds.hpp"
#include "../support/stored_table_model.hpp"

namespace strid {
namespace {

using testing::HasSubstr;
namespace files = std::filesystem;

constexpr rocksdb::StoreOptions small{.buffer_bytes = 256 << 10, .cache_bytes = 256 << 10};

template <class State, bool shows_keys>
void agrees_with_a_map() {
    for (const std::uint64_t seed : test::seeds(4)) {
        const test::Folder folder;
        test::StoredTableModel<State, shows_keys> model(
            seed, rocksdb::store(folder.file("states"), small));
        model.check();
        ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
    }
}

TEST(Database, IsAMap) {
    agrees_with_a_map<test::Listed, true>();
    agrees_with_a_map<test::Opaque, false>();
    agrees_with_a_map<test::Plain, false>();
}

ColdStore::Bytes bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}
void put(ColdStore& store, const std::string& key, const std::string& state) {
    const std::array changes{ColdStore::Change{bytes_of(key), bytes_of(state)}};
    store.write(changes);
}

/// The sentence of the error.
template <class Call>
std::string error_of(const Call& call) {
    try {
        call();
    } catch (const InputOutputError& error) {
        return error.what();
    }
    return "no error";
}

unsigned mode_of(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : 0U;
}

TEST(Database, ItsFolderIsForItsUserAndGoesWithIt) {
    const test::Folder folder;
    const std::string states = folder.file("states");
    {
        const auto stores = rocksdb::store(states, small);
        EXPECT_FALSE(files::exists(states));
        const auto first = stores->open({"a/b", 0, 2});
        const auto second = stores->open({"a/b", 1, 2});
        put(*first, "key", "state");
        EXPECT_EQ(mode_of(states), 0700U);
        EXPECT_EQ(mode_of(states + "/a%2fb/1"), 0700U);
    }
    EXPECT_FALSE(files::exists(states));
}

TEST(Database, AFolderThatWasThereStays) {
    const test::Folder folder;
    files::create_directory(folder.file("states"));
    { const auto store = rocksdb::store(folder.file("states"), small)->open({"count", 0, 1}); }
    EXPECT_TRUE(files::exists(folder.file("states")));
    EXPECT_TRUE(files::is_empty(folder.file("states")));
}

TEST(Database, TakesNoFolderOfOthers) {
    const test::Folder folder;
    files::create_directories(folder.file("states/count/0/live"));
    const std::string file = folder.write("states/count/0/live/notes", "mine");
    const auto stores = rocksdb::store(folder.file("states"), small);
    EXPECT_EQ(error_of([&] {
                  (void)stores->open({"count", 0, 1});
              }),
              folder.file("states/count/0") +
                  ": has files that are not of Strid: states need a folder of their own");
    EXPECT_TRUE(files::exists(file));
    folder.write("plain", "a file");
    EXPECT_THAT(error_of([&] {
                    (void)rocksdb::store(folder.file("plain"))->open({"count", 0, 1});
                }),
                HasSubstr("plain: is no folder"));
    EXPECT_THAT(
        error_of([&] {
            (void)rocksdb::store(folder.file("no/states"))->open({"count", 0, 1});
        }),
        HasSubstr("no/states: cannot make the folder of states: No such file or directory"));
}

TEST(Database, TakesNoFolderThatAllMayWriteTo) {
    const test::Folder folder;
    files::create_directory(folder.file("states"));
    files::permissions(folder.file("states"), files::perms::all);
    EXPECT_EQ(error_of([&] {
                  (void)rocksdb::store(folder.file("states"), small)->open({"count", 0, 1});
              }),
              folder.file("states") +
                  ": states need a folder that is this user's, and that not "
                  "every user may write to");
}

TEST(Database, TakesNoFolderThatIsInUse) {
    const test::Folder folder;
    const std::string states = folder.file("states");
    const auto first = rocksdb::store(states, small)->open({"count", 0, 1});
    put(*first, "key", "state");
    EXPECT_EQ(error_of([&] {
                  (void)rocksdb::store(states, small)->open({"count", 0, 1});
              }),
              states + "/count/0: another run keeps its states here");
    int found = 0;
    const std::string key = "key";
    first->read(std::array{bytes_of(key)}, [&](std::size_t, ColdStore::Bytes) { ++found; });
    EXPECT_EQ(found, 1);
}

TEST(Database, BeginsEmptyBehindAKill) {
    const test::Folder folder;
    const std::string states = folder.file("states");
    const auto child = ::fork();
    if (child == 0) {
        const auto store = rocksdb::store(states, small)->open({"count", 0, 1});
        put(*store, "key", "state");
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(files::exists(states + "/count/0/live/CURRENT"));
    const auto store = rocksdb::store(states, small)->open({"count", 0, 1});
    EXPECT_FALSE(store->all()->next());
}

TEST(Database, AFullDiskIsAnError) {
    const test::Folder folder;
    const auto store = rocksdb::store(folder.file("states"), small)->open({"count", 0, 1});
    std::string error;
    {
        const test::FileLimit limit(64 << 10);
        error = error_of([&] {
            const std::string state(1'000, 's');
            for (int i = 0; i != 100'000; ++i) put(*store, "key " + std::to_string(i), state);
        });
    }
    EXPECT_THAT(error, HasSubstr("states/count/0/live: cannot write states: IO error"));
}

std::size_t entries_in(ColdStore& store, const ColdStore::Checkpoint& checkpoint) {
    const auto cursor = store.read_checkpoint(checkpoint);
    std::size_t entries = 0;
    while (cursor->next()) ++entries;
    return entries;
}

TEST(Database, GoesOnBehindACheckpointThatADiskHasNoRoomFor) {
    const test::Folder folder;
    const std::string states = folder.file("states");
    const auto store = rocksdb::store(states, small)->open({"count", 0, 1});
    const std::string state(1'000, 's');
    for (int i = 0; i != 50; ++i) put(*store, "key " + std::to_string(i), state);
    store->checkpoint(1);
    {
        // Files of the database are shorter, and the room for all of them is not there.
        const test::FileLimit limit(900 << 10);
        for (int i = 0; i != 500; ++i) {
            put(*store, "key " + std::to_string(i), state);
            if (i % 100 != 99) continue;
            EXPECT_THAT(error_of([&] { store->checkpoint(2); }),
                        testing::AllOf(HasSubstr("states/count/0: there is no room for a "
                                                 "checkpoint of "),
                                       HasSubstr(" bytes: File too large")));
            EXPECT_FALSE(files::exists(states + "/count/0/0000000002"));
        }
    }
    put(*store, "key 500", state);
    store->checkpoint(3);
    EXPECT_EQ(entries_in(*store, {1, 0}), 50U);
    EXPECT_EQ(entries_in(*store, {3, 0}), 501U);
}

/// This process is no root meanwhile, and may not write to every folder.
class Unprivileged {
  public:
    Unprivileged() : was_root_(::geteuid() == 0) {
        constexpr uid_t of_no_user = 65534;
        if (was_root_ && ::seteuid(of_no_user) != 0) throw std::runtime_error("seteuid");
    }
    Unprivileged(const Unprivileged&) = delete;
    Unprivileged& operator=(const Unprivileged&) = delete;
    ~Unprivileged() {
        if (was_root_) (void)!::seteuid(0);
    }

  private:
    bool was_root_;
};

TEST(Database, TakesNoFolderThatCannotBeWritten) {
    const Unprivileged unprivileged;
    const test::Folder folder;
    files::create_directory(folder.file("states"));
    ::chmod(folder.file("states").c_str(), 0500);
    EXPECT_THAT(error_of([&] {
                    (void)rocksdb::store(folder.file("states"), small)->open({"count", 0, 1});
                }),
                HasSubstr("cannot make the folder of states: Permission denied"));
}

TEST(Database, GoesOnBehindACheckpointThatCannotBeMade) {
    const Unprivileged unprivileged;
    const test::Folder folder;
    const std::string replica = folder.file("states/count/0");
    const auto store = rocksdb::store(folder.file("states"), small)->open({"count", 0, 1});
    put(*store, "key", "state");
    ::chmod(replica.c_str(), 0500);
    EXPECT_THAT(error_of([&] { store->checkpoint(1); }),
                testing::AllOf(HasSubstr(replica + "/live: cannot make a checkpoint of the states"),
                               HasSubstr("Permission denied")));
    put(*store, "another", "state");
    ::chmod(replica.c_str(), 0700);
    store->checkpoint(2);
    EXPECT_EQ(entries_in(*store, {2, 0}), 2U);
}

using Sizes = std::map<std::string, std::uint64_t>;

Sizes sizes_in(const std::string& path) {
    Sizes sizes;
    for (const auto& entry : files::directory_iterator(path)) {
        sizes[entry.path().filename()] = entry.file_size();
    }
    return sizes;
}
Sizes sizes_of(const CheckpointFiles& made) {
    Sizes sizes;
    for (const CheckpointFile& file : made.files) sizes[file.name] = file.bytes;
    return sizes;
}

TEST(Database, KeepsTheCheckpointsThatSnapshotsName) {
    const test::Folder folder;
    const std::string states = folder.file("states");
    const std::string key = "key";
    {
        const auto store = rocksdb::store(states, small)->open({"count", 0, 1});
        for (std::uint64_t number = 1; number != 5; ++number) {
            put(*store, key, "state " + std::to_string(number));
            store->checkpoint(number);
            const CheckpointFiles made = store->checkpoint(number);
            EXPECT_EQ(made.folder, states + "/count/0/000000000" + std::to_string(number));
            EXPECT_EQ(sizes_in(made.folder), sizes_of(made));
            EXPECT_GE(made.files.size(), 3U);
        }
        store->checkpoint(5);
        store->drop_checkpoint(5);
        EXPECT_FALSE(files::exists(states + "/count/0/0000000005"));
        store->keep_checkpoints(std::array<std::uint64_t, 2>{2, 3});
    }
    EXPECT_FALSE(files::exists(states + "/count/0/live"));
    EXPECT_FALSE(files::exists(states + "/count/0/0000000004"));
    const auto store = rocksdb::store(states, small)->open({"count", 0, 1});
    EXPECT_THROW((void)store->read_checkpoint({4, 0}), StateError);
    EXPECT_THROW((void)store->restore({4, 0}), StateError);
    store->restore({2, 0});
    put(*store, "another", "state");
    const auto cursor = store->read_checkpoint({2, 0});
    ASSERT_TRUE(cursor->next());
    EXPECT_TRUE(std::ranges::equal(cursor->state(), bytes_of("state 2")));
    EXPECT_FALSE(cursor->next());
    store->keep_checkpoints({});
    EXPECT_FALSE(files::exists(states + "/count/0/0000000003"));
}

/// The file of a checkpoint whose name begins or ends so.
files::path file_like(const std::string& path, const std::string& part) {
    for (const auto& entry : files::directory_iterator(path)) {
        const std::string name = entry.path().filename();
        if (name.starts_with(part) || name.ends_with(part)) return entry.path();
    }
    throw std::runtime_error("no file " + part);
}

TEST(Database, FindsFaultsOfCheckpointsBeforeARun) {
    const test::Folder folder;
    const std::string states = folder.file("states");
    const auto stores = rocksdb::store(states, small);
    const std::string made = states + "/count/0/0000000007";
    SnapshotCheckpoint seven{.operator_name = "count"};
    {
        const auto store = stores->open({"count", 0, 1});
        put(*store, "key", std::string(10'000, 's'));
        seven.where = store->checkpoint(7);
    }
    const auto fault = [&] { return stores->fault_of(seven, 7); };
    const auto before = sizes_in(made);
    EXPECT_EQ(fault(), "");
    EXPECT_EQ(sizes_in(made), before);  // it only reads
    const auto damaged = [&](const std::string& part, const auto& damage) {
        const files::path file = file_like(made, part);
        const std::string copy = folder.file("copy");
        files::copy_file(file, copy, files::copy_options::overwrite_existing);
        damage(file);
        const std::string found = fault();
        files::copy_file(copy, file, files::copy_options::overwrite_existing);
        EXPECT_EQ(fault(), "");
        return found;
    };
    const std::string says = "its states are in a checkpoint that is damaged: " + made;
    const auto gone = [](const files::path& file) { files::remove(file); };
    const auto cut = [](const files::path& file) {
        files::resize_file(file, files::file_size(file) / 2);
    };
    const auto change = [](const files::path& file) {
        std::fstream(file, std::ios::in | std::ios::out | std::ios::binary) << "damage";
    };
    for (const char* const part : {".sst", "CURRENT", "MANIFEST"}) {
        EXPECT_THAT(damaged(part, gone), testing::StartsWith(says)) << part;
        EXPECT_THAT(damaged(part, cut), testing::StartsWith(says)) << part;
        if (part == std::string(".sst")) continue;  // its states are not read
        EXPECT_THAT(damaged(part, change), testing::StartsWith(says)) << part;
    }
    files::permissions(made, files::perms::others_write, files::perm_options::add);
    EXPECT_THAT(error_of([&] { (void)fault(); }), HasSubstr("states need a folder"));
    const std::string missing = "its states are in a checkpoint that is not there: ";
    EXPECT_EQ(stores->fault_of(seven, 8), missing + states + "/count/0/0000000008");
    EXPECT_EQ(stores->fault_of({.operator_name = "count", .replica = 3}, 7),
              missing + states + "/count/3/0000000007");
    EXPECT_EQ(stores->fault_of({.operator_name = "a/b"}, 7),
              missing + states + "/a%2fb/0/0000000007");
    const std::string no = folder.file("no");
    EXPECT_EQ(rocksdb::store(no)->fault_of(seven, 7), missing + no + "/count/0/0000000007");
}

TEST(Database, ADamagedCheckpointIsAnError) {
    const test::Folder folder;
    const std::string states = folder.file("states");
    const auto store = rocksdb::store(states, small)->open({"count", 0, 1});
    put(*store, "key", std::string(10'000, 's'));
    store->checkpoint(1);
    for (const auto& entry : files::directory_iterator(states + "/count/0/0000000001")) {
        if (entry.path().extension() != ".sst") continue;
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(100);
        file << "damage";
    }
    EXPECT_THAT(error_of([&] {
                    const auto cursor = store->read_checkpoint({1, 0});
                    while (cursor->next()) {
                    }
                }),
                HasSubstr("states/count/0/0000000001: cannot read states: Corruption"));
}

}  // namespace
}  // namespace strid
