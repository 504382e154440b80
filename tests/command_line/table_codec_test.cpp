// SPDX-License-Identifier: Apache-2.0
//
// The state of a window of `strid window` as bytes and back: with further rows it has the same
// results as the state that was never saved; bytes that are cut are an error.
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <strid/state/codec.hpp>

#include "../../tools/strid/window/table_aggregate.hpp"
#include "../support/seeds.hpp"

namespace strid::tool {
namespace {

/// Rows of random values, and the memory that they lie in.
class RandomRows {
  public:
    RandomRows(const TablePlan& plan, std::mt19937_64& random) : plan_(plan), random_(random) {}

    const TableRow& next() {
        fields_.resize(plan_.values.size());
        texts_.clear();
        texts_.reserve(fields_.size());
        row_.fields = fields_.data();
        row_.time = EventTime::of_ns(static_cast<std::int64_t>(random_() % 1'000));
        for (std::size_t i = 0; i != fields_.size(); ++i) {
            if (random_() % 8 == 0) {
                row_.forget(i);
            } else if (plan_.values[i].is_text) {
                texts_.push_back("text " + std::to_string(random_() % 5'000));
                row_.set_text(i, texts_.back());
            } else {
                row_.set_number(i, number());
            }
        }
        return row_;
    }

  private:
    TableNumber number() {
        TableNumber number{};
        switch (random_() % 8) {
            case 0:
                number.kind = ValueKind::large;
                number.value.large = std::numeric_limits<std::uint64_t>::max() - random_() % 9;
                break;
            case 1:
            case 2:
                number.kind = ValueKind::decimal;
                number.value.decimal = static_cast<double>(random_() % 1'000) / 8;
                break;
            default:
                number.kind = ValueKind::integer;
                number.value.integer = static_cast<std::int64_t>(random_() % 1'000) - 500;
        }
        return number;
    }

    const TablePlan& plan_;
    std::mt19937_64& random_;
    std::vector<TableField> fields_;
    std::vector<std::string> texts_;
    TableRow row_;
};

TableState loaded(std::span<const std::byte> bytes) {
    StateReader reader{bytes};
    auto state = state::loaded<TableState>(reader);
    reader.expect_end();
    return state;
}

std::string text_of(const TablePlan& plan, const TableState& result) {
    std::string text;
    append_result(text, plan, 1, result);
    return text;
}

class TableCodec : public testing::TestWithParam<const char*> {
  protected:
    TableCodec() {
        plan_->times = {"at"};
        plan_->read_aggregates(GetParam());
    }

    std::shared_ptr<TablePlan> plan_ = std::make_shared<TablePlan>();
};

TEST_P(TableCodec, LoadedStateGoesOnLikeTheSavedOne) {
    const TableAggregate aggregate(plan_);
    for (const std::uint64_t seed : test::seeds(30)) {
        std::mt19937_64 random{seed};
        RandomRows rows(*plan_, random);
        const auto add_some = [&](TableState& state, std::size_t most) {
            for (std::size_t left = random() % most; left != 0; --left) {
                aggregate.add(state, rows.next());
            }
        };
        TableState kept = aggregate.identity();
        add_some(kept, 1'500);
        TableState other = loaded(state::bytes_of(kept));
        for (int i = 0; i != 100; ++i) {
            const TableRow& row = rows.next();
            aggregate.add(kept, row);
            aggregate.add(other, row);
        }
        TableState more = aggregate.identity();
        add_some(more, 100);
        const TableState expected = result_of(*plan_, 1, aggregate.combine(kept, more));
        const TableState found =
            result_of(*plan_, 1, aggregate.combine(other, loaded(state::bytes_of(more))));
        ASSERT_EQ(text_of(*plan_, found), text_of(*plan_, expected)) << "seed " << seed;
        ASSERT_EQ(text_of(*plan_, loaded(state::bytes_of(found))), text_of(*plan_, expected))
            << "seed " << seed;
    }
}

TEST_P(TableCodec, BytesThatAreCutAreRefused) {
    std::mt19937_64 random{1};
    RandomRows rows(*plan_, random);
    const TableAggregate aggregate(plan_);
    TableState state = aggregate.identity();
    for (int i = 0; i != 20; ++i) aggregate.add(state, rows.next());
    const std::vector<std::byte> bytes = state::bytes_of(state);
    for (std::size_t size = 0; size != bytes.size(); ++size) {
        EXPECT_THROW((void)loaded(std::span(bytes).first(size)), StateError) << size;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Aggregates, TableCodec,
    testing::Values("count", "count,sum(x)", "sum(x),mean(y),min(x),max(y),stddev(x)",
                    "median(x),p99(y)", "distinct(t),distinct_approximately(u)",
                    "first(t),last(u),min_by(t, x),max_by(u, y),top(3, x),bottom(2, y)",
                    "most_frequent(3, t),collect(5, u),count"));

TEST(TableCodecOfWords, WordThatWouldBeAnAddressIsRefused) {
    StateBytes bytes;
    StateWriter writer{bytes};
    writer.length(0);
    for (int i = 0; i != 4; ++i) writer.number(std::uint64_t{1} << 63);
    writer.flush();
    const std::vector<std::byte> all = bytes.take();
    EXPECT_THROW((void)loaded(all), StateError);
}

}  // namespace
}  // namespace strid::tool
