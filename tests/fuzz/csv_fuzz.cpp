// SPDX-License-Identifier: Apache-2.0
//
// The CSV reader of `strid window`. The first byte chooses options. Invariants: there are no more
// rows than lines; a table whose plain rows are scanned in one pass has the same rows as one whose
// rows are scanned carefully because a column is requested twice.
#include <algorithm>
#include <cstring>

#include <strid/base/error.hpp>

#include "table_input.hpp"

namespace strid::fuzz {
namespace {

tool::WindowJob job_for(std::uint8_t choice, const std::string& path, bool carefully) {
    static constexpr std::string_view delimiters = ",;\t|";
    const auto plan = std::make_shared<tool::TablePlan>();
    plan->keys = {"k"};
    plan->times = {"t"};
    plan->read_aggregates(carefully ? "sum(x),distinct(x)" : "sum(x)");
    tool::WindowJob job;
    job.plan = plan;
    job.inputs = {path};
    job.format = tool::TableFormat::csv;
    const bool has_header = (choice & 4) != 0;
    job.csv.delimiter = delimiters[choice & 3];
    job.csv.header = has_header ? CsvHeader::skip : CsvHeader::none;
    job.csv.on_malformed = OnMalformed::skip;
    job.csv.columns =
        has_header ? std::vector<CsvColumn>{"k", "t", "x"} : std::vector<CsvColumn>{1, 2, 3};
    if (carefully) job.csv.columns.push_back(job.csv.columns.back());
    return job;
}

void expect_same(const tool::TableRow& one, const tool::TableRow& other) {
    require(one.key == other.key && one.time == other.time && one.has(0) == other.has(0));
    if (!one.has(0)) return;
    const tool::TableValue value = one.number(0).value;
    const tool::TableValue other_value = other.number(0).value;
    require(std::memcmp(&value, &other_value, sizeof value) == 0);
}

void check(std::uint8_t choice, std::string_view text) {
    const MemoryFile file(text);
    tool::TableSource quick_source(job_for(choice, file.path(), false));
    tool::TableSource careful_source(job_for(choice, file.path(), true));
    const Rows quick = read_all(quick_source);
    const Rows careful = read_all(careful_source);
    const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
    require(quick.rows.size() + quick.malformed <= static_cast<std::size_t>(lines));
    require(quick.rows.size() == careful.rows.size() && quick.malformed == careful.malformed);
    for (std::size_t i = 0; i < quick.rows.size(); ++i) {
        expect_same(quick.rows[i], careful.rows[i]);
    }
}

}  // namespace
}  // namespace strid::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        strid::fuzz::check(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
    } catch (const strid::Error&) {
        // A header without the columns, bytes that are packed and damaged: refused.
    }
    return 0;
}
