// SPDX-License-Identifier: Apache-2.0
//
// A table for look-ups (operator/lookup_table.hpp), read from a file of comma-separated values or
// from a table of a database, and read again when it is exchanged:
//
//     auto campaigns = lookup_file<&Ad::number, &Ad::campaign>("ads.csv", {.check_every = 1s});
//     std::move(views).lookup(campaigns, field<&View::ad>, set_campaign)
//
//     auto products = lookup_file<&Product::number>(
//         "postgres:///shop?table=products",
//         {.csv = {.columns = {"number", "name"}}, .check_every = 10s});
//
// The file is read while the graph is built. Then a separate thread checks it every `check_every`:
// a new file of that name is read at once, and a file that is written in place is read when it has
// not changed for that long. A version is taken over as a whole, and only if every row is valid,
// the last one ends in a newline, and the file did not change while it was read. Otherwise the old
// version stays in force, and the error is reported. The safe way to exchange a table is to write
// it beside the file and to rename it.
//
// A table of a database (docs/databases.md) is read again by each check, whether it has changed or
// not. A server that is away is reported once; the first check that finds it again takes the table
// over.
//
// Threads: any thread may read and reload it. It is a handle: copies share the same file. The
// thread ends when the last copy, and the last graph that uses the table, is destroyed.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/engine/base/text_fields.hpp>
#include <strid/operator/current_table.hpp>
#include <strid/operator/lookup_table.hpp>

namespace strid {

/// The action for a new version of a file that cannot be taken over.
enum class OnFailedReload : std::uint8_t {
    keep,  ///< The old version stays in force; calls `report`.
    fail   ///< The same, and runs that look things up in it end with the error.
};

/// How a table is read from a file, and when it is read anew.
struct TableFileOptions {
    CsvOptions csv = {};  ///< How the file is read, as by csv_file.
    /// How often the file is checked, or a table of a database read; zero: only by reload().
    Duration check_every = Duration::zero();
    /// The action for a new version that cannot be read.
    OnFailedReload on_failed_reload = OnFailedReload::keep;
    /// Called with the error of a new version, once for each, by the thread that read it. Of a
    /// database: once until the table was read again, unless the reason is another one. A log
    /// (base/log.hpp) gets it, too.
    std::function<void(const std::string&)> report = {};
    /// The name of the reader for messages, as "--campaigns"; empty: the operator.
    std::string user = {};
};

namespace connector {

/// Between two parts of the rows; sleeps for a millisecond where a pipe has none yet. Ends the
/// reading where the last handle is gone, by an exception.
void go_on_reading(bool has_rows);

/// Throws GraphError where the rows of an address are messages, which never end.
void check_rows_end(const ByteReader& rows, const std::string& path);

/// Rows of a file, and the line that each of them ends on.
template <class Row>
struct NumberedRows {
    std::vector<Row> rows;
    std::vector<std::uint64_t> lines;
};

/// Reads a file of rows to its end. `check(row)` gives what is wrong with a row, if anything.
template <class Row, class Check>
class RowReader : private CsvFile<Row> {
    using File = CsvFile<Row>;

  public:
    RowReader(const std::string& path, const CsvOptions& options, const Check& check)
        : File(path, options), check_(check) {}

    /// Throws InputOutputError, which names the file and, where a row is wrong, its line.
    [[nodiscard]] NumberedRows<Row> read() {
        constexpr std::size_t rows_at_once = 4096;
        this->begin({});
        check_rows_end(this->reader_->bytes(), this->path());
        for (;;) {
            const SourceStatus status = this->poll(*this, rows_at_once);
            if (status == SourceStatus::finished) return std::move(read_);
            go_on_reading(status == SourceStatus::more);
        }
    }

    bool operator()(Row&& row) {
        const std::string fault = check_(std::as_const(row));
        if (fault.empty()) {
            read_.rows.push_back(std::move(row));
            read_.lines.push_back(this->line_number_);
        } else {
            this->refuse(this->line_number_, fault, {});
        }
        return true;
    }
    void ingress_at(std::int64_t /*ns*/) noexcept {}
    void count_malformed(std::uint64_t /*count*/) noexcept {}

  private:
    const Check& check_;
    NumberedRows<Row> read_;
};

/// When a file is read again, and by which thread.
class FileWatch {
  public:
    /// Takes a version over that was read.
    using TakeOver = std::function<void()>;

    /// `read` reads the file, or throws; `fail` ends the runs. Reads nothing yet.
    FileWatch(std::string path, const TableFileOptions& options, std::function<TakeOver()> read,
              std::function<void(std::exception_ptr)> fail);
    ~FileWatch();
    FileWatch(const FileWatch&) = delete;
    FileWatch& operator=(const FileWatch&) = delete;

    /// The first version: throws what is wrong with it. Starts the thread.
    void begin();
    [[nodiscard]] bool reload();
    [[nodiscard]] std::string last_failure() const;
    [[nodiscard]] std::uint64_t failures() const;

  private:
    class Reader;
    std::unique_ptr<Reader> reader_;
};

}  // namespace connector

/// `Table` is made of rows of the file.
template <class Table>
class TableFile {
  public:
    /// LookupTable, RangeTable or StepTable.
    using table_type = Table;

    /// `read(path, csv options)` makes a table of the file, or throws InputOutputError.
    template <class Read>
    TableFile(const std::string& path, const TableFileOptions& options, Read read)
        : shared_(std::make_shared<Shared>(path, options, std::move(read))) {
        shared_->watch.begin();
    }

    /// The table for look-ups; while it exists, the file is checked.
    [[nodiscard]] CurrentTable<Table> current() const {
        CurrentTable<Table> current = shared_->current;
        current.keep(shared_,
                     {.kind = FileUse::Kind::reads, .path = shared_->path, .user = shared_->user});
        return current;
    }
    /// The version in force.
    [[nodiscard]] std::shared_ptr<const Table> table() const { return shared_->current.table(); }
    /// How many versions were in force before.
    [[nodiscard]] std::uint64_t version() const { return shared_->current.version(); }

    /// Reads the file now, whether it has changed or not. Returns true if it was taken over; else
    /// the old version stays, and last_failure() returns the reason.
    bool reload() const { return shared_->watch.reload(); }
    /// The error of the last version that was not taken over; empty if there was none, or if the
    /// file was taken over since.
    [[nodiscard]] std::string last_failure() const { return shared_->watch.last_failure(); }
    /// How many versions were not taken over: as often as TableFileOptions::report is called.
    [[nodiscard]] std::uint64_t failures() const { return shared_->watch.failures(); }

  private:
    struct Shared {
        template <class Read>
        Shared(const std::string& file, const TableFileOptions& options, Read read)
            : path(file),
              user(options.user),
              watch(
                  file, options,
                  [this, read = std::move(read),
                   csv = options.csv]() -> connector::FileWatch::TakeOver {
                      auto table = std::make_shared<const Table>(read(path, csv));
                      return [this, table = std::move(table)] { take_over(table); };
                  },
                  [this](std::exception_ptr failure) { current.fail(std::move(failure)); }) {}

        /// The first version is not exchanged for another.
        void take_over(const std::shared_ptr<const Table>& table) {
            if (is_first) {
                current = CurrentTable<Table>{table};
                is_first = false;
            } else {
                current.exchange(table);
            }
        }

        std::string path;
        std::string user;
        CurrentTable<Table> current;
        bool is_first = true;        // of one reader at a time
        connector::FileWatch watch;  // its thread ends before the others go
    };

    std::shared_ptr<Shared> shared_;
};

namespace connector {

/// Throws the error as one of the file, with the lines of the entries.
[[noreturn]] void fail_table(const std::string& path, const std::vector<std::uint64_t>& lines,
                             const TableError& error);

/// Nothing is wrong with any row.
struct NoCheck {
    template <class Row>
    std::string operator()(const Row&) const {
        return {};
    }
};

template <auto Member>
struct MemberOf;
template <class Row, class T, T Row::*member>
struct MemberOf<member> {
    using row = Row;
    using type = T;
    static T&& take(Row& from) noexcept { return std::move(from.*member); }
};
/// The whole row.
template <class Row>
struct WholeRow {
    using type = Row;
    static Row take(Row& from) { return from; }
};

/// A function that makes a table of a file's rows: `entry_of(row)` is its entry.
template <class Table, class Row, class Check, class EntryOf>
[[nodiscard]] auto reading(Check check, EntryOf entry_of) {
    static_assert(!points_to_text<Row>,
                  "a table is kept longer than the file's text: its rows own their text "
                  "(std::string in place of std::string_view)");
    return [check = std::move(check), entry_of](const std::string& path, const CsvOptions& csv) {
        auto [rows, lines] = RowReader<Row, Check>{path, csv, check}.read();
        std::vector<typename Table::Entry> entries;
        entries.reserve(rows.size());
        for (Row& row : rows) entries.push_back(entry_of(row));
        std::vector<Row>{}.swap(rows);
        try {
            return Table{std::move(entries)};
        } catch (const TableError& error) {
            fail_table(path, lines, error);
        }
    };
}

}  // namespace connector

/// A table with a value for each key: `Key` and `Value` are members of the row; without `Value` the
/// whole row is the value. `path`: a file, or the address of a table (connector/transport.hpp).
/// `check(row)` gives what is wrong with a row, or an empty text. Throws InputOutputError for a
/// file that is missing, cannot be read, or has a wrong row, and names its line.
template <auto Key, auto Value, class Check = connector::NoCheck>
[[nodiscard]] auto lookup_file(const std::string& path, const TableFileOptions& options = {},
                               Check check = {}) {
    using K = connector::MemberOf<Key>;
    using V = connector::MemberOf<Value>;
    using Table = LookupTable<typename K::type, typename V::type>;
    return TableFile<Table>{path, options,
                            connector::reading<Table, typename K::row>(
                                std::move(check), [](auto& row) -> typename Table::Entry {
                                    return {K::take(row), V::take(row)};
                                })};
}
/// A table with the row for each `Key`, which must be unique.
template <auto Key, class Check = connector::NoCheck>
[[nodiscard]] auto lookup_file(const std::string& path, const TableFileOptions& options = {},
                               Check check = {}) {
    using K = connector::MemberOf<Key>;
    using V = connector::WholeRow<typename K::row>;
    using Table = LookupTable<typename K::type, typename K::row>;
    return TableFile<Table>{path, options,
                            connector::reading<Table, typename K::row>(
                                std::move(check), [](auto& row) -> typename Table::Entry {
                                    return {typename K::type{row.*Key}, V::take(row)};
                                })};
}

/// A table with the row for each range of keys, from `First` to `Last`, both included.
template <auto First, auto Last, class Check = connector::NoCheck>
[[nodiscard]] auto range_file(const std::string& path, const TableFileOptions& options = {},
                              Check check = {}) {
    using K = connector::MemberOf<First>;
    using Table = RangeTable<typename K::type, typename K::row>;
    return TableFile<Table>{path, options,
                            connector::reading<Table, typename K::row>(
                                std::move(check), [](auto& row) -> typename Table::Entry {
                                    return {row.*First, row.*Last, row};
                                })};
}

/// A table with the last row at or before a key: `From` is where a row begins to hold.
template <auto From, class Check = connector::NoCheck>
[[nodiscard]] auto step_file(const std::string& path, const TableFileOptions& options = {},
                             Check check = {}) {
    using K = connector::MemberOf<From>;
    using Table = StepTable<typename K::type, typename K::row>;
    return TableFile<Table>{path, options,
                            connector::reading<Table, typename K::row>(
                                std::move(check), [](auto& row) -> typename Table::Entry {
                                    return {row.*From, row};
                                })};
}

}  // namespace strid
