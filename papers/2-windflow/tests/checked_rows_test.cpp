// SPDX-License-Identifier: Apache-2.0
//
// The state of checked rows is complete: another source goes on with what the check kept.
#include "apps/common/checked_rows.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/connector/drive.hpp"

namespace strid::apps {
namespace {

/// Numbers that never fall, as an application checks them.
struct Rising {
    using Row = std::int64_t;
    using Record = std::int64_t;
    static constexpr bool points_to_text = false;
    bool operator()(std::int64_t row, std::int64_t& record, std::string& fault) {
        if (row < latest) {
            fault = "falls";
            return false;
        }
        record = latest = row;
        return true;
    }
    auto state() { return std::tie(latest); }
    std::int64_t latest = 0;
};

TEST(CheckedRows, AreCheckedAgainstThoseBeforeTheCut) {
    const test::Folder folder;
    const std::string path = folder.write("numbers.csv", "5\n7\n6\n8\n");
    const auto make = [&] {
        CsvOptions options{.header = CsvHeader::none};
        options.on_malformed = OnMalformed::skip;
        return std::make_unique<CheckedRows<Rising>>(path, options, Rising{});
    };
    test::Emit<std::int64_t> emit;
    auto source = make();
    test::open(*source);
    while (emit.records.size() != 2) (void)source->poll(emit, 1);
    auto fresh = make();
    test::open(*fresh);
    fresh->state() = source->state();
    source = nullptr;
    fresh->on(Restored{});
    while (fresh->poll(emit, 1) != SourceStatus::finished) {
    }
    EXPECT_EQ(emit.records, (std::vector<std::int64_t>{5, 7, 8}));
    EXPECT_EQ(emit.malformed, 1U);
}

}  // namespace
}  // namespace strid::apps
