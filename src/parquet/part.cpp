// SPDX-License-Identifier: Apache-2.0
#include "part.hpp"

#include <cerrno>
#include <utility>

#include <arrow/memory_pool.h>
#include <arrow/table.h>
#include <arrow/util/io_util.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/connector/transport.hpp>

#include "place.hpp"

namespace strid::parquet {

namespace {

/// Of a group, at most.
constexpr std::uint64_t group_rows_max = 262'144;

bool may_pass(int error) noexcept {
    return error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE;
}

}  // namespace

Part::Part(std::shared_ptr<const PartForm> form, std::string path)
    : form_(std::move(form)), path_(std::move(path)) {
    const int made =
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (made < 0) {
        const int error = errno;
        fail_write(reason_of_error(error), error);
    }
    try {
        open_stream(made);
    } catch (...) {
        if (descriptor_ >= 0) ::close(descriptor_);
        ::unlink(path_.c_str());
        throw;
    }
}

/// Owns the descriptor from now on.
void Part::open_stream(int made) {
    stream_ = checked(form_->name, arrow::io::FileOutputStream::Open(made));
    descriptor_ = ::fcntl(made, F_DUPFD_CLOEXEC, 0);
    if (descriptor_ < 0) {
        const int error = errno;
        fail_write(reason_of_error(error), error);
    }
    auto writer = ::parquet::arrow::FileWriter::Open(*form_->schema, arrow::default_memory_pool(),
                                                     stream_, form_->properties);
    check_write(writer.status());
    writer_ = std::move(writer).ValueUnsafe();
    for (const auto& field : form_->schema->fields()) {
        builders_.push_back(checked(form_->name, arrow::MakeBuilder(field->type())));
        appends_.push_back(append_text_of(*field->type()));
    }
}

Part::~Part() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void Part::check_write(const arrow::Status& status) const {
    if (status.ok()) return;
    const int error = arrow::internal::ErrnoFromStatus(status);
    fail_write(error == 0 ? reason_of_status(status) : reason_of_error(error), error);
}

void Part::fail_write(const std::string& why, int error) const {
    const std::string reason = fmt::format("{}: cannot write {}: {}", form_->name, path_, why);
    if (may_pass(error)) throw ConnectionLost(reason);
    throw InputOutputError(reason);
}

void Part::append(const std::vector<FieldText>& fields) {
    if (is_torn_) end_group();
    is_torn_ = true;  // until all of its columns have the row
    for (std::size_t i = 0; i != builders_.size(); ++i) {
        const FieldText& field = fields[form_->fields[i]];
        if (!field) {
            check_write(builders_[i]->AppendNull());
            continue;
        }
        const arrow::Field& column = *form_->schema->field(static_cast<int>(i));
        const std::string fault = appends_[i](*builders_[i], *column.type(), *field);
        if (!fault.empty()) {
            throw InputOutputError(fmt::format(
                "{}: the column '{}' is {}, and a row has \"{}\": {}; types={}:TYPE names another",
                form_->name, column.name(), column.type()->ToString(), field->substr(0, 100), fault,
                column.name()));
        }
        held_bytes_ += field->size() + 1;
    }
    is_torn_ = false;
    ++rows_;
    if (++held_rows_ == group_rows_max || held_bytes_ >= form_->group_bytes) end_group();
}

void Part::end_group() {
    if (is_broken_) fail_write("it was cut", 0);
    const auto rows = static_cast<std::int64_t>(std::exchange(held_rows_, 0));
    held_bytes_ = 0;
    is_torn_ = false;
    is_broken_ = true;  // until the group is written
    std::vector<std::shared_ptr<arrow::Array>> columns;
    for (const auto& builder : builders_) {
        std::shared_ptr<arrow::Array> column;
        check_write(builder->Finish(&column));
        // Some of them have a field of a row that was refused.
        columns.push_back(column->length() == rows ? std::move(column) : column->Slice(0, rows));
    }
    if (rows != 0) {
        check_write(writer_->WriteTable(
            *arrow::Table::Make(form_->schema, std::move(columns), rows), rows));
        bytes_ = static_cast<std::uint64_t>(checked(form_->name, stream_->Tell()));
    }
    is_broken_ = false;
}

void Part::finish() {
    end_group();
    is_broken_ = true;
    check_write(writer_->Close());
    bytes_ = static_cast<std::uint64_t>(checked(form_->name, stream_->Tell()));
    check_write(stream_->Close());
    if (::fsync(descriptor_) != 0) {
        const int error = errno;
        fail_write(reason_of_error(error), error);
    }
    ::close(std::exchange(descriptor_, -1));
    writer_.reset();
    stream_.reset();
}

}  // namespace strid::parquet
