// SPDX-License-Identifier: Apache-2.0
//
// When a batch leaves its port (design note 0003), without tasks: the links have no tasks at their
// ends, and the test is producer and consumer in turn.
#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/kernel/output_port.hpp>
#include <strid/engine/kernel/router.hpp>
#include <strid/memory/text_arena.hpp>

namespace strid::operators {
namespace {

using Record = std::uint64_t;
constexpr std::int64_t long_enough_ns = 50'000;

class Port : public testing::Test {
  protected:
    Port() { port.begin_run(now); }

    void write_records(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) write<Record>(port, port.slot(0), Record{next++});
    }
    /// The number of records in the batch that arrived, or 0; the batch is given back.
    std::size_t received() {
        memory::Block* batch = nullptr;
        if (port.link(0).receive(batch) != channel::PopResult::ok) return 0;
        const std::size_t count = message::header_of(*batch).count;
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ(message::records_of<Record>(message::header_of(*batch))[i], expected++);
        }
        port.link(0).give_back(*batch);
        return count;
    }
    std::size_t capacity() {
        write_records(1);
        const OutputPort::Slot& slot = port.slot(0);
        return 1 + static_cast<std::size_t>(slot.end - slot.cursor) / sizeof(Record);
    }

    OutputPort port{
        record_type<Record>(), {{.links = 1, .policy = SendPolicy::one}}, {.block_bytes = 4096}};
    std::int64_t now = 1'000'000;
    Record next = 0;
    Record expected = 0;
};

TEST_F(Port, SendsAFullBatchWithoutBeingAsked) {
    const std::size_t full = capacity();
    write_records(full - 1);
    EXPECT_EQ(received(), 0U);
    write_records(1);
    EXPECT_EQ(received(), full);
}

TEST_F(Port, SendsWhatThereIsWhenTheProducerIsIdle) {
    write_records(3);
    port.publish(true);
    EXPECT_EQ(received(), 3U);
    port.publish(true);
    EXPECT_EQ(received(), 0U) << "an empty batch is not sent";
}

TEST_F(Port, AHungryConsumerGetsAQuarterOfABatch) {
    const std::size_t quarter = (capacity() + 3) / 4;
    write_records(quarter - 2);
    port.publish(false);
    EXPECT_EQ(received(), 0U);
    write_records(1);
    port.publish(false);
    EXPECT_EQ(received(), quarter);
}

TEST_F(Port, AHungryConsumerGetsLessAfterAWhile) {
    write_records(1);
    port.begin_run(now + long_enough_ns - 1);
    port.publish(false);
    EXPECT_EQ(received(), 0U);
    port.begin_run(now + long_enough_ns);
    port.publish(false);
    EXPECT_EQ(received(), 1U);
}

TEST_F(Port, ABusyConsumerGetsFullBatchesOnly) {
    const std::size_t full = capacity();
    write_records(full);  // one batch waits, one record more
    port.begin_run(now + long_enough_ns);
    port.publish(false);
    EXPECT_EQ(port.link(0).queued(), 1U);
    EXPECT_EQ(received(), full);
    port.publish(false);
    EXPECT_EQ(received(), 1U) << "hungry again";
}

/// Replicas that share windows must agree on the late records behind a watermark.
TEST(PortForAll, SendsToAllHowFarTheStreamHasComeInTheSamePlaceOrNone) {
    OutputPort port{
        record_type<Record>(), {{.links = 2, .policy = SendPolicy::all}}, {.block_bytes = 4096}};
    std::int64_t now_ns = 1'000'000;
    const auto publish = [&](bool idle) {
        now_ns += long_enough_ns;
        port.begin_run(now_ns);
        (void)port.publish(idle);
    };
    const auto come_to = [&](std::int64_t ns) { port.set_progress({EventTime::of_ns(ns), false}); };
    const auto received = [&](std::size_t link) {
        std::vector<std::pair<std::size_t, std::int64_t>> batches;  // records, watermark in ns
        memory::Block* batch = nullptr;
        while (port.link(link).receive(batch) == channel::PopResult::ok) {
            const auto& header = message::header_of(*batch);
            batches.emplace_back(header.count, header.progress.watermark.ns());
            port.link(link).give_back(*batch);
        }
        return batches;
    };
    using Batches = std::vector<std::pair<std::size_t, std::int64_t>>;
    come_to(10);
    write<Record>(port, port.slot(0), Record{1});
    publish(true);
    EXPECT_EQ(received(0), (Batches{{1, 10}}));
    // One consumer waits for more, the other has not read yet.
    come_to(20);
    publish(false);
    come_to(30);
    write<Record>(port, port.slot(0), Record{2});
    publish(true);
    EXPECT_EQ(received(0), (Batches{{0, 20}, {1, 30}}));
    EXPECT_EQ(received(1), (Batches{{1, 10}, {0, 20}, {1, 30}}));
    // Neither waits: a busy producer notifies no consumer.
    write<Record>(port, port.slot(0), Record{3});
    publish(true);
    come_to(40);
    publish(false);
    EXPECT_EQ(received(0), (Batches{{1, 30}}));
    EXPECT_EQ(received(1), (Batches{{1, 30}}));
    publish(true);
    EXPECT_EQ(received(0), (Batches{{0, 40}}));
    EXPECT_EQ(received(1), (Batches{{0, 40}}));
}

class DealtPort : public testing::Test {
  protected:
    static constexpr std::size_t consumers = 4;

    void write_records(std::size_t count) {
        for (; count != 0; --count) write<Record>(port, port.slot(0), Record{1});
    }
    /// The records of each batch of a link. The consumer takes `record_ns` for each.
    std::vector<std::size_t> received(std::size_t link, std::int64_t record_ns) {
        std::vector<std::size_t> batches;
        memory::Block* batch = nullptr;
        while (port.link(link).receive(batch) == channel::PopResult::ok) {
            const std::size_t count = message::header_of(*batch).count;
            batches.push_back(count);
            port.link(link).worked(static_cast<std::int64_t>(count) * record_ns, count);
            port.link(link).give_back(*batch);
        }
        return batches;
    }
    /// Each consumer has had a record that took it so long, and waits for more.
    void know(std::int64_t record_ns) {
        write_records(consumers);
        (void)port.publish(true);
        for (std::size_t link = 0; link < consumers; ++link) {
            EXPECT_EQ(received(link, record_ns), std::vector<std::size_t>{1});
        }
        (void)port.refresh();
    }
    std::size_t records_of_first_batch() {
        while (port.link(0).queued() == 0) write_records(1);
        return received(0, 1).front();
    }

    OutputPort port{record_type<Record>(),
                    {{.links = consumers, .policy = SendPolicy::least_loaded}},
                    {.block_bytes = 4096}};
    std::size_t room = port.room();
};

TEST_F(DealtPort, EachConsumerGetsARecordBeforeOneHasShownItsCost) {
    know(1'000);
}

TEST_F(DealtPort, ABatchIsFullWhereRecordsAreCheap) {
    know(1'000);
    EXPECT_EQ(records_of_first_batch(), room);
}

TEST_F(DealtPort, ABatchIsWorkForTwoMilliseconds) {
    know(100'000);
    EXPECT_EQ(records_of_first_batch(), 20U);
}

TEST_F(DealtPort, SlowRecordsAreDealtOutSingly) {
    know(10'000'000);
    write_records(2 * consumers);
    (void)port.publish(true);
    for (std::size_t link = 0; link < consumers; ++link) {
        EXPECT_EQ(received(link, 10'000'000), (std::vector<std::size_t>{1, 1}));
    }
}

TEST_F(DealtPort, ManyQuickRecordsDoNotHideTheSlowOnes) {
    know(100'000'000);
    for (int i = 0; i < 3; ++i) know(1'000);
    write_records(2);
    (void)port.publish(true);
    EXPECT_EQ(received(0, 1'000), std::vector<std::size_t>{1});
}

// The output of one record, of which no consumer takes anything meanwhile.
TEST_F(DealtPort, BatchesGrowInDebt) {
    const std::size_t records = 1'000 * room;
    write_records(records);
    (void)port.publish(true);
    std::size_t sum = 0;
    std::size_t batches = 0;
    for (bool more = true; more; (void)port.refresh()) {  // sends batches that waited for room
        more = false;
        for (std::size_t link = 0; link < consumers; ++link) {
            const auto some = received(link, 1);
            batches += some.size();
            sum = std::accumulate(some.begin(), some.end(), sum);
            more = more || !some.empty();
        }
    }
    EXPECT_EQ(sum, records);
    EXPECT_LT(batches, 1'100U) << "of " << room << " records at most";
}

TEST_F(Port, HasNoSpareWhenItsBlocksAreOutAndASpareWhenOneComesHome) {
    while (port.spare()) write_records(1);
    EXPECT_FALSE(port.refresh());
    EXPECT_GT(received(), 0U);
    EXPECT_TRUE(port.refresh());
}

// A batch with the most texts of its input has room for texts of operators that it passes.
TEST_F(Port, KeepsTheTextsOfItsInputAndOfSomeOperatorsAlive) {
    memory::TextPool pool(16, 16);
    std::vector<memory::TextReference> texts;
    for (int i = 0; i < 16; ++i) texts.push_back(pool.try_lease());
    const auto holders = [&texts] {
        std::string counts;
        for (const auto& text : texts) counts += static_cast<char>('0' + text.use_count() - 1);
        return counts;
    };
    const std::size_t from_input = message::BatchHeader::texts_max;
    for (std::size_t i = 0; i < from_input; ++i) {
        port.keep_alive(texts[i]);
        write_records(1);
    }
    ASSERT_EQ(port.link(0).queued(), 0U) << "one batch has room for all";
    EXPECT_TRUE(port.keep_alive_too(texts[8]));
    EXPECT_TRUE(port.keep_alive_too(texts[9]));
    ASSERT_EQ(port.link(0).queued(), 0U);
    port.keep_alive(texts[10]);
    EXPECT_EQ(port.link(0).queued(), 1U) << "another input's is one too many";
    EXPECT_EQ(holders(), "1111111111100000");
    port.forget_texts();
    EXPECT_EQ(holders(), "1111111111000000") << "the batch holds what it holds";
    EXPECT_EQ(received(), from_input);
    EXPECT_EQ(holders(), "0000000000000000");
    for (std::size_t i = 0; i < message::BatchHeader::texts_room; ++i) {
        EXPECT_TRUE(port.keep_alive_too(texts[i]));
    }
    EXPECT_FALSE(port.keep_alive_too(texts[15]));
    port.forget_texts();
}

// A producer whose records are all accepted may still have a watermark that waits for room. If it
// counted as done it would sleep, and no consumer would wake it: those that make room wake only
// producers that wait for it.
TEST(FullRing, ANodeIsNotDoneWhileAWatermarkWaitsForRoom) {
    OutputPort port{record_type<Record>(),
                    {{.links = 1, .policy = SendPolicy::one}},
                    {.block_bytes = 4096, .blocks_per_link = 8, .ring_capacity = 2}};
    std::int64_t time = 0;
    const auto publish_next = [&] {
        port.set_progress({EventTime::of_ns(++time), false});
        return port.publish(true);
    };
    EXPECT_TRUE(publish_next());
    EXPECT_TRUE(publish_next());
    EXPECT_FALSE(publish_next()) << "the ring holds two";
    EXPECT_FALSE(port.publish(true));
    EXPECT_FALSE(port.refresh());
    for (std::int64_t expected = 1; expected <= 3; ++expected) {
        memory::Block* batch = nullptr;
        ASSERT_EQ(port.link(0).receive(batch), channel::PopResult::ok);
        EXPECT_EQ(message::header_of(*batch).progress.watermark, EventTime::of_ns(expected));
        port.link(0).give_back(*batch);
        EXPECT_TRUE(port.refresh());
        EXPECT_TRUE(port.publish(true));
    }
}

TEST_F(Port, SomeRecordsFillTheBatchAndNoMore) {
    const std::size_t full = capacity();  // one record is written
    std::vector<Record> records(3 * full);
    std::iota(records.begin(), records.end(), next);
    SingleSlotRouter<Record> router;
    std::span<const Record> rest = records;
    EXPECT_EQ(router.some(port, rest), full - 1) << "what is left of the batch";
    rest = rest.subspan(full - 1);
    EXPECT_EQ(router.some(port, rest), full) << "a batch of its own";
    EXPECT_EQ(router.some(port, rest.subspan(full).first(5)), 5U);
    port.publish(true);
    EXPECT_EQ(received(), full);
    EXPECT_EQ(received(), full);
    EXPECT_EQ(received(), 5U);
}

TEST_F(Port, OneRecordGoesIntoABatchThatTookTheLastSpare) {
    const std::vector<Record> records(100'000);
    SingleSlotRouter<Record> router;
    std::size_t written = 0;
    std::size_t last = 0;
    while (port.spare()) {
        last = router.some(port, std::span<const Record>(records).subspan(written));
        written += last;
    }
    EXPECT_EQ(last, 1U);
    EXPECT_EQ(router.some(port, records), 1U) << "not even where there is room in the batch";
}

class KeyedPort : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Slots, KeyedPort, testing::Values(2, 3, 4, 8),
                         [](const auto& slots) { return std::to_string(slots.param); });

TEST_P(KeyedPort, StopsAtTheRecordThatNeedsABlockThatIsNotThere) {
    constexpr auto identity = [](const Record& record) { return record; };
    using Router = KeyByRouter<Record, decltype(identity)>;
    OutputPort port{
        record_type<Router::Physical>(),
        std::vector<OutputPort::SlotShape>(GetParam(), {.links = 1, .policy = SendPolicy::one}),
        {.block_bytes = 4096}};
    port.begin_run(1);
    Router router{identity};
    router.bind(port);
    std::vector<Record> records(100'000);
    std::iota(records.begin(), records.end(), Record{0});
    const std::size_t written = router.some(port, records);
    EXPECT_FALSE(port.spare());
    port.publish(true);
    std::vector<Record> received;
    for (std::size_t link = 0; link < GetParam(); ++link) {
        memory::Block* batch = nullptr;
        Record least = 0;  // records of a link come in order
        while (port.link(link).receive(batch) == channel::PopResult::ok) {
            auto& header = message::header_of(*batch);
            for (std::size_t i = 0; i < header.count; ++i) {
                const auto& one = message::records_of<Router::Physical>(header)[i];
                EXPECT_GE(one.record, least);
                EXPECT_EQ(one.hash, hash_of(one.record));
                EXPECT_EQ(key_group_of(one.hash) * GetParam() / key_groups, link);
                least = one.record + 1;
                received.push_back(one.record);
            }
            port.link(link).give_back(*batch);
        }
    }
    std::sort(received.begin(), received.end());
    EXPECT_EQ(received,
              std::vector<Record>(records.begin(),
                                  records.begin() + static_cast<std::ptrdiff_t>(written)));
}

}  // namespace
}  // namespace strid::operators
