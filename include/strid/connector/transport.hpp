// SPDX-License-Identifier: Apache-2.0
//
// Transports: inputs and outputs of text that are no files. A transport serves the addresses of a
// scheme, wherever a source or a sink of text takes a path: csv_file, csv_writer, `strid window`.
//
//     postgres:///shop?table=orders          sqlite:bars.db?table=bars&keys=symbol,start
//
// A transport is a library of its own, which the core does not link; its header registers it
// (strid/postgres/postgres.hpp, strid/sqlite/sqlite.hpp). It has one class for its input, bytes,
// and one for its output, rows of CSV in transactions; the formats of rows are those of files. The
// core has one itself, http-listen://[HOST]:PORT/PATH: lines that clients post (docs/http.md).
//
// Each row of a table has its effect once in a run that takes snapshots: rows are kept, in memory
// and in the snapshot, until the snapshot behind them is stored, and then go into the table in one
// transaction with the number of their epoch, which is that of the snapshot. A run that goes on
// reads that number and leaves out what the table has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/connector/byte_reader.hpp>

namespace strid {

/// The server has closed the connection, or cannot be reached for now: rows that were not committed
/// are to be sent once more.
class ConnectionLost : public InputOutputError {
  public:
    using InputOutputError::InputOutputError;
};

/// An address in its parts: `SCHEME:PLACE?NAME=VALUE&NAME=VALUE`. In a value `%20` is a space; a
/// percent sign that no two hexadecimal digits follow stands for itself, and so does a plus sign.
class TransportAddress {
  public:
    /// Throws GraphError where it has no scheme, an option no name or two values, or where a
    /// password stands in it: it would be seen in lists of processes, messages and histories.
    explicit TransportAddress(std::string text);

    /// All of it, for messages.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Before the colon.
    [[nodiscard]] const std::string& scheme() const noexcept { return scheme_; }
    /// The text between the colon and the question mark, as it was given.
    [[nodiscard]] const std::string& place() const noexcept { return place_; }
    /// The same with characters in the place of %XX.
    [[nodiscard]] std::string decoded_place() const;
    /// The value of an option; empty: it is not given. It is taken out.
    [[nodiscard]] std::string take(std::string_view option);
    /// The same of a list, `a,b`.
    [[nodiscard]] std::vector<std::string> take_list(std::string_view option);
    /// The options that were not taken.
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& left() const noexcept {
        return options_;
    }
    /// Throws GraphError where options are left; `known` lists those that there are.
    void expect_no_more(std::string_view known) const;
    /// Throws GraphError: the address, and the reason.
    [[noreturn]] void refuse(const std::string& reason) const;

  private:
    std::string text_;
    std::string scheme_;
    std::string place_;
    std::vector<std::pair<std::string, std::string>> options_;
};

/// The bytes of an input that is no file. Opened by its constructor, which throws InputOutputError.
/// They can be read once more: the same bytes come again unless the data change; or they are
/// messages, each a line, whose positions last. But for transports whose input goes away. Threads:
/// one at a time.
class TransportInput {
  public:
    TransportInput() = default;
    TransportInput(const TransportInput&) = delete;
    TransportInput& operator=(const TransportInput&) = delete;
    virtual ~TransportInput() = default;
    /// As ByteReader::read.
    virtual ByteReader::Result read(std::span<char> out, int wait_ms) = 0;

    /// A place in messages.
    struct Position {
        std::string text = {};    ///< The transport's own; it lasts.
        std::uint64_t bytes = 0;  ///< That were read before the message.
    };
    /// Whether it reads messages: a run goes on at a position, and reads nothing before it again.
    [[nodiscard]] virtual bool has_positions() const noexcept { return false; }
    /// How many bytes read() gives without waiting: they are read after a stop.
    [[nodiscard]] virtual std::uint64_t bytes_waiting() const noexcept { return 0; }
    /// The run is stopped: takes what has arrived, and nothing that comes later. Before
    /// bytes_waiting().
    virtual void take_last() noexcept {}
    /// The rows of so many bytes were emitted: no position before them is asked for any more.
    virtual void passed(std::uint64_t /*bytes*/) {}
    /// So many bytes, of those that read() has given, are in the journal of the run. A run that has
    /// one calls it with 0 before the first read, and what passed() says counts for nothing then.
    virtual void accepted(std::uint64_t /*bytes*/) {}
    /// How many bytes that read() gives next, without waiting, end the message of the last ones: a
    /// journal has a message whole or not at all. 63 MiB at most.
    [[nodiscard]] virtual std::uint64_t message_bytes_left() const noexcept { return 0; }
    /// The position of the first message that is not whole in so many bytes.
    [[nodiscard]] virtual Position position(std::uint64_t /*bytes*/) { return {}; }
    /// Why the server cannot be reached now, a sentence that begins with the address; empty: it
    /// can, as far as is known. It is connected to again by read().
    [[nodiscard]] virtual std::string_view lost() const noexcept { return {}; }
    /// Before the first read: begins with the message at a position. Throws InputOutputError where
    /// it is gone.
    virtual void go_on_at(std::string_view /*position*/) {}
};

/// A table that rows are written to. Threads: one at a time, but for interrupt().
class TransportOutput {
  public:
    TransportOutput() = default;
    TransportOutput(const TransportOutput&) = delete;
    TransportOutput& operator=(const TransportOutput&) = delete;
    virtual ~TransportOutput() = default;

    /// A transaction of a run that takes snapshots.
    struct Epoch {
        std::string_view stream;   ///< A name that no other run has, but for those that go on.
        std::uint64_t number = 0;  ///< Of the last snapshot behind its rows.
    };

    /// Connects, also once more after ConnectionLost, and checks that the table can be written.
    /// `columns`: their names, in the order of the rows; none: all that the table has. Throws
    /// InputOutputError.
    virtual void open(const std::vector<std::string>& columns) = 0;
    /// Adds whole rows of CSV to the transaction, which the first of them begins. A field without
    /// quotes and without text is no value. Throws InputOutputError.
    virtual void write(std::string_view rows) = 0;
    /// Ends the transaction: all of its rows are in the table, for good.
    virtual void commit() = 0;
    /// The same, with the number of the epoch; there may be no rows.
    virtual void commit(const Epoch& epoch) = 0;
    /// False where no number can be kept: after a kill the rows of the last snapshot come again.
    [[nodiscard]] virtual bool keeps_epochs() const noexcept { return true; }
    /// Whether a run without snapshots gives the rows of a write() that has thrown ConnectionLost
    /// once more, behind open(), for some seconds. Each write() is a transaction then, which the
    /// transport knows again. Else the run ends.
    [[nodiscard]] virtual bool takes_rows_again() const noexcept { return false; }
    /// The number of the last epoch of the stream that the table has; 0: none. A run that takes
    /// snapshots asks behind each open(), before it writes.
    [[nodiscard]] virtual std::uint64_t last_epoch(std::string_view stream) = 0;
    /// Gives the transaction up, and closes the connection.
    virtual void close() noexcept = 0;
    /// Ends a call that waits for the server, which then throws. Any thread.
    virtual void interrupt() noexcept = 0;
};

/// Rows of a table that are asked for one by one.
struct TableQuery {
    std::string key;                   ///< The column that a row is found by.
    std::vector<std::string> columns;  ///< Those of a row, in their order.
};

/// A table of which one row after the other is asked for. Threads: one at a time.
class TransportTable {
  public:
    TransportTable() = default;
    TransportTable(const TransportTable&) = delete;
    TransportTable& operator=(const TransportTable&) = delete;
    virtual ~TransportTable() = default;

    /// Connects, and checks that the columns are there. Throws InputOutputError, ConnectionLost
    /// where the server is away for now.
    virtual void open() = 0;
    /// The values of the row with this key, as texts; an empty one is also no value. None: there is
    /// no such row. Throws as open(), and where several rows have the key.
    [[nodiscard]] virtual std::optional<std::vector<std::string>> find(const std::string& key) = 0;
};

/// It serves the addresses of a scheme.
struct Transport {
    std::string scheme;  ///< Before the colon.
    /// Text that was read is gone, as from a pipe: a run with snapshots has a journal of it.
    bool goes_away = false;
    /// Rows have no text of the user's: they become CSV on their way, with a comma, and a dialect
    /// cannot be chosen.
    bool is_table = false;
    /// Rows that wait in a snapshot belong to the place and to `sink`: the other options may change
    /// from run to run. Else they belong to the whole address.
    bool options_may_change = false;
    /// Null: nothing can be read there. Throws GraphError for an address that is none.
    std::function<std::unique_ptr<TransportInput>(TransportAddress)> input = {};
    /// Null: nothing can be written there. Throws GraphError, and connects to nothing.
    std::function<std::unique_ptr<TransportOutput>(TransportAddress)> output = {};
    /// Null: rows cannot be asked for by key. Throws GraphError, and connects to nothing.
    std::function<std::unique_ptr<TransportTable>(TransportAddress, TableQuery)> table = {};
};

/// From now on the addresses of its scheme are served by it. Any thread.
void add_transport(Transport transport);

/// Whether the name of an input or an output is an address of a transport, of one that was added or
/// of one that Strid has and this program does not.
[[nodiscard]] bool is_transport_address(std::string_view name) noexcept;

/// Whether what is read at an address is gone then (Transport::goes_away).
[[nodiscard]] bool transport_goes_away(std::string_view address) noexcept;
/// Whether an address is that of a table (Transport::is_table).
[[nodiscard]] bool transport_is_table(std::string_view address) noexcept;

/// Throws GraphError where nothing serves the address, as the two below do.
void check_transport_address(const std::string& address);
/// The input at an address, opened.
[[nodiscard]] std::unique_ptr<TransportInput> open_transport_input(const std::string& address);
/// The table at an address, not opened.
[[nodiscard]] std::unique_ptr<TransportOutput> make_transport_output(const std::string& address);
/// The same, for rows by key.
[[nodiscard]] std::unique_ptr<TransportTable> make_transport_table(const std::string& address,
                                                                   TableQuery query);

/// The name by which a snapshot knows the rows of an output (Transport::options_may_change).
[[nodiscard]] std::string transport_result(const std::string& address);

/// The names in a row of CSV that ends in a newline; none where it is empty.
[[nodiscard]] std::vector<std::string> names_in_row(std::string_view row);

}  // namespace strid
