// SPDX-License-Identifier: Apache-2.0
//
// Topics against the mock cluster of librdkafka, which speaks the protocol on loopback; the tests
// against a real broker are tests/transports/kafka_test.py.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <strid/base/error.hpp>
#include <strid/connector/transport.hpp>
#include <strid/kafka/kafka.hpp>

namespace strid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Topics : public testing::Test {
  protected:
    Topics() {
        ::rd_kafka_conf_t* const configuration = ::rd_kafka_conf_new();
        client_ = ::rd_kafka_new(RD_KAFKA_PRODUCER, configuration, nullptr, 0);
        cluster_ = ::rd_kafka_mock_cluster_new(client_, 1);
        ::rd_kafka_mock_topic_create(cluster_, "topic", 3, 1);
    }
    ~Topics() override {
        ::rd_kafka_mock_cluster_destroy(cluster_);
        ::rd_kafka_destroy(client_);
    }
    [[nodiscard]] std::string address(const std::string& options = "") const {
        return std::string("kafka://") + ::rd_kafka_mock_cluster_bootstraps(cluster_) + "/topic?" +
               options;
    }
    /// Sends rows, in a transaction each where there is a stream.
    void send(const std::vector<std::string>& rows, const std::string& options = "") {
        const auto output = make_transport_output(address(options));
        output->open({"id", "name"});
        for (const std::string& row : rows) output->write(row + "\n");
        output->commit();
        output->close();
    }
    /// The lines of an input up to its end, or `most` bytes of it.
    static std::string text_of(TransportInput& input, std::size_t most = SIZE_MAX) {
        std::string text;
        for (int waited = 0; text.size() < most && waited != 200;) {
            char bytes[64];
            const std::size_t room = std::min(sizeof bytes, most - text.size());
            const auto got = input.read({bytes, room}, 50);
            if (got.status == ByteReader::Status::end) break;
            if (got.status == ByteReader::Status::waiting) ++waited;
            text.append(bytes, got.bytes);
        }
        return text;
    }
    static std::vector<std::string> lines_of(std::string text) {
        std::vector<std::string> lines;
        for (std::size_t begin = 0; begin != text.size();) {
            const std::size_t end = text.find('\n', begin);
            lines.push_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
        return lines;
    }

    [[nodiscard]] std::string servers() const {
        return ::rd_kafka_mock_cluster_bootstraps(cluster_);
    }

  private:
    ::rd_kafka_t* client_ = nullptr;
    ::rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

TEST_F(Topics, RowsComeBack) {
    std::vector<std::string> rows;
    for (int i = 0; i != 500; ++i) rows.push_back(std::to_string(i) + ",name");
    send(rows);
    auto lines = lines_of(text_of(*open_transport_input(address("until=end"))));
    std::sort(lines.begin(), lines.end());
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(lines, rows);
}

TEST_F(Topics, MessagesOfAKeyAreInTheirOrder) {
    std::vector<std::string> rows;
    for (int i = 0; i != 300; ++i) {
        rows.push_back(std::to_string(i) + ",k" + std::to_string(i % 7));
    }
    send(rows, "key=name");
    std::map<std::string, int> last;
    for (const std::string& line : lines_of(text_of(*open_transport_input(address("until=end"))))) {
        const std::size_t comma = line.find(',');
        const int id = std::stoi(line.substr(0, comma));
        int& before = last.try_emplace(line.substr(comma + 1), -1).first->second;
        EXPECT_GT(id, before);
        before = id;
    }
    EXPECT_EQ(last.size(), 7U);
}

TEST_F(Topics, RowsAreWrittenAsJson) {
    send({R"(1,"a ""b"" \")", "007,", "-1.5e3,true", R"("2","")"}, "format=json&key=id");
    auto lines = lines_of(text_of(*open_transport_input(address("until=end"))));
    std::sort(lines.begin(), lines.end());
    EXPECT_THAT(lines, testing::UnorderedElementsAre(
                           R"({"id":1,"name":"a \"b\" \\"})", R"({"id":"007","name":null})",
                           R"({"id":-1.5e3,"name":true})", R"({"id":"2","name":""})"));
}

/// From any place on the rest comes, each message once.
TEST_F(Topics, AReaderGoesOnAtItsPosition) {
    std::vector<std::string> rows;
    for (int i = 0; i != 60; ++i) rows.push_back(std::to_string(i) + ",n" + std::to_string(i));
    send(rows, "key=name");
    std::sort(rows.begin(), rows.end());
    for (std::size_t bytes = 0; bytes < 300; bytes += 41) {
        auto first = open_transport_input(address("until=end"));
        ASSERT_TRUE(first->has_positions());
        std::string before = text_of(*first, bytes);
        first->passed(bytes / 2);
        const auto position = first->position(before.size());
        ASSERT_LE(position.bytes, before.size());
        first.reset();
        auto next = open_transport_input(address("until=end"));
        next->go_on_at(position.text);
        const std::string rest = text_of(*next);
        // The part of a message that was passed comes once more, and first.
        const std::string again = before.substr(position.bytes);
        EXPECT_EQ(rest.substr(0, again.size()), again);
        // Behind a whole message its newline may be left, which is no part of it.
        std::string passed = before.substr(0, position.bytes);
        if (!passed.empty() && passed.back() != '\n') passed += '\n';
        auto lines = lines_of(passed + rest);
        std::sort(lines.begin(), lines.end());
        EXPECT_EQ(lines, rows) << bytes;
    }
}

/// The mock cluster keeps no offsets of transactions.
TEST_F(Topics, AnEpochIsATransaction) {
    const auto output = make_transport_output(address());
    output->open({"id", "name"});
    EXPECT_EQ(output->last_epoch("stream"), 0U);
    output->write("1,a\n");
    output->commit({.stream = "stream", .number = 5});
    output->commit({.stream = "stream", .number = 6});
    output->close();
    output->open({"id", "name"});
    output->write("2,b\n");  // of a transaction that the next process aborts
    output->close();
    output->open({"id", "name"});
    output->commit({.stream = "stream", .number = 7});
    EXPECT_THAT(lines_of(text_of(*open_transport_input(address("until=end")))), ElementsAre("1,a"));
}

TEST_F(Topics, FaultsAreOneSentence) {
    const auto fault = [](const std::string& text) -> std::string {
        try {
            (void)open_transport_input(text);
        } catch (const Error& error) {
            return error.what();
        }
        return "nothing was thrown";
    };
    EXPECT_THAT(fault("kafka:topic"), HasSubstr("kafka://HOST:PORT/TOPIC"));
    EXPECT_THAT(fault("kafka://host:1/?x=1"), HasSubstr("kafka://HOST:PORT/TOPIC"));
    EXPECT_THAT(fault(address("start=never")), HasSubstr("earliest, latest, or @"));
    EXPECT_THAT(fault(address("partition=9")), HasSubstr("there is no partition 9"));
    EXPECT_THAT(fault(address("partition=x")), HasSubstr("no number of a partition"));
    EXPECT_THAT(fault(address("fetch.max.bites=1")), HasSubstr("fetch.max.bites"));
    EXPECT_THAT(fault(address("config=/none")), HasSubstr("/none: cannot be opened"));
    EXPECT_THAT(fault(address("group=a&partition=0")), HasSubstr("group= excludes partition="));
    EXPECT_THAT(fault(address("group=a&until=end")), HasSubstr("group= excludes until="));
    EXPECT_THAT(fault(address("group=a&start=never")), HasSubstr("earliest, latest, or @"));
    EXPECT_THAT(fault(address("group=a&settle=soon")), HasSubstr("settle: "));
    EXPECT_THAT(fault(address("settle=1s")), HasSubstr("settle= needs group=NAME"));
    EXPECT_THAT(fault(address("group=")), HasSubstr("group= has no name"));
    EXPECT_THAT(fault(address("header=id")), HasSubstr("header= is an option of an output"));
    EXPECT_THAT(fault(address("group.id=a")), HasSubstr("a group is joined by group=NAME"));
    EXPECT_THAT(fault(address("group=a&partition.assignment.strategy=range")),
                HasSubstr("a group is joined with cooperative-sticky"));
    EXPECT_THAT(fault(address("tombstones=rows")), HasSubstr("tombstones=rows needs with=key"));
    EXPECT_THAT(fault(address("tombstones=yes&with=key")), HasSubstr("of an input is rows"));
    const auto input = open_transport_input(address());
    EXPECT_THROW(input->go_on_at("0:999"), InputOutputError);
    EXPECT_THROW(input->go_on_at("7:0"), InputOutputError);
    EXPECT_THROW(input->go_on_at("what"), InputOutputError);
}

TEST_F(Topics, FaultsOfOutputsAreOneSentence) {
    const auto fault = [this](const std::string& options) -> std::string {
        try {
            make_transport_output(address(options))->open({"id", "name"});
        } catch (const GraphError& error) {
            return error.what();
        }
        return "nothing was thrown";
    };
    EXPECT_THAT(fault("group=a"), HasSubstr("group= is an option of an input"));
    EXPECT_THAT(fault("header=id,oops"), HasSubstr("header: there is no column 'oops'"));
    EXPECT_THAT(fault("header=id,name"), HasSubstr("header: no column is left for the message"));
    EXPECT_THAT(fault("key=id,oops"), HasSubstr("key: there is no column 'oops'"));
    EXPECT_THAT(fault("tombstones=yes&key=id"), HasSubstr("tombstones of an output is void"));
    EXPECT_THAT(fault("tombstones=void"), HasSubstr("tombstones=void needs key=COL"));
    EXPECT_THAT(fault("tombstones=void&key=id"),
                HasSubstr("needs the column 'correction', which --corrections writes"));
}

/// Fields that are headers do not stand in the message; others stay as they are written.
TEST_F(Topics, HeadersComeBack) {
    send({R"(1,"a,""b""")", R"("2",)", R"(3,"")"}, "header=name&key=id");
    EXPECT_THAT(lines_of(text_of(*open_transport_input(address("until=end&with=key,header.name")))),
                testing::UnorderedElementsAre(R"(1,1,"a,""b""")", R"("2",2,)", "3,3,"));
    send({"1,x", "2,y"}, "header=id&format=json");
    EXPECT_THAT(lines_of(text_of(*open_transport_input(address("until=end&with=header.id")))),
                testing::IsSupersetOf({R"({"name":"x","@id":"1"})", R"({"name":"y","@id":"2"})"}));
}

/// A committed offset of a topic that was made anew lies behind its end.
TEST_F(Topics, AGroupCommitsAlsoInATopicThatWasMadeAnew) {
    ::rd_kafka_conf_t* const configuration = ::rd_kafka_conf_new();
    ::rd_kafka_conf_set(configuration, "bootstrap.servers", servers().c_str(), nullptr, 0);
    ::rd_kafka_conf_set(configuration, "group.id", "group", nullptr, 0);
    ::rd_kafka_t* const client = ::rd_kafka_new(RD_KAFKA_CONSUMER, configuration, nullptr, 0);
    ::rd_kafka_topic_partition_list_t* const list = ::rd_kafka_topic_partition_list_new(1);
    ::rd_kafka_topic_partition_list_add(list, "topic", 0)->offset = 1'000;
    EXPECT_EQ(::rd_kafka_commit(client, list, 0), RD_KAFKA_RESP_ERR_NO_ERROR);
    ::rd_kafka_topic_partition_list_add(list, "topic", 1);
    ::rd_kafka_topic_partition_list_add(list, "topic", 2);
    const std::vector<std::string> rows = {"1,a", "2,b", "3,c", "4,d", "5,e", "6,f"};
    send(rows);
    auto input = open_transport_input(address("group=group"));
    const std::string text = text_of(*input, rows.size() * 4);
    input->passed(text.size());
    input.reset();
    EXPECT_THAT(lines_of(text), testing::UnorderedElementsAreArray(rows));
    EXPECT_EQ(::rd_kafka_committed(client, list, 10'000), RD_KAFKA_RESP_ERR_NO_ERROR);
    std::int64_t sum = 0;
    for (int i = 0; i != list->cnt; ++i) sum += std::max<std::int64_t>(list->elems[i].offset, 0);
    EXPECT_EQ(sum, static_cast<std::int64_t>(rows.size()));
    ::rd_kafka_topic_partition_list_destroy(list);
    ::rd_kafka_destroy(client);
}

TEST_F(Topics, TombstonesAreRows) {
    const auto output = make_transport_output(address("key=id,name&tombstones=void"));
    output->open({"id", "name", "correction"});
    output->write("1,a,first\n1,a,void\n");
    output->commit();
    output->close();
    EXPECT_THAT(lines_of(text_of(*open_transport_input(address("until=end")))),
                ElementsAre("1,a,first"));
    EXPECT_THAT(lines_of(text_of(
                    *open_transport_input(address("until=end&with=key,offset&tombstones=rows")))),
                ElementsAre(R"(1,a,first,"1,a",0)", R"({"@key":"1,a","@offset":1})"));
}

}  // namespace
}  // namespace strid
