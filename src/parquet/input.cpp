// SPDX-License-Identifier: Apache-2.0
#include "input.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strid/base/error.hpp>
#include <strid/engine/connector/address_options.hpp>
#include <strid/engine/connector/csv_row.hpp>

#include "cells.hpp"

namespace strid::parquet {

namespace {

/// A text that is given at once, about.
constexpr std::size_t text_bytes = std::size_t{256} << 10;
/// Groups behind the first wait where so much text is ahead, and the first where it has so much.
constexpr std::size_t ahead_bytes_max = std::size_t{32} << 20;
constexpr std::size_t first_bytes_max = std::size_t{4} << 20;
constexpr std::size_t threads_most = 16;

/// Takes its options.
std::size_t threads_of(TransportAddress& address) {
    const std::size_t usual = std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
    return detail::take_count(address, "threads", usual, threads_most);
}

std::string type_of(const arrow::Field& field) {
    return Cells::plain_type(*field.type()).ToString();
}

}  // namespace

FileInput::FileInput(TransportAddress address) : address_(address.text()) {
    names_ = names_of_list(address.take("columns"));
    const std::size_t threads = threads_of(address);
    address.expect_no_more("an input has 'columns' and 'threads'");
    files_ = files_at(path_of(address));
    TableFileInfo first = TableFile::look_at(files_[next_file_++]);
    choose_columns(first);
    find_columns(first);
    file_ = std::make_shared<const TableFileInfo>(std::move(first));
    for (std::size_t i = 0; i != names_.size(); ++i) {
        if (i != 0) text_ += ',';
        if (names_[i].empty()) text_ += "\"\"";
        append_csv_field(text_, names_[i], ',');
    }
    text_ += '\n';
    decoding_ = threads;
    for (std::size_t i = 0; i != threads; ++i) {
        threads_.emplace_back([this](const std::stop_token& stop) { decode(stop); });
    }
}

FileInput::~FileInput() {
    for (std::jthread& thread : threads_) thread.request_stop();
}

/// All of the first file where none are named, and what they are there.
void FileInput::choose_columns(TableFileInfo& info) {
    has_all_ = names_.empty();
    if (has_all_) {
        for (const auto& field : info.schema->fields()) names_.push_back(field->name());
        for (const auto& [name, value] : info.file.values) {
            if (std::count(names_.begin(), names_.end(), name) == 0) names_.push_back(name);
        }
    }
    if (names_.empty()) throw InputOutputError(info.file.path + ": the file has no columns");
    for (const std::string& name : names_) {
        const auto field = info.schema->GetFieldByName(name);
        types_.push_back(field == nullptr ? std::string{} : type_of(*field));
    }
}

void FileInput::find_columns(TableFileInfo& info) const {
    const std::string& path = info.file.path;
    for (std::size_t i = 0; i != names_.size(); ++i) {
        const std::string& name = names_[i];
        const std::vector<int> fields = info.schema->GetAllFieldIndices(name);
        const auto in_path = std::find_if(info.file.values.begin(), info.file.values.end(),
                                          [&](const auto& one) { return one.first == name; });
        if (fields.size() > 1) {
            throw InputOutputError(fmt::format("{}: two columns are named '{}'", path, name));
        }
        if (fields.empty() && in_path == info.file.values.end()) {
            throw InputOutputError(fmt::format("{}: there is no column '{}'; the file has {}", path,
                                               name, fmt::join(info.schema->field_names(), ", ")));
        }
        if (fields.empty()) {
            info.columns.push_back({.value = in_path->second});
            continue;
        }
        const arrow::Field& field = *info.schema->field(fields.front());
        if (!Cells::can_be_written(*field.type())) {
            throw InputOutputError(fmt::format(
                "{}: the column '{}' is {}, which is no value of a row: columns=A,B names others",
                path, name, field.type()->ToString()));
        }
        if (type_of(field) != types_[i]) {
            throw InputOutputError(fmt::format(
                "{}: the column '{}' is {}, and in {} it is {}", path, name, type_of(field),
                files_.front().path, types_[i].empty() ? "a part of the path" : types_[i]));
        }
        info.columns.push_back({.field = fields.front()});
    }
    if (!has_all_) return;
    for (const std::string& name : info.schema->field_names()) {
        if (std::count(names_.begin(), names_.end(), name) != 0) continue;
        throw InputOutputError(fmt::format("{}: it has a column '{}', which {} has not", path, name,
                                           files_.front().path));
    }
}

ByteReader::Result FileInput::read(std::span<char> out, int /*wait_ms*/) {
    while (given_ == text_.size()) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] {
            return groups_.empty() ? decoding_ == 0
                                   : groups_.front()->is_done || !groups_.front()->texts.empty();
        });
        if (groups_.empty()) return {ByteReader::Status::end, 0};
        Group& group = *groups_.front();
        if (!group.texts.empty()) {
            text_ = std::move(group.texts.front());
            group.texts.pop_front();
            given_ = 0;
            bytes_ahead_ -= text_.size();
        } else if (group.failure) {
            std::rethrow_exception(group.failure);
        } else {
            groups_.pop_front();
        }
        changed_.notify_all();
    }
    const std::size_t bytes = std::min(out.size(), text_.size() - given_);
    std::memcpy(out.data(), text_.data() + given_, bytes);
    given_ += bytes;
    return {ByteReader::Status::read, bytes};
}

/// A file that cannot be opened is a group that fails, behind those of the files before it.
FileInput::Task FileInput::next_task() {
    const std::lock_guard next_lock(next_mutex_);
    Task task{.group = std::make_shared<Group>(), .file = nullptr};
    try {
        while (next_group_ == file_->groups) {
            if (next_file_ == files_.size()) return task;
            TableFileInfo info = TableFile::look_at(files_[next_file_++]);
            find_columns(info);
            file_ = std::make_shared<const TableFileInfo>(std::move(info));
            next_group_ = 0;
        }
        task.file = file_;
        task.number = next_group_++;
    } catch (...) {
        task.group->failure = std::current_exception();
        task.group->is_done = true;
        next_file_ = files_.size();
        next_group_ = file_->groups;
    }
    const std::lock_guard lock(mutex_);
    groups_.push_back(task.group);
    return task;
}

void FileInput::decode(const std::stop_token& stop) {
    std::unique_ptr<TableFile> file;
    while (!stop.stop_requested()) {
        const Task task = next_task();
        if (task.file == nullptr) break;
        std::exception_ptr failure;
        try {
            decode_group(task, file, stop);
        } catch (const Error&) {
            failure = std::current_exception();
        } catch (const std::exception& error) {  // of Arrow, where a file is damaged
            failure = std::make_exception_ptr(
                InputOutputError(fmt::format("{}: {}", task.file->file.path, error.what())));
        }
        const std::lock_guard lock(mutex_);
        task.group->failure = failure;
        task.group->is_done = true;
        changed_.notify_all();
    }
    const std::lock_guard lock(mutex_);
    --decoding_;
    changed_.notify_all();
}

void FileInput::decode_group(const Task& task, std::unique_ptr<TableFile>& file,
                             const std::stop_token& stop) {
    if (file == nullptr || &file->info() != task.file.get()) {
        file = std::make_unique<TableFile>(task.file);
    }
    std::string text;
    file->append_group(task.number, text, [&] {
        if (text.size() < text_bytes) return !stop.stop_requested();
        return give(*task.group, text, stop);
    });
    if (!text.empty()) (void)give(*task.group, text, stop);
}

/// False: the input is no longer read.
bool FileInput::give(Group& group, std::string& text, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto has_room = [&] {
        if (groups_.front().get() != &group) return bytes_ahead_ < ahead_bytes_max;
        std::size_t bytes = 0;
        for (const std::string& one : group.texts) bytes += one.size();
        return bytes < first_bytes_max;
    };
    if (!changed_.wait(lock, stop, has_room)) return false;
    bytes_ahead_ += text.size();
    group.texts.push_back(std::move(text));
    text = {};
    text.reserve(text_bytes + text_bytes / 4);
    changed_.notify_all();
    return true;
}

}  // namespace strid::parquet
