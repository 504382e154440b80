// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <strid/graph/arguments.hpp>
#include <strid/graph/main.hpp>
#include <strid/graph/picture.hpp>

namespace strid {

int run(const Graph& graph, int argc, char** argv) {
    return with_errors_told([&] {
        CLI::App app{graph.name()};
        RunArguments arguments;
        bool explain = false;
        add_run_arguments(app, arguments);
        app.add_flag("--explain", explain, "Show how the graph would be laid out; do not run it");
        app.add_option("--graph", arguments.session.picture_path,
                       "Draw the graph with the rates of the run")
            ->type_name("FILE.svg|.dot|.txt");
        if (const auto code = parse_arguments(app, argc, argv)) return *code;
        if (explain) {
            const std::string& picture = arguments.session.picture_path;
            check_files(graph, {.picture_path = picture});
            if (!picture.empty()) draw(graph.description(arguments.run), picture);
            write_to_stdout(graph.explain(arguments.run));
            return ExitCode::done;
        }
        return run_session(graph, arguments.run, arguments.session);
    });
}

}  // namespace strid
