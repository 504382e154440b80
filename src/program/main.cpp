// SPDX-License-Identifier: Apache-2.0
#include <strid/program/main.hpp>
#include <strid/program/picture.hpp>
#include <strid/program/program.hpp>

namespace strid {

namespace {

int run_with(const Graph& graph, Arguments& arguments) {
    const RunArguments& run = arguments.run();
    if (!arguments.explains()) return run_session(graph, run.run, run.session);
    const std::string& picture = run.session.picture_path;
    check_files(graph, {.picture_path = picture});
    if (!picture.empty()) draw(graph.description(run.run), picture);
    write_to_stdout(arguments.explanation(graph));
    return ExitCode::done;
}

}  // namespace

int run(const Graph& graph, Arguments& arguments) {
    return with_errors_reported([&] { return run_with(graph, arguments); });
}

int run(Arguments& arguments, int argc, char** argv, const std::function<Graph()>& build) {
    return with_errors_reported([&] {
        if (const auto code = arguments.parse(argc, argv)) return *code;
        const Graph graph = build();
        return run_with(graph, arguments);
    });
}

int run(const Graph& graph, int argc, char** argv) {
    return with_errors_reported([&] {
        Arguments arguments{graph.name()};
        if (const auto code = arguments.parse(argc, argv)) return *code;
        return run_with(graph, arguments);
    });
}

}  // namespace strid
