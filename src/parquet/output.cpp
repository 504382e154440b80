// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include <arrow/util/compression.h>
#include <arrow/util/utf8.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/base/file_use.hpp>
#include <strid/engine/connector/address_options.hpp>

#include "place.hpp"

namespace strid::parquet {

namespace {

using namespace std::chrono_literals;

/// The types are guessed by so much text, or less where it is committed.
constexpr std::size_t held_bytes_most = std::size_t{1} << 20;
constexpr std::uint64_t part_bytes_usual = std::uint64_t{256} << 20;
constexpr std::uint64_t part_bytes_most = std::uint64_t{1} << 40;
constexpr std::uint64_t part_rows_most = std::uint64_t{1} << 40;
constexpr std::uint64_t group_bytes_most = std::uint64_t{64} << 20;
constexpr std::uint64_t group_bytes_least = std::uint64_t{64} << 10;
constexpr std::chrono::milliseconds part_age_usual = 1min;

bool is_folder(const std::string& path) noexcept {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

TypeNames types_of(TransportAddress& address, std::string_view option) {
    TypeNames types;
    add_types(types, address.take(option), address.text());
    return types;
}

/// Takes its options.
PartLimits limits_of(TransportAddress& address, bool is_file) {
    for (const auto& [option, value] : address.left()) {
        const bool is_of_parts =
            option == "rows" || option == "size" || option == "every" || option == "sink";
        if (is_file && is_of_parts) {
            address.refuse(option + ": of a folder, whose name does not end in .parquet");
        }
    }
    return {.rows = detail::take_count(address, "rows", 0, part_rows_most),
            .bytes = detail::take_bytes(address, "size", part_bytes_usual, part_bytes_most),
            .age = detail::take_time(address, "every", part_age_usual)};
}

std::shared_ptr<::parquet::WriterProperties> properties_of(TransportAddress& address) {
    std::string name = address.take("compression");
    if (name.empty()) name = "zstd";
    if (name == "none") name = "uncompressed";
    const auto codec = arrow::util::Codec::GetCompressionType(name);
    if (!codec.ok() || !arrow::util::Codec::IsAvailable(*codec)) {
        address.refuse(
            fmt::format("compression: '{}' is not zstd, snappy, gzip, lz4, brotli or none", name));
    }
    return ::parquet::WriterProperties::Builder().compression(*codec)->created_by("strid")->build();
}

/// Begins the names of the parts of a run: they sort by time.
std::string name_of_run() {
    constexpr std::string_view stem = "x.";
    std::string random = temporary_name("x").substr(stem.size());
    random.resize(random.size() - temporary_ending.size());
    return fmt::format("{:%Y%m%dT%H%M%S}-{}", fmt::gmtime(std::time(nullptr)), random);
}

}  // namespace

FolderOutput::FolderOutput(TransportAddress address)
    : path_(path_of(address)),
      name_("parquet:" + path_),
      is_file_(path_.ends_with(".parquet") && !is_folder(path_)),
      given_(types_of(address, "types")),
      known_(types_of(address, "known")),
      partition_(address.take("partition"), name_),
      limits_(limits_of(address, is_file_)),
      properties_(properties_of(address)),
      folder_(path_),
      parts_(
          is_file_ ? PartLimits{.bytes = part_bytes_most} : limits_,
          [this] {
              return is_file_ ? path_.substr(0, path_.rfind('/') + 1) +
                                    temporary_name(path_.substr(path_.rfind('/') + 1))
                              : folder_.temporary();
          },
          [this](const std::string& path, const std::string& folder) {
              whole_.emplace_back(path, folder);
          }) {
    (void)address.take("sink");
    address.expect_no_more(
        "an output has 'types', 'partition', 'rows', 'size', 'every', 'compression' and 'sink'");
    if (is_arrow_file(path_)) address.refuse("files of Arrow are read, and not written");
    if (is_file_ && partition_.is_one()) {
        address.refuse("partition: of a folder, whose name does not end in .parquet");
    }
    for (const auto& [column, type] : given_) known_.insert_or_assign(column, type);
    arrow::util::InitializeUTF8();
}

void FolderOutput::check_place() const {
    struct stat status {};
    const bool is_there = ::stat(path_.c_str(), &status) == 0;
    if (is_file_ && is_there) {
        throw InputOutputError(name_ + ": the file is there, and is not written over");
    }
    if (is_there && !S_ISDIR(status.st_mode)) {
        throw InputOutputError(name_ + ": it is no folder, and its name does not end in .parquet");
    }
}

void FolderOutput::open(const std::vector<std::string>& columns) {
    close();
    check_place();
    if (!is_file_) make_folder(path_);
    const std::lock_guard lock(mutex_);
    columns_ = columns;
    for (const auto& [column, type] : given_) {
        if (columns.empty() || std::count(columns.begin(), columns.end(), column) != 0) continue;
        throw GraphError(fmt::format("{}: types: there is no column '{}'", name_, column));
    }
}

std::uint64_t FolderOutput::last_epoch(std::string_view stream) {
    if (is_file_) {
        throw GraphError(name_ +
                         ": a run with snapshots writes a folder of parts, parquet:FOLDER, whose "
                         "name does not end in .parquet");
    }
    const std::lock_guard lock(mutex_);
    folder_.begin(stream, true);
    has_begun_ = true;
    found_.clear();
    add_types(found_, folder_.types(), name_);
    return folder_.epoch();
}

/// Of a run without epochs.
void FolderOutput::begin() {
    if (std::exchange(has_begun_, true)) return;
    run_ = name_of_run();
    if (!is_file_) folder_.begin(run_, false);
}

void FolderOutput::guess_types() {
    std::vector<TypeGuess> guesses(columns_.size());
    rows_.for_each(held_, name_, [&](std::string_view, std::vector<CsvField>& fields) {
        if (fields.size() != columns_.size()) return;  // refused when it is written
        for (std::size_t i = 0; i != fields.size(); ++i) {
            const bool is_quoted = fields[i].quoted;
            const bool is_null = !is_quoted && fields[i].begin == fields[i].end;
            const std::string_view text = unescape_csv(fields[i]);
            guesses[i].look_at(is_null ? FieldText{} : FieldText{text}, is_quoted);
        }
    });
    for (std::size_t i = 0; i != columns_.size(); ++i) {
        found_.try_emplace(columns_[i], guesses[i].name());
    }
}

void FolderOutput::settle_form() {
    if (columns_.empty()) {
        throw InputOutputError(name_ +
                               ": the columns of a file of Parquet have names: the sink "
                               "has no header");
    }
    guess_types();
    arrow::FieldVector all;
    for (const std::string& column : columns_) {
        const auto known = known_.find(column);
        const std::string& type =
            known == known_.end() ? found_.find(column)->second : known->second;
        found_.insert_or_assign(column, type);
        all.push_back(arrow::field(column, type_of_name(type)));
    }
    partition_.set_columns(columns_, *arrow::schema(all));
    auto form = std::make_shared<PartForm>();
    form->name = name_;
    form->properties = properties_;
    form->group_bytes = std::clamp(limits_.bytes, group_bytes_least, group_bytes_most);
    arrow::FieldVector fields;
    for (std::size_t i = 0; i != all.size(); ++i) {
        if (partition_.has(i)) continue;
        form->fields.push_back(i);
        fields.push_back(all[i]);
    }
    if (fields.empty()) throw GraphError(name_ + ": partition: no column is left for the files");
    form->schema = arrow::schema(fields);
    form_ = std::move(form);
}

std::string FolderOutput::types_text() const {
    std::string text;
    for (const auto& [column, type] : found_) {
        if (!text.empty()) text += ',';
        append_csv_field(text, column + ":" + type, ',');
    }
    return text;
}

void FolderOutput::take_fields(std::vector<CsvField>& fields) {
    if (fields.size() != columns_.size()) {
        throw InputOutputError(fmt::format("{}: a row has {} fields, and there are {} columns",
                                           name_, fields.size(), columns_.size()));
    }
    fields_.clear();
    for (CsvField& field : fields) {
        const bool is_null = !field.quoted && field.begin == field.end;
        fields_.push_back(is_null ? FieldText{} : FieldText{unescape_csv(field)});
    }
    row_folder_.clear();
    partition_.append_folder(row_folder_, fields_);
    parts_.append(form_, row_folder_, fields_);
}

void FolderOutput::write_rows(std::string_view rows) {
    rows_.for_each(rows, name_, [this](std::string_view, std::vector<CsvField>& fields) {
        take_fields(fields);
    });
}

void FolderOutput::write(std::string_view rows) {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    if (is_file_ && commits_ != 0) {
        remove_file();
        throw InputOutputError(
            name_ +
            ": a file of Parquet is written whole: a run that writes live writes "
            "a folder of parts, parquet:FOLDER");
    }
    has_failed_ = true;  // until all is done
    begin();
    has_rows_ = has_rows_ || !rows.empty();
    if (form_ != nullptr) {
        write_rows(rows);
    } else {
        held_ += rows;
        if (held_.size() >= held_bytes_most) {
            settle_form();
            write_rows(std::exchange(held_, {}));
        }
    }
    has_failed_ = false;
}

/// Of this run: it may be another one by now.
void FolderOutput::remove_file() const noexcept {
    struct stat status {};
    if (::lstat(path_.c_str(), &status) != 0) return;
    if (status.st_dev == device_ && status.st_ino == inode_) ::unlink(path_.c_str());
}

/// All rows are in whole parts.
void FolderOutput::end_parts() {
    if (!held_.empty() || (is_file_ && form_ == nullptr)) {
        settle_form();
        write_rows(std::exchange(held_, {}));
    }
    parts_.finish_all();
}

void FolderOutput::name_parts(std::string_view beginning) {
    for (auto& [path, folder] : whole_) {
        folder_.add(std::move(path),
                    fmt::format("{}{}-{:05}.parquet", folder, beginning, ++parts_of_run_));
    }
    whole_.clear();
}

/// A result without rows is a file without rows.
void FolderOutput::name_file() {
    if (whole_.empty()) {
        Part empty(form_, path_.substr(0, path_.rfind('/') + 1) +
                              temporary_name(path_.substr(path_.rfind('/') + 1)));
        whole_.emplace_back(empty.path(), "");
        empty.finish();
    }
    struct stat status {};
    if (::lstat(whole_.front().first.c_str(), &status) == 0) {
        device_ = status.st_dev;
        inode_ = status.st_ino;
    }
    rename_to_new(whole_.front().first, path_);
    whole_.clear();
    const std::size_t slash = path_.rfind('/');
    synchronize_folder(slash == std::string::npos ? "." : path_.substr(0, slash + 1));
}

void FolderOutput::commit() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    const bool is_first = commits_++ == 0;
    if (is_file_ && !is_first) return;
    has_failed_ = true;  // until all is done
    begin();
    const bool is_end = is_first || !std::exchange(has_rows_, false);
    has_rows_ = false;
    if (is_end) end_parts();
    if (is_file_) {
        name_file();
    } else {
        name_parts(run_);
        folder_.publish();
        if (!is_first && !is_end && !thread_.joinable()) {
            thread_ = std::jthread([this](const std::stop_token& stop) { end_old_parts(stop); });
        }
    }
    has_failed_ = false;
}

void FolderOutput::commit(const Epoch& epoch) {
    const std::lock_guard lock(mutex_);
    if (!folder_.has_epochs_of(epoch.stream)) {
        throw InputOutputError(name_ + ": the epochs of the stream have not been asked for");
    }
    end_parts();
    parts_of_run_ = 0;
    name_parts(fmt::format("{}-{:010}", epoch.stream, epoch.number));
    folder_.publish(epoch.number, types_text());
}

/// The thread of a run that writes live.
void FolderOutput::end_old_parts(const std::stop_token& stop) {
    const auto period = std::clamp<std::chrono::milliseconds>(limits_.age / 4, 10ms, 1s);
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        (void)changed_.wait_for(lock, stop, period, [] { return false; });
        if (has_failed_ || failure_) continue;
        try {
            parts_.finish_old(PartSet::Clock::now());
            name_parts(run_);
            folder_.publish();
        } catch (...) {
            failure_ = std::current_exception();
        }
    }
}

void FolderOutput::close() noexcept {
    thread_ = {};
    const std::lock_guard lock(mutex_);
    const bool was_live = commits_ > 1 && !is_file_;
    if (was_live) publish_rest();
    reset();
}

/// The rows that commit() has answered for, also where a call has failed since.
void FolderOutput::publish_rest() noexcept {
    try {
        if (!has_failed_ && !failure_) end_parts();
    } catch (...) {
        has_failed_ = true;  // the run has failed already
    }
    parts_.finish_usable();
    name_parts(run_);
    folder_.publish_usable();
}

void FolderOutput::reset() noexcept {
    for (const auto& [path, folder] : whole_) ::unlink(path.c_str());
    whole_.clear();
    parts_.forget();
    folder_.close();
    form_ = nullptr;
    held_.clear();
    found_.clear();
    commits_ = parts_of_run_ = 0;
    has_rows_ = has_begun_ = has_failed_ = false;
    failure_ = nullptr;
}

}  // namespace strid::parquet
