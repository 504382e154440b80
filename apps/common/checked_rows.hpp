// SPDX-License-Identifier: Apache-2.0
//
// A source of CSV rows that are checked and made into other records. A row with wrong values is
// malformed, like a row of a wrong form, and follows the same policy. Threads as in FileSource.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include <strid/connector/csv_file.hpp>
#include <strid/engine/operator/state_size.hpp>

namespace strid::apps {

/// `Check` names the types `Row` and `Record`, says by `points_to_text` whether records point into
/// the text of rows, and has `bool operator()(const Row&, Record&, std::string& fault)`: false
/// where `fault`, which is empty before, states why the row is refused. It may keep what it needs
/// of the rows before, and then has `auto state()`, a std::tie; each copy of the source has its
/// own.
template <class Check>
class CheckedRows : private CsvFile<typename Check::Row> {
    using Row = typename Check::Row;
    using Rows = CsvFile<Row>;

  public:
    using record_type = typename Check::Record;

    CheckedRows(std::string path, CsvOptions options, Check check)
        : Rows(std::move(path), std::move(options)), check_(std::move(check)) {}

    using CsvSource::on;  // one task reads: a row is refused when it is emitted
    using CsvSource::traits;
    using Rows::blocks;
    using Rows::bytes_read;
    using Rows::files;
    using Rows::fraction_done;
    using Rows::is_journalled;
    using Rows::keep_all_text;
    using Rows::replicas_used;
    using Rows::wake_at_ns;

    /// Rows that a source passes, to go on behind them, are not checked once more.
    auto state() { return std::tuple_cat(Rows::state(), operators::state_of(check_)); }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        Checking<Emit> checking{*this, emit};
        return Rows::poll(checking, budget);
    }

  private:
    /// Takes the rows that are emitted, and passes their records on.
    template <class Emit>
    struct Checking {
        CheckedRows& source;
        Emit& emit;

        bool operator()(Row&& row) {
            record_type record;
            if (source.check_(row, record, source.fault_)) [[likely]]
                return emit(std::move(record));
            source.refuse_emitted(std::exchange(source.fault_, {}));
            return true;
        }
        void keep_alive(const memory::TextReference& chunk) {
            if constexpr (Check::points_to_text) emit.keep_alive(chunk);
        }
        void ingress_at(std::int64_t ns) { emit.ingress_at(ns); }
        void count_malformed(std::uint64_t count) { emit.count_malformed(count); }
    };

    Check check_;
    std::string fault_;
};

}  // namespace strid::apps
