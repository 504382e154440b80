// SPDX-License-Identifier: Apache-2.0
//
// Options of a program's own beside those of the run: read before the graph is built, checked, and
// listed in one --help.
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/program/main.hpp>
#include <strid/program/program.hpp>

#include "../test_sources.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A program: what main() would be.
struct Program {
    double threshold = 3.5;
    int level = 2;
    std::uint8_t small = 7;
    std::string input = "-";
    std::string colour = "red";
    std::chrono::nanoseconds wait = 250ms;
    bool loud = false;
    std::string read;

    int built = 0;
    std::uint64_t taken = 0;
    std::size_t parallelism = 0;

    int main(std::vector<std::string> words) {
        Arguments arguments{"alarms", "Reports readings above a threshold."};
        arguments
            .option("--threshold", threshold, "Readings above it are reported", {.type = "CELSIUS"})
            .option("--level", level, "From 0 to 9", {.at_least = 0, .at_most = 9})
            .option("--small", small, "A small number")
            .option("--colour", colour, "Of the light", {.one_of = {"red", "green"}})
            .option("--wait", wait, "Between two alarms")
            .option(
                "--read", [this](const std::string& text) { read = text + "!"; }, "By a function")
            .option("INPUT", input, "Where the readings are", {.required = true})
            .flag("--loud", loud, "Ring as well");
        words.insert(words.begin(), "alarms");
        std::vector<char*> argv;
        for (auto& word : words) argv.push_back(word.data());
        return run(arguments, static_cast<int>(argv.size()), argv.data(), [&] {
            ++built;
            if (input == "missing") throw InputOutputError("missing: cannot open");
            parallelism = arguments.run().run.parallelism;
            Graph graph{"alarms"};
            graph.source(test::Numbers{10})
                .filter([limit = threshold](const std::uint64_t& n) {
                    return static_cast<double>(n) > limit;
                })
                .sink([this](std::uint64_t) { ++taken; });
            return graph;
        });
    }
};

TEST(ProgramOptions, AreThereWhenTheGraphIsBuilt) {
    Program program;
    EXPECT_EQ(program.main({"--threshold", "6.25", "--quiet", "in.csv", "--level=9", "--wait", "2s",
                            "--loud", "--parallelism", "2", "--read", "it", "--small", "255",
                            "--colour", "green"}),
              0);
    EXPECT_EQ(program.taken, 3U);  // 7, 8, 9
    EXPECT_EQ(program.level, 9);
    EXPECT_EQ(program.small, 255);
    EXPECT_EQ(program.wait, 2s);
    EXPECT_EQ(program.input, "in.csv");
    EXPECT_EQ(program.colour, "green");
    EXPECT_EQ(program.read, "it!");
    EXPECT_TRUE(program.loud);
    EXPECT_EQ(program.parallelism, 2U);
}

TEST(ProgramOptions, KeepTheirDefaults) {
    Program program;
    EXPECT_EQ(program.main({"--quiet", "-"}), 0);
    EXPECT_EQ(program.taken, 6U);
    EXPECT_EQ(program.level, 2);
    EXPECT_EQ(program.wait, 250ms);
    EXPECT_FALSE(program.loud);
}

TEST(ProgramOptions, MayBeNegative) {
    Program program;
    EXPECT_EQ(program.main({"--quiet", "-", "--threshold", "-1.5"}), 0);
    EXPECT_EQ(program.threshold, -1.5);
    EXPECT_EQ(program.taken, 10U);
}

TEST(ProgramOptions, ThatAreWrongReturnTwoAndBuildNothing) {
    const std::pair<std::vector<std::string>, const char*> wrong[] = {
        {{"-", "--threshold", "warm"}, "--threshold: 'warm' is not a number"},
        {{"-", "--threshold", "nan"}, "'nan' is not a number"},
        {{"-", "--level", "10"}, "--level: 10 is above 9"},
        {{"-", "--level=-1"}, "-1 is below 0"},
        {{"-", "--level", "2.5"}, "'2.5' is not a whole number"},
        {{"-", "--small", "256"}, "'256' is not a whole number from 0 to 255"},
        {{"-", "--small=-1"}, "'-1' is not a whole number"},
        {{"-", "--colour", "blue"}, "'blue' is none of red, green"},
        {{"-", "--wait", "soon"}, "'soon'"},
        {{"-", "--treshold", "1"}, "did you mean --threshold?"},
        {{"-", "--explain=more"}, "--explain: algebra, or no value"},
        {{}, "INPUT"}};
    for (const auto& [words, message] : wrong) {
        Program program;
        testing::internal::CaptureStderr();
        EXPECT_EQ(program.main(words), 2);
        EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(message));
        EXPECT_EQ(program.built, 0);
    }
}

TEST(ProgramOptions, ExplainTheLayoutAndOnDemandTheAlgebra) {
    const auto shown = [](const char* option) {
        Program program;
        testing::internal::CaptureStdout();
        EXPECT_EQ(program.main({"-", option}), 0);
        EXPECT_EQ(program.taken, 0U) << "it ran";
        return testing::internal::GetCapturedStdout();
    };
    const std::string layout = shown("--explain");
    EXPECT_THAT(layout, HasSubstr("Tasks, as they are laid out on cores: "));
    EXPECT_THAT(layout, testing::Not(HasSubstr("Seq(")));
    const std::string both = shown("--explain=algebra");
    EXPECT_THAT(both, testing::StartsWith(layout));
    EXPECT_THAT(both.substr(layout.size()), HasSubstr("\nMultiPipe  "));
}

TEST(ProgramOptions, AreInOneHelpWithThoseOfTheRun) {
    Program program;
    testing::internal::CaptureStdout();
    EXPECT_EQ(program.main({"--help"}), 0);
    const std::string help = testing::internal::GetCapturedStdout();
    for (const char* part :
         {"Reports readings above a threshold.", "--threshold CELSIUS", "3.5",
          "Readings above it are reported", "--colour red|green", "--wait TIME", "250ms", "--loud",
          "INPUT", "--parallelism", "--metrics", "--explain"}) {
        EXPECT_THAT(help, HasSubstr(part));
    }
    EXPECT_EQ(program.built, 0);
}

TEST(ProgramOptions, FailDecentlyWhileTheGraphIsBuilt) {
    Program program;
    testing::internal::CaptureStderr();
    EXPECT_EQ(program.main({"missing"}), 1);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "strid: error: missing: cannot open\n");
}

TEST(ProgramOptions, CannotTakeTheNamesOfTheRun) {
    Arguments arguments{"clash"};
    std::string mode;
    bool flag = false;
    EXPECT_THROW(arguments.option("--mode", mode, "Another"), GraphError);
    EXPECT_THROW(arguments.flag("--quiet", flag, "Another"), GraphError);
}

TEST(ProgramSummary, NamesWhatWasSkippedAndCounted) {
    Arguments arguments{"counted"};
    const char* const argv[] = {"counted"};
    ASSERT_EQ(arguments.parse(1, argv), std::nullopt);
    Graph graph{"counted"};
    const auto odd = [](const std::uint64_t& n, const Context& context) {
        if (n % 2 == 1) context.counter("odd ones").add();
        if (n % 10 == 0) throw std::runtime_error("ten");
        return n;
    };
    graph.source(test::Numbers{1000})
        .map(odd, {.name = "look", .on_exception = OnException::skip})
        .sink([](std::uint64_t) {});
    testing::internal::CaptureStderr();
    EXPECT_EQ(run(graph, arguments), 0);
    const std::string summary = testing::internal::GetCapturedStderr();
    EXPECT_THAT(summary, HasSubstr("  skipped   100 records on which look threw\n"));
    EXPECT_THAT(summary, HasSubstr("  counted   500 odd ones in look\n"));
}

TEST(ProgramOptions, MayBeParsedByTheProgramItself) {
    Arguments arguments{"by hand"};
    std::uint64_t records = 5;
    arguments.option("--records", records, "How many");
    const char* const argv[] = {"by hand", "--records", "7", "--quiet"};
    ASSERT_EQ(arguments.parse(4, argv), std::nullopt);
    Graph graph{"by hand"};
    std::uint64_t taken = 0;
    graph.source(test::Numbers{records}).sink([&taken](std::uint64_t) { ++taken; });
    EXPECT_EQ(run(graph, arguments), 0);
    EXPECT_EQ(taken, 7U);
}

}  // namespace
}  // namespace strid
