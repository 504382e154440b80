// SPDX-License-Identifier: Apache-2.0
//
// Resends as the ledger brings them to the core: in parts, with gap fills for messages that are not
// kept, and never with one for a message that cannot be read.
#include <filesystem>
#include <memory>
#include <semaphore>
#include <string>
#include <vector>

#include <fix/decoder.hpp>
#include <gtest/gtest.h>
#include <link/core_tags.hpp>
#include <session/ledger.hpp>

namespace strid::exchange {
namespace {

using fix::Message;
using fix::Tag;

class LedgerTest : public testing::Test {
  protected:
    LedgerTest() {
        std::string pattern = std::filesystem::temp_directory_path() / "strid-ledger-XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
        store_ = std::make_unique<Store>(folder_ / "store", Durability::process);
        const auto take = [](Event) { return true; };
        data_ = std::make_unique<DataLink>(read_endpoint("unix:" + (folder_ / "none").string()),
                                           DataLink::Begin{{}, 1, {}},
                                           DataLink::Hooks{take, [](const std::string&) {}}, log_);
        const Endpoint endpoint = read_endpoint("unix:" + (folder_ / "core").string());
        const auto take_counted = [this](Event) {
            events_.release();
            return true;
        };
        core_ = std::make_unique<CoreLink>(endpoint, take_counted, 1 << 20, log_);
        core_->start();
        socket_ = connect_to(endpoint, 1000);
        // The link is there when a message has come over it.
        EXPECT_TRUE(socket_.send_all(Message("A").set(CoreTag::connection, 7).encode()));
        events_.acquire();
        ledger_ = std::make_unique<Ledger>(*store_, *core_, *data_, log_);
    }
    ~LedgerTest() override {
        socket_.close();
        core_.reset();
        std::filesystem::remove_all(folder_);
    }

    static Action action(Action::Kind kind, std::int64_t sequence) {
        Action made;
        made.kind = kind;
        made.user = "U";
        made.connection = ConnectionId{1} << 40 | 7;  // of the first link
        made.sequence = sequence;
        made.next_incoming = 2;
        made.next_outgoing = 1000;
        return made;
    }
    static Action kept(std::int64_t sequence) {
        Action made = action(Action::Kind::send, sequence);
        made.kept = made.held = true;
        made.message = std::make_shared<const Message>(
            Message("8").set(Tag::msg_seq_num, sequence).set(Tag::sending_time, "first"));
        return made;
    }
    /// The frames that the core gets for messages `from` to `until`, in one line; `next` is where
    /// the resend goes on.
    std::string resend(std::int64_t from, std::int64_t until, std::int64_t& next,
                       Action part = action(Action::Kind::resend, 0)) {
        part.sequence = from;
        part.until = until;
        part.message = std::make_shared<const Message>("4");
        ledger_->carry_out({part});
        std::string text;
        while (true) {
            Message message;
            switch (decoder_.next(message)) {
                case fix::Decoded::garbled:
                    return text + "garbled";
                case fix::Decoded::more: {
                    std::string bytes;
                    if (!socket_.wait_readable(10'000)) return text + "nothing comes";
                    if (socket_.receive_some(bytes, 4096) < 0) return text + "end";
                    decoder_.feed(bytes);
                    continue;
                }
                case fix::Decoded::message:
                    break;
            }
            EXPECT_EQ(message.integer(CoreTag::connection), 7);
            if (message.is(output_written)) {
                next = message.integer(CoreTag::next);
                return text + std::string(message.get_or(CoreTag::fault_text, ""));
            }
            text += message.type() + std::string(message.get(Tag::msg_seq_num));
            if (message.has(Tag::new_seq_no)) text += "-" + message.get(Tag::new_seq_no);
            text += message.get_or(Tag::orig_sending_time, "") == "first" ? "again " : " ";
        }
    }

    const Log log_{"test", true};
    std::filesystem::path folder_;
    std::unique_ptr<Store> store_;
    std::unique_ptr<DataLink> data_;
    std::counting_semaphore<> events_{0};
    std::unique_ptr<CoreLink> core_;
    std::unique_ptr<Ledger> ledger_;
    Socket socket_;
    fix::Decoder decoder_;
};

TEST_F(LedgerTest, GapsAndMessagesThatWereNotSentYet) {
    ledger_->carry_out({kept(3), kept(4), kept(7), kept(9)});
    std::int64_t next = 0;
    EXPECT_EQ(resend(1, 8, next), "41-3 83again 84again 45-7 87again 48-9 ");
    EXPECT_EQ(next, 9);
    EXPECT_EQ(resend(5, 6, next), "45-7 ");
    Action fresh = action(Action::Kind::resend, 0);
    fresh.fresh = true;
    fresh.unkept[8] = std::make_shared<const Message>(Message("0").set(Tag::msg_seq_num, 8));
    fresh.unkept[10] = std::make_shared<const Message>(Message("W").set(Tag::msg_seq_num, 10));
    EXPECT_EQ(resend(7, 10, next, fresh), "87 08 89 W10 ");
    EXPECT_EQ(next, 11);
}

TEST_F(LedgerTest, ALongResendComesInParts) {
    std::vector<Action> actions;
    for (std::int64_t sequence = 1; sequence <= 300; ++sequence) actions.push_back(kept(sequence));
    ledger_->carry_out(actions);
    std::int64_t next = 1;
    std::string all;
    int parts = 0;
    for (; next <= 300; ++parts) all += resend(next, 300, next);
    std::string wanted;
    for (int sequence = 1; sequence <= 300; ++sequence) {
        wanted += "8" + std::to_string(sequence) + "again ";
    }
    EXPECT_EQ(all, wanted);
    EXPECT_EQ(parts, 3);
    // Of many parts that wait, two are read with each transaction.
    ledger_->carry_out(std::vector<Action>(5, [] {
        Action part = action(Action::Kind::resend, 1);
        part.until = 1;
        part.message = std::make_shared<const Message>("4");
        return part;
    }()));
    EXPECT_TRUE(ledger_->has_resends());
    ledger_->carry_out({});
    ledger_->carry_out({});
    EXPECT_FALSE(ledger_->has_resends());
}

TEST_F(LedgerTest, AMessageThatCannotBeReadIsReported) {
    ledger_->carry_out({kept(1), kept(2), kept(4)});
    store_->begin();
    store_->keep_message("U", 3, "this is no FIX");
    store_->keep_message("U", 5, kept(9).message->encode());
    store_->commit();
    std::int64_t next = 0;
    EXPECT_EQ(resend(1, 9, next),
              "81again 82again message 3 is damaged in the store of the exchange");
    EXPECT_EQ(next, 3);
    EXPECT_EQ(resend(4, 9, next), "84again message 5 is damaged in the store of the exchange");
}

}  // namespace
}  // namespace strid::exchange
