// SPDX-License-Identifier: Apache-2.0
//
// Journals of pipes: what a run has read is read again by the next, once, also where the file ends
// in a torn block; damage is found, wherever it is; a full disk holds the source up. Sources are
// killed here by forgetting them: the processes of tests/snapshots are killed for real.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/connector/csv_file.hpp>
#include <strid/connector/journal.hpp>
#include <strid/connector/json_lines.hpp>
#include <strid/connector/text_lines.hpp>
#include <strid/operator/run_scope.hpp>

#include "../support/folder.hpp"
#include "../support/seeds.hpp"
#include "drive.hpp"

namespace strid::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

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
struct Run {
    using State = std::remove_cvref_t<decltype(std::declval<Source&>().state())>;
    using Kept = decltype([]<class... T>(std::type_identity<std::tuple<T&...>>) {
        return std::tuple<T...>{};
    }(std::type_identity<State>{}));
    using Record = typename Source::record_type;

    /// From a state, or from the beginning.
    Run(Source made, std::optional<Kept> before, bool anew = false) : source(std::move(made)) {
        scope->go_on_with({});
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
    /// Stores a snapshot.
    Kept snapshot() {
        source.on(SnapshotBegins{++number});
        Kept kept = source.state();
        scope->stored(number);
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

class Journals : public testing::Test {
  protected:
    [[nodiscard]] JournalOptions journal() const {
        return {.folder = folder_.file("journal"), .sync = JournalSync::never};
    }
    [[nodiscard]] TextLines lines(JournalOptions options) const {
        return text_lines(pipe_.path(), {.journal = std::move(options)});
    }
    [[nodiscard]] TextLines lines() const { return lines(journal()); }
    [[nodiscard]] std::vector<fs::path> segments() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(folder_.file("journal"))) {
            if (entry.path().extension() == ".journal") found.push_back(entry.path());
        }
        std::sort(found.begin(), found.end());
        return found;
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const auto& path : segments()) found.push_back(path.filename());
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

using LineRun = Run<TextLines>;

TEST_F(Journals, ARunGoesOnBehindItsSnapshot) {
    std::optional<LineRun::Kept> kept;
    {
        LineRun first{lines(), {}};
        pipe_.write("a\nb\n");
        first.read();
        kept = first.snapshot();
        pipe_.write("c\nd\n");
        first.read();
        EXPECT_THAT(texts(first.emit), ElementsAre("1:a", "2:b", "3:c", "4:d"));
    }
    LineRun second{lines(), kept};
    pipe_.write("e\n");
    second.read();
    EXPECT_THAT(texts(second.emit), ElementsAre("3:c", "4:d", "5:e"));
    EXPECT_THAT(names(), ElementsAre("000000-00000000000000000000.journal",
                                     "000000-00000000000000000008.journal"));
    const JournalFigures figures = read_journal(journal().folder);
    EXPECT_EQ(figures.lines, 5U);
    EXPECT_EQ(figures.line_bytes, 10U);
    EXPECT_EQ(figures.bytes, 10U);
}

TEST_F(Journals, WithoutASnapshotAllIsReadAgain) {
    for (int run = 0; run != 3; ++run) {
        LineRun again{lines(), {}};
        pipe_.write(std::to_string(run) + '\n');
        again.read();
        std::vector<std::string> expected;
        for (int i = 0; i <= run; ++i) {
            expected.push_back(std::to_string(i + 1) + ':' + std::to_string(i));
        }
        EXPECT_EQ(texts(again.emit), expected);
    }
}

TEST_F(Journals, TheFolderIsOfOneUserAndOneSource) {
    LineRun first{lines(), {}};
    pipe_.write("a\n");
    first.read();
    constexpr auto all = fs::perms::mask;
    EXPECT_EQ(fs::status(journal().folder).permissions() & all, fs::perms::owner_all);
    EXPECT_EQ(fs::status(segments().front()).permissions() & all,
              fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_THAT(message_of<InputOutputError>([&] { LineRun{lines(), {}}; }),
                HasSubstr("journal: another source has its journal here"));
}

TEST_F(Journals, AreOfPipesInRunsWithSnapshots) {
    auto alone = lines();
    EXPECT_THAT(message_of<GraphError>([&] { test::open(alone); }),
                HasSubstr("a journal is of a run that takes snapshots, and this one takes none"));
    RunScope without;
    auto second = lines();
    const Context context{.name = {}, .run = &without};
    EXPECT_THAT(message_of<GraphError>([&] { test::open(second, context); }), HasSubstr("takes none"));
    const std::string file = folder_.write("file.csv", "1\n");
    EXPECT_THAT(message_of<GraphError>([&] {
                    LineRun{text_lines(file, {.journal = journal()}), {}};
                }),
                HasSubstr("file.csv: a file can be read once more, and needs no journal"));
    EXPECT_THAT(message_of<GraphError>([&] {
                    CsvFile<std::tuple<int>>({pipe_.path(), file}, {.journal = journal()});
                }),
                HasSubstr("a journal is of one input, and there are 2"));
    EXPECT_FALSE(fs::exists(journal().folder));
}

TEST_F(Journals, AnUnfinishedLineIsSentAgainOrGoesOn) {
    for (const bool whole_lines : {true, false}) {
        JournalOptions options = journal();
        options.folder = folder_.file(whole_lines ? "whole" : "joined");
        options.whole_lines = whole_lines;
        {
            LineRun first{lines(options), {}};
            pipe_.write("one\ntw");
            first.read();
            EXPECT_THAT(texts(first.emit), ElementsAre("1:one"));
        }
        const JournalFigures figures = read_journal(options.folder);
        EXPECT_EQ(figures.lines, 1U);
        EXPECT_EQ(figures.line_bytes, 4U);
        EXPECT_EQ(figures.bytes, 6U);
        LineRun second{lines(options), {}};
        pipe_.write(whole_lines ? "two\n" : "o\n");
        second.read();
        EXPECT_THAT(texts(second.emit), ElementsAre("1:one", "2:two"));
    }
}

/// Whatever a torn write has left of the last block, the lines before it are there once.
TEST_F(Journals, ATornEndIsCutOff) {
    {
        LineRun first{lines(), {}};
        for (const char* line : {"one\n", "two\n", "three\n"}) {
            pipe_.write(line);
            first.read();
        }
    }
    const fs::path file = segments().front();
    const std::string whole = folder_.read(fs::relative(file, folder_.file("")).string());
    constexpr std::size_t last_block = 12 + 6;
    for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
        for (const bool has_zeros : {false, true}) {
            fs::remove_all(journal().folder);
            fs::create_directory(journal().folder);
            std::string torn = whole.substr(0, bytes);
            // What a file system may show of bytes that never reached the disk.
            if (has_zeros) torn.resize(whole.size() + 100, '\0');
            folder_.write("journal/" + file.filename().string(), torn);
            const std::size_t header = 56;
            std::vector<std::string> expected;
            std::size_t end = header;
            for (const char* line : {"one", "two", "three"}) {
                end += 12 + std::string_view(line).size() + 1;
                if (end > bytes) break;
                expected.push_back(std::to_string(expected.size() + 1) + ':' + line);
            }
            if (has_zeros && bytes != 0 && bytes < header) continue;  // a header that is damaged
            std::optional<LineRun> again;
            try {
                again.emplace(lines(), std::nullopt);
            } catch (const InputOutputError& error) {
                // Of a header of a block with zeros behind it no one can tell what it was.
                EXPECT_TRUE(has_zeros) << bytes << error.what();
                continue;
            }
            again->read();
            ASSERT_EQ(texts(again->emit), expected) << bytes << " zeros: " << has_zeros;
            pipe_.write("next\n");
            again->read();
            expected.push_back(std::to_string(expected.size() + 1) + ":next");
            ASSERT_EQ(texts(again->emit), expected) << bytes;
            again.reset();
            LineRun third{lines(), {}};
            third.read();
            ASSERT_EQ(texts(third.emit), expected) << bytes;
        }
    }
    EXPECT_EQ(whole.size() - last_block, 56U + 2 * (12 + 4));
}

/// Any bit of a journal that is not in its last block.
TEST_F(Journals, DamageIsFound) {
    {
        LineRun first{lines(), {}};
        for (const char* line : {"one\n", "two\n", "three\n"}) {
            pipe_.write(line);
            first.read();
        }
    }
    const fs::path file = segments().front();
    const std::string name = "journal/" + file.filename().string();
    const std::string whole = folder_.read(name);
    const std::size_t last_text = whole.size() - 6;
    for (std::size_t byte = 0; byte != whole.size(); ++byte) {
        std::string damaged = whole;
        damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << (byte % 8)));
        folder_.write(name, damaged);
        const auto read = [&] {
            LineRun again{lines(), {}};
            again.read();
            return texts(again.emit);
        };
        if (byte >= last_text) {  // as torn
            EXPECT_THAT(read(), ElementsAre("1:one", "2:two")) << byte;
            folder_.write(name, whole);
            continue;
        }
        EXPECT_THAT(message_of<InputOutputError>(read), HasSubstr(file.filename().string())) << byte;
    }
    std::string damaged = whole;
    damaged[56 + 12 + 1] = 'N';
    folder_.write(name, damaged);
    EXPECT_THAT(message_of<InputOutputError>([&] { LineRun{lines(), {}}; }),
                HasSubstr("the journal is damaged behind byte 56 of the file: a block does not have "
                          "its checksum"));
}

TEST_F(Journals, SegmentsBehindTheSnapshotsAreRemoved) {
    JournalOptions options = journal();
    options.segment_bytes = 1;  // a file for each chunk
    std::vector<LineRun::Kept> kept;
    {
        LineRun run{lines(options), {}};
        for (int i = 0; i != 6; ++i) {
            pipe_.write("line " + std::to_string(i) + '\n');
            run.read();
            kept.push_back(run.snapshot());
        }
        // The first two have the head: of an input its first four bytes are a chunk. Snapshot 6 is stored, which this run does not see before its next
        // snapshot: 5 and 4 may be gone on with.
        EXPECT_THAT(names(), ElementsAre("000000-00000000000000000000.journal",
                                         "000000-00000000000000000004.journal",
                                         "000000-00000000000000000028.journal",
                                         "000000-00000000000000000035.journal"));
    }
    {
        LineRun before_last{lines(options), kept[4]};
        before_last.read();
        EXPECT_THAT(texts(before_last.emit), ElementsAre("6:line 5"));
    }
    {
        LineRun too_old{lines(options), kept[1]};
        EXPECT_THAT(message_of<InputOutputError>([&] { too_old.read(); }),
                    HasSubstr("the journal does not have bytes 14 to 28 of the input"));
    }
    LineRun lost{lines(options), {}};
    EXPECT_THAT(message_of<InputOutputError>([&] { lost.read(); }),
                HasSubstr("it goes on from a snapshot that this run does not have"));
}

/// The last file has no line's end, and the one with the line before it is removed.
TEST_F(Journals, AnUnfinishedLineIsCutOffBehindFilesThatAreRemoved) {
    JournalOptions options = journal();
    options.segment_bytes = 1;
    std::optional<LineRun::Kept> kept;
    {
        LineRun run{lines(options), {}};
        for (int i = 0; i != 6; ++i) {
            pipe_.write("line " + std::to_string(i) + '\n');
            run.read();
            kept = run.snapshot();
        }
        pipe_.write("lin");
        run.read();
        run.snapshot();
        run.snapshot();
        kept = run.snapshot();
    }
    EXPECT_THAT(names(), ElementsAre("000000-00000000000000000000.journal",
                                     "000000-00000000000000000004.journal",
                                     "000000-00000000000000000042.journal"));
    const JournalFigures figures = read_journal(options.folder);
    EXPECT_EQ(figures.lines, 6U);
    EXPECT_EQ(figures.line_bytes, 42U);
    EXPECT_EQ(figures.bytes, 45U);
    LineRun second{lines(options), kept};
    pipe_.write("line 6\n");
    second.read();
    EXPECT_THAT(texts(second.emit), ElementsAre("7:line 6"));
}

TEST_F(Journals, ASnapshotThatIsNotStoredNeedsItsPredecessors) {
    JournalOptions options = journal();
    options.segment_bytes = 1;
    LineRun run{lines(options), {}};
    for (int i = 0; i != 6; ++i) {
        pipe_.write("line\n");
        run.read();
        run.source.on(SnapshotBegins{++run.number});
    }
    EXPECT_EQ(segments().size(), 7U);
}

TEST_F(Journals, AStreamThatHasEndedLeavesNone) {
    LineRun run{lines(), {}};
    pipe_.write("a\n");
    run.read();
    EXPECT_EQ(segments().size(), 1U);
    pipe_.end();
    for (int i = 0; i != 100 && !run.ended; ++i) run.read();
    EXPECT_TRUE(run.ended);
    EXPECT_EQ(segments().size(), 1U);
    run.scope->commit();
    EXPECT_THAT(segments(), IsEmpty());
}

TEST_F(Journals, ARestartLeavesTheOldOneUntilItHasSnapshots) {
    std::optional<LineRun::Kept> old;
    {
        LineRun first{lines(), {}};
        pipe_.write("old\n");
        first.read();
        old = first.snapshot();
    }
    {
        LineRun anew{lines(), {}, true};
        pipe_.write("new\n");
        anew.read();
        EXPECT_THAT(texts(anew.emit), ElementsAre("1:new"));
        EXPECT_EQ(segments().size(), 2U);
    }
    {  // it had stored no snapshot: the old one stands
        LineRun second{lines(), old};
        second.read();
        EXPECT_THAT(texts(second.emit), IsEmpty());
        EXPECT_THAT(names(), ElementsAre("000000-00000000000000000000.journal"));
    }
    LineRun anew{lines(), {}, true};
    pipe_.write("new\n");
    anew.read();
    anew.snapshot();
    anew.snapshot();
    EXPECT_EQ(segments().size(), 2U);
    anew.snapshot();  // two of its own are stored
    EXPECT_THAT(names(), ElementsAre("000001-00000000000000000000.journal"));
}

TEST_F(Journals, AnotherJournalIsRefused) {
    std::optional<LineRun::Kept> kept;
    {
        LineRun first{lines(), {}};
        pipe_.write("a\n");
        first.read();
        kept = first.snapshot();
    }
    fs::remove_all(journal().folder);
    EXPECT_THAT(message_of<InputOutputError>([&] { LineRun{lines(), kept}; }),
                HasSubstr("journal: is not the journal of the snapshot, or its files are gone"));
    EXPECT_THAT(message_of<InputOutputError>([&] { LineRun{text_lines(pipe_.path()), kept}; }),
                HasSubstr("came by a journal before the snapshot"));
}

/// The power was lost: what is behind a snapshot was not on the disk.
TEST_F(Journals, ASnapshotMayBeAheadOfTheJournal) {
    std::optional<LineRun::Kept> kept;
    std::string early;
    const std::string name = "journal/000000-00000000000000000000.journal";
    {
        LineRun first{lines(), {}};
        pipe_.write("a\nb\n");
        first.read();
        early = folder_.read(name);
        pipe_.write("c\nd\n");
        first.read();
        kept = first.snapshot();
    }
    folder_.write(name, early);
    for (int run = 0; run != 2; ++run) {
        LineRun second{lines(), kept};
        if (run == 0) pipe_.write("e\n");
        second.read();
        EXPECT_THAT(texts(second.emit), ElementsAre("5:e"));
    }
}

/// Files longer than the limit cannot be written.
class LengthLimit {
  public:
    explicit LengthLimit(std::uint64_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        handler_ = ::signal(SIGXFSZ, SIG_IGN);
        const ::rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    LengthLimit(const LengthLimit&) = delete;
    LengthLimit& operator=(const LengthLimit&) = delete;
    ~LengthLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        ::signal(SIGXFSZ, handler_);
    }

  private:
    ::rlimit before_{};
    void (*handler_)(int) = nullptr;
};

TEST_F(Journals, WhereThereIsNoRoomNothingIsRead) {
    for (const std::uint64_t room : {0, 1, 55, 56, 57, 67, 68, 69, 71, 72, 73, 84, 85, 86, 87}) {
        JournalOptions options = journal();
        options.folder = folder_.file("journal" + std::to_string(room));
        std::optional<LineRun> run;
        run.emplace(lines(options), std::nullopt);
        {
            const LengthLimit limit(room);
            pipe_.write("a\nb\n");
            run->read();
            const bool fits = room >= 56 + 12 + 4;
            EXPECT_EQ(texts(run->emit).size(), fits ? 2U : 0U) << room;
            pipe_.write("c\n");
            run->read();
            run->read();
            ASSERT_EQ(run->warnings.size(), room >= 56 + 12 + 4 + 12 + 2 ? 0U : 1U) << room;
        }
        for (int i = 0; i != 30 && run->emit.records.size() != 3; ++i) run->read();
        const std::vector<std::string> expected{"1:a", "2:b", "3:c"};
        ASSERT_EQ(texts(run->emit), expected) << room;
        run.reset();
        LineRun second{lines(options), {}};
        second.read();
        EXPECT_EQ(texts(second.emit), expected) << room;
    }
}

TEST_F(Journals, WhereThereIsNoRoomTheRunFailsIfAsked) {
    JournalOptions options = journal();
    options.on_full = OnJournalFull::fail;
    LineRun run{lines(options), {}};
    pipe_.write("a\nb\n");
    const LengthLimit limit(60);
    EXPECT_THAT(message_of<InputOutputError>([&] { run.read(); }),
                HasSubstr("journal: cannot write to the journal: File too large"));
}

struct Reading {
    std::string key;
    int value;
    friend bool operator==(const Reading&, const Reading&) = default;
};

/// Random texts, killed and gone on with at random places, some of which fall back by a snapshot:
/// the records are those of a file with the same text.
template <class Make>
void goes_on_by_journal(const std::string& text, const Make& make, bool has_lines = true) {
    constexpr std::size_t bytes_at_once = 80;
    Folder files;
    using Source = decltype(make(std::string{}, JournalOptions{}));
    using Runs = Run<Source>;
    const auto expected = drain(make(files.write("whole", text), {}));
    for (const std::uint64_t seed : seeds(20)) {
        std::mt19937_64 random{seed};
        Folder folder;
        const Pipe pipe(folder);
        JournalOptions options{.folder = folder.file("journal"),
                               .sync = seed % 10 == 0 ? JournalSync::each_chunk : JournalSync::never,
                               .whole_lines = has_lines && random() % 2 == 0,
                               .segment_bytes = 1 + random() % 400};
        std::vector<typename Source::record_type> records;
        std::vector<std::pair<typename Runs::Kept, std::size_t>> kept;  // with the records before
        std::size_t written = 0;
        for (int life = 0; life != 1000; ++life) {
            std::optional<typename Runs::Kept> from;
            if (kept.size() > 1 && random() % 4 == 0) kept.pop_back();  // it was damaged
            if (!kept.empty()) {
                from = kept.back().first;
                records.resize(kept.back().second);
            } else {
                records.clear();
            }
            // What the producer has to send.
            if (life != 0) {
                const JournalFigures figures = read_journal(options.folder);
                written = options.whole_lines ? figures.line_bytes : figures.bytes;
                std::string rest(1 << 16, '\0');
                const int in = ::open(pipe.path().c_str(), O_RDONLY | O_NONBLOCK);
                while (::read(in, rest.data(), rest.size()) > 0) {
                }
                ::close(in);
            }
            Runs run{make(pipe.path(), options), from};
            run.number = static_cast<std::uint64_t>(life) * 100;
            const std::size_t begin = records.size();
            std::size_t steps = 1 + random() % 12;
            while (steps-- != 0) {
                const std::size_t bytes =
                    std::min<std::size_t>(text.size() - written, random() % bytes_at_once);
                pipe.write(std::string_view(text).substr(written, bytes));
                written += bytes;
                if (bytes != 0 || run.emit.records.empty()) run.read(1 + random() % 5);
                records.resize(begin);
                for (const auto& record : run.emit.records) records.push_back(record);
                if (random() % 5 == 0) {
                    kept.emplace_back(run.snapshot(), records.size());
                    if (kept.size() > 2) kept.erase(kept.begin());
                }
            }
            if (records.size() == expected.records.size() && written == text.size()) break;
        }
        ASSERT_EQ(records, expected.records) << "seed " << seed;
    }
}

std::string csv_text(std::mt19937_64& random, bool has_header) {
    std::string text = has_header ? "value,other,key\n" : "";
    for (int i = 0; i != 60; ++i) {
        const std::string number = std::to_string(i);
        const bool is_quoted = random() % 5 == 0;
        text += number + ",x," + (is_quoted ? "\"a\nb\"\"" + number + "\"" : "k" + number) + '\n';
        if (random() % 10 == 0) text += '\n';
    }
    return text;
}

TEST(JournalsOfFormats, CsvWithAHeader) {
    std::mt19937_64 random{1};
    goes_on_by_journal(
        csv_text(random, true),
        [](std::string path, JournalOptions options) {
            return csv_file<Reading>(std::move(path), {.columns = {"key", "value"},
                                                       .quoted_lines_max = 100,
                                                       .journal = std::move(options)});
        });
}

TEST(JournalsOfFormats, CsvByNumbers) {
    std::mt19937_64 random{2};
    goes_on_by_journal(
        csv_text(random, false),
        [](std::string path, JournalOptions options) {
            return csv_file<Reading>(
                std::move(path), {.columns = {3, 1}, .journal = std::move(options)});
        });
}

TEST(JournalsOfFormats, JsonLinesAndDocuments) {
    std::string lines;
    std::string documents = "[";
    for (int i = 0; i != 60; ++i) {
        const std::string number = std::to_string(i);
        const std::string object = R"({"key": "k)" + number + R"(", "value": )" + number + '}';
        lines += object + '\n';
        if (i % 7 == 0) lines += '\n';
        documents += (i == 0 ? "" : ",\n ") + object;
    }
    documents += "]\n";
    const auto make = [](std::string path, JournalOptions options) {
        return json_lines<Reading>(std::move(path),
                                   {.members = {"key", "value"}, .journal = std::move(options)});
    };
    goes_on_by_journal(lines, make);
    goes_on_by_journal(documents, make, false);
}

/// Lines by their numbers, some of which are too long and refused.
TEST(JournalsOfFormats, LinesThatAreTooLong) {
    std::string text;
    std::vector<std::string> expected;
    for (int i = 0; i != 40; ++i) {
        const bool is_long = i % 5 == 3;
        const std::string line(is_long ? 90 + i : i % 7, static_cast<char>('a' + i % 26));
        text += line + '\n';
        if (!is_long) expected.push_back(std::to_string(i + 1) + ':' + line);
    }
    for (const std::uint64_t seed : seeds(20)) {
        std::mt19937_64 random{seed};
        Folder folder;
        const Pipe pipe(folder);
        const TextLinesOptions options{
            .on_malformed = OnMalformed::skip,
            .text = {.chunk_bytes = 32, .line_bytes_max = 64},
            .journal = {.folder = folder.file("journal"), .sync = JournalSync::never,
                        .whole_lines = false, .segment_bytes = 1 + random() % 100}};
        std::vector<std::string> found;
        std::uint64_t malformed = 0;
        std::optional<LineRun::Kept> kept;
        std::size_t written = 0;
        while (written != text.size()) {
            LineRun run{text_lines(pipe.path(), options), kept};
            for (std::size_t steps = random() % 8; steps != 0; --steps) {
                const auto bytes = std::min<std::size_t>(text.size() - written, random() % 50);
                pipe.write(std::string_view(text).substr(written, bytes));
                written += bytes;
                run.read(1 + random() % 3);
            }
            kept = run.snapshot();
            for (const Line& line : run.emit.records) {
                found.push_back(std::to_string(line.number) + ':' + std::string(line.text));
            }
            malformed += run.emit.malformed;
        }
        ASSERT_EQ(found, expected) << "seed " << seed;
        ASSERT_EQ(malformed, 8U) << "seed " << seed;
    }
}

}  // namespace
}  // namespace strid::test
