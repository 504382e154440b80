// SPDX-License-Identifier: Apache-2.0
//
// Drives a source without the engine, and files to drive it with.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include <strid/memory/text_arena.hpp>
#include <strid/operator/context.hpp>
#include <strid/operator/source.hpp>

namespace strid::test {

/// Keeps every record, and every chunk the source named unless told to let go.
template <class T>
struct Emit {
    bool operator()(T&& record) {
        records.push_back(std::move(record));
        born_ns.push_back(born);
        return records.size() < refuse_from;
    }
    void keep_alive(const memory::TextReference& chunk) {
        if (chunks.empty() || !(chunks.back() == chunk)) chunks.push_back(chunk);
    }
    void born_at(std::int64_t ns) { born = ns; }
    void count_malformed(std::uint64_t count) { malformed += count; }

    std::vector<T> records;
    std::vector<std::int64_t> born_ns;
    std::vector<memory::TextReference> chunks;
    std::uint64_t malformed = 0;
    std::int64_t born = 0;
    std::size_t refuse_from = SIZE_MAX;
};

/// Polls until the source is finished; the text of the records stays alive with the result.
template <class Source>
Emit<typename Source::record_type> drain(Source source, Context context = {},
                                         std::size_t budget = 100) {
    if constexpr (requires { source.keep_all_text(); }) source.keep_all_text();
    Emit<typename Source::record_type> emit;
    source.open(context);
    for (;;) {
        const SourceStatus status = source.poll(emit, budget);
        if (status == SourceStatus::finished) return emit;
        if (status == SourceStatus::idle) std::this_thread::yield();
    }
}

/// A folder that goes away with the test.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "strid-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }
    std::string write(std::string_view name, std::string_view content) const {
        std::string path = file(name);
        std::ofstream(path, std::ios::binary) << content;
        return path;
    }
    [[nodiscard]] std::string read(std::string_view name) const {
        std::ifstream in(file(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

  private:
    std::filesystem::path path_;
};

/// Runs a shell command; true when it succeeds.
inline bool shell(const std::string& command) {
    return std::system(command.c_str()) == 0;
}

/// The message of the exception of type `Thrown`, or a failure.
template <class Thrown, class Function>
std::string message_of(Function&& function) {
    try {
        function();
    } catch (const Thrown& error) {
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

}  // namespace strid::test
