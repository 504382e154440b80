// SPDX-License-Identifier: Apache-2.0
//
// Journals of pipes for tests. Sources are killed here by forgetting them: the processes of
// tests/snapshots are killed for real.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/connector/text_lines.hpp>
#include <strid/operator/run_scope.hpp>
#include <strid/state/journal.hpp>

#include "../support/folder.hpp"
#include "drive.hpp"

namespace strid::test {

/// A named pipe that stays open.
class Pipe {
  public:
    explicit Pipe(const Folder& folder, const char* name = "pipe") : path_(folder.file(name)) {
        EXPECT_EQ(::mkfifo(path_.c_str(), S_IRUSR | S_IWUSR), 0);
        descriptor_ = ::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
        EXPECT_GE(descriptor_, 0);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() { end(); }

    void write(std::string_view text) const {
        ASSERT_EQ(::write(descriptor_, text.data(), text.size()),
                  static_cast<::ssize_t>(text.size()));
    }
    void end() noexcept {
        if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

  private:
    std::string path_;
    int descriptor_ = -1;
};

/// A run with snapshots of one source. Its end is a kill, unless it is committed.
template <class Source>
struct JournalRun {
    using State = std::remove_cvref_t<decltype(std::declval<Source&>().state())>;
    using Kept = decltype([]<class... T>(std::type_identity<std::tuple<T&...>>) {
        return std::tuple<T...>{};
    }(std::type_identity<State>{}));
    using Record = typename Source::record_type;

    /// From a state, or from the beginning.
    JournalRun(Source made, std::optional<Kept> before, bool anew = false)
        : source(std::move(made)) {
        scope->go_on_with({}, {});
        scope->on_warning([this](const std::string& text) { warnings.push_back(text); });
        if (anew) scope->begin_anew();
        context.run = scope.get();
        source.keep_all_text();
        test::open(source, context);
        if (!before) return;
        source.state() = *before;
        source.on(Restored{});
    }

    /// Polls until nothing waits.
    void read(std::size_t budget = 100) {
        for (;;) {
            const SourceStatus status = source.poll(emit, budget);
            if (status == SourceStatus::finished) ended = true;
            if (status != SourceStatus::more) return;
        }
    }
    /// Stores a snapshot; `oldest` as of RunScope::stored().
    Kept snapshot(std::uint64_t oldest = 0) {
        source.on(SnapshotBegins{++number});
        Kept kept = source.state();
        scope->stored(number, oldest);
        return kept;
    }

    std::vector<std::string> warnings;
    std::unique_ptr<RunScope> scope = std::make_unique<RunScope>();
    Context context{.name = {}, .replica = 0, .parallelism = 1};
    Source source;
    Emit<Record> emit;
    bool ended = false;
    std::uint64_t number = 0;
};

class JournalsOfTest : public testing::Test {
  protected:
    [[nodiscard]] JournalOptions journal() const {
        return {.folder = folder_.file("journal"), .sync = JournalSync::never};
    }
    [[nodiscard]] TextLines lines(JournalOptions options) const {
        return text_lines(pipe_.path(), {.journal = std::move(options)});
    }
    [[nodiscard]] TextLines lines() const { return lines(journal()); }
    [[nodiscard]] std::vector<std::filesystem::path> files() const {
        std::vector<std::filesystem::path> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.file("journal"))) {
            if (entry.path().extension() == ".journal") found.push_back(entry.path());
        }
        std::sort(found.begin(), found.end());
        return found;
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const auto& path : files()) found.push_back(path.filename());
        return found;
    }
    static std::vector<std::string> texts(const Emit<Line>& emit) {
        std::vector<std::string> found;
        for (const Line& line : emit.records) {
            found.push_back(std::to_string(line.number) + ':' + std::string(line.text));
        }
        return found;
    }

    Folder folder_;
    Pipe pipe_{folder_};
};

using LineRun = JournalRun<TextLines>;

}  // namespace strid::test
