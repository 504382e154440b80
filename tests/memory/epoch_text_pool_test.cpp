// SPDX-License-Identifier: Apache-2.0
//
// Texts that come and go, against a model: live texts, and texts to which sent batches may refer,
// are unchanged; the others are freed.
#include <algorithm>
#include <atomic>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <strid/engine/channel/spsc_ring.hpp>
#include <strid/engine/memory/epoch_text_pool.hpp>

#include "stress.hpp"

namespace strid::memory {
namespace {

std::string text_of(int number) {
    return std::string(static_cast<std::size_t>(number % 90), 'k') + std::to_string(number);
}

TEST(EpochTextPool, LastUntilNoReferenceHoldsTheTurnsUpToTheirRetirement) {
    EpochTextPool texts;
    const auto retire_many = [&texts] {  // enough for an epoch
        for (int i = 0; i < 2'000; ++i) texts.retire(texts.keep("passes at once"));
    };
    const std::string_view kept = texts.keep("a key");
    TextReference sent = texts.advance_epoch();
    retire_many();
    (void)texts.advance_epoch();
    TextReference sent_later = texts.advance_epoch();
    texts.retire(kept);
    retire_many();
    (void)texts.advance_epoch();
    (void)texts.advance_epoch();
    EXPECT_EQ(texts.held(), 4'001U) << "the first epoch is held";
    EXPECT_EQ(kept, "a key");
    sent.reset();
    (void)texts.advance_epoch();
    EXPECT_EQ(texts.held(), 2'001U) << "the epoch in which it was retired is held";
    EXPECT_EQ(kept, "a key");
    sent_later.reset();
    (void)texts.advance_epoch();
    EXPECT_EQ(texts.held(), 0U);
}

TEST(EpochTextPool, TakeEmptyAndHugeOnes) {
    EpochTextPool texts;
    const std::string huge(1 << 20, 'x');
    const auto empty = texts.keep("");
    const auto kept = texts.keep(huge);
    EXPECT_EQ(empty, "");
    EXPECT_EQ(kept, huge);
    texts.retire(empty);
    texts.retire(kept);
    (void)texts.advance_epoch();
    (void)texts.advance_epoch();
    EXPECT_EQ(texts.held(), 0U);
}

TEST(EpochTextPool, AreFreedAtOnceWhereNothingPointsToThem) {
    EpochTextPool texts;
    const TextReference sent = texts.advance_epoch();
    for (int i = 0; i < 1'000; ++i) {
        const auto kept = texts.keep("key " + std::to_string(i));
        ASSERT_EQ(texts.held(), 1U);
        texts.free(kept);
    }
    texts.free(texts.keep(""));
    EXPECT_EQ(texts.held(), 0U);
}

TEST(EpochTextPool, StayForWhoCannotHoldATurn) {
    EpochTextPool texts;
    texts.keep_for_good();
    std::vector<std::string_view> kept;
    for (int i = 0; i < 5'000; ++i) {
        kept.push_back(texts.keep("key " + std::to_string(i)));
        texts.retire(kept.back());
        (void)texts.advance_epoch();
    }
    for (std::size_t i = 0; i < 5'000; ++i) ASSERT_EQ(kept[i], "key " + std::to_string(i));
}

/// More epochs are held than there may be: the last one goes on.
TEST(EpochTextPool, GoOnWhileEveryTurnIsHeld) {
    EpochTextPool texts;
    std::deque<std::pair<TextReference, std::pair<std::string_view, std::string>>> sent;
    int number = 0;
    const auto send_and_retire = [&] {
        const std::string text = "key number " + std::to_string(number++) + " of many";
        const auto kept = texts.keep(text);
        sent.push_back({texts.advance_epoch(), {kept, text}});
        texts.retire(kept);
    };
    for (int i = 0; i < 200'000; ++i) send_and_retire();
    EXPECT_EQ(texts.held(), 200'000U);
    for (const auto& [epoch, text] : sent) ASSERT_EQ(text.first, text.second);
    while (!sent.empty()) {
        sent.pop_front();
        if (sent.size() % 1'000 == 0) {
            (void)texts.advance_epoch();
            for (std::size_t i = 0; i < sent.size(); i += 997) {
                ASSERT_EQ(sent[i].second.first, sent[i].second.second);
            }
        }
    }
    (void)texts.advance_epoch();
    (void)texts.advance_epoch();
    EXPECT_EQ(texts.held(), 0U);
}

/// The obvious implementation: every text with its letters, the retired ones with the epoch of
/// their retirement, and the holders of each epoch.
class Model {
  public:
    explicit Model(std::uint64_t seed) : random_(seed), size_max_(1 + random_() % 4'000) {}

    void step() {
        const auto choice = random_() % 16;
        if (choice < 7 || live_.empty()) {
            std::string text(random_() % size_max_, 'a');
            text += std::to_string(number_++);
            const auto kept = texts_.keep(text);
            live_.push_back({kept, std::move(text), 0});
        } else if (choice < 12) {
            std::swap(live_[random_() % live_.size()], live_.back());
            texts_.retire(live_.back().kept);
            live_.back().epoch = epoch_;
            retired_.push_back(std::move(live_.back()));
            live_.pop_back();
        } else if (choice == 12) {
            std::swap(live_[random_() % live_.size()], live_.back());
            texts_.free(live_.back().kept);
            live_.pop_back();
        } else if (choice == 13 && !held_.empty()) {
            held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(random_() % held_.size()));
        } else {
            epoch(random_() % 3 == 0);
        }
        ASSERT_EQ(texts_.held(), live_.size() + retired_.size());
    }
    void let_go() {
        held_.clear();
        epoch(false);
        ASSERT_EQ(texts_.held(), live_.size() + retired_.size());
    }
    [[nodiscard]] std::size_t epochs() const { return epoch_; }

  private:
    struct Text {
        std::string_view kept;
        std::string text;
        std::size_t epoch;
    };

    /// Texts that were retired before the oldest epoch that is held, or present, are freed now; all
    /// others are unchanged.
    void epoch(bool hold) {
        const TextReference& present = texts_.advance_epoch();
        // The chunk identifies an epoch: it cannot be that of the epoch before.
        if (std::exchange(chunk_, present.get()) != present.get()) ++epoch_;
        std::size_t oldest = epoch_;
        for (const auto& [reference, epoch] : held_) oldest = std::min(oldest, epoch);
        std::erase_if(retired_, [oldest](const Text& text) { return text.epoch < oldest; });
        for (const Text& text : live_) ASSERT_EQ(text.kept, text.text);
        for (const Text& text : retired_) ASSERT_EQ(text.kept, text.text);
        ASSERT_TRUE(texts_.is_valid());
        if (hold) held_.emplace_back(present, epoch_);
    }

    std::mt19937_64 random_;
    std::size_t size_max_;
    EpochTextPool texts_;
    std::vector<Text> live_;
    std::vector<Text> retired_;
    std::vector<std::pair<TextReference, std::size_t>> held_;
    const TextChunk* chunk_ = texts_.advance_epoch().get();
    std::size_t epoch_ = 0;
    int number_ = 0;
};

TEST(EpochTextPool, AgreeWithAModelUnderRandomOperations) {
    const std::uint64_t seed = test::test_seed();
    std::size_t epochs = 0;
    for (std::uint64_t round = 0; round < 10; ++round) {
        Model model(seed + round);
        for (int step = 0; step < 2'000 && !testing::Test::HasFatalFailure(); ++step) model.step();
        model.let_go();
        epochs += model.epochs();
    }
    EXPECT_GT(epochs, 10U) << "no epoch was worth one";
}

/// One thread keeps, sends and retires; another reads what was sent and releases it.
TEST(EpochTextPoolStress, AreReadToTheLetterByAnotherThread) {
    struct Message {
        TextReference epoch;
        std::string_view text;
        int number = 0;
    };
    const test::Watchdog watchdog;
    const auto seed = static_cast<std::uint32_t>(test::test_seed());
    constexpr int messages = 100'000 / test::work_divisor;
    EpochTextPool texts;
    channel::SpscRing<Message*> ring{256};
    std::atomic<int> wrong{0};
    std::thread reader{[&] {
        std::deque<Message*> held;
        std::mt19937 random{seed};
        const auto check = [&](Message* message) {
            const std::string expected = text_of(message->number);
            if (message->text != expected) wrong.fetch_add(1);
            delete message;
        };
        for (int received = 0; received != messages;) {
            Message* message = nullptr;
            if (ring.try_pop(message) != channel::PopResult::ok) {
                std::this_thread::yield();
                continue;
            }
            ++received;
            held.push_back(message);
            while (!held.empty() && random() % 64 != 0 && held.size() > random() % 500) {
                check(held.front());
                held.pop_front();
            }
        }
        for (Message* message : held) check(message);
    }};
    std::mt19937 random{seed + 1};
    std::vector<std::string_view> live;
    std::size_t most = 0;
    for (int i = 0; i < messages; ++i) {
        const std::string text = text_of(i);
        const auto kept = texts.keep(text);
        auto* const message = new Message{texts.advance_epoch(), kept, i};
        while (ring.try_push(message) != channel::PushResult::ok) std::this_thread::yield();
        live.push_back(kept);
        while (!live.empty() && random() % 3 != 0) {
            const std::size_t at = random() % live.size();
            texts.retire(std::exchange(live[at], live.back()));
            live.pop_back();
        }
        most = std::max(most, texts.held());
    }
    reader.join();
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_LT(most, static_cast<std::size_t>(messages) / 2) << "nothing was freed";
}

}  // namespace
}  // namespace strid::memory
