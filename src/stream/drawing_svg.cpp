// SPDX-License-Identifier: Apache-2.0
//
// SVG by Graphviz. `dot` is started without a shell, reads the graph from an anonymous file in
// memory and writes into others, so no pipe can fill up or break. Its end is waited for.
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/stream/drawing.hpp>

extern char** environ;  // NOLINT: the process's own, as posix_spawn takes it

namespace strid {

namespace {

[[noreturn]] void fail(const std::string& what, int error_number) {
    throw Error(
        fmt::format("cannot draw the graph as SVG: {}: {}", what, std::strerror(error_number)));
}

// A file that lives in memory as long as this object.
class MemoryFile {
  public:
    explicit MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
        if (descriptor_ < 0) fail("no anonymous file", errno);
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { close(descriptor_); }

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

    void write_all(const std::string& text) {
        std::size_t written = 0;
        while (written < text.size()) {
            const ssize_t count = write(descriptor_, text.data() + written, text.size() - written);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) fail("writing", errno);
            written += static_cast<std::size_t>(count);
        }
        lseek(descriptor_, 0, SEEK_SET);
    }

    [[nodiscard]] std::string read_all() const {
        lseek(descriptor_, 0, SEEK_SET);
        std::string text;
        char buffer[4096];
        for (;;) {
            const ssize_t count = read(descriptor_, buffer, sizeof buffer);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) fail("reading", errno);
            if (count == 0) return text;
            text.append(buffer, static_cast<std::size_t>(count));
        }
    }

  private:
    int descriptor_;
};

class FileActions {
  public:
    FileActions() { posix_spawn_file_actions_init(&actions_); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

    void redirect(const MemoryFile& file, int to) {
        posix_spawn_file_actions_adddup2(&actions_, file.descriptor(), to);
    }
    [[nodiscard]] const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_;
};

bool succeeded(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        // A host that ignores SIGCHLD reaps the child itself; then only the output shows the
        // failure.
        if (errno == ECHILD) return true;
        if (errno != EINTR) fail("waiting for dot", errno);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string to_svg(const GraphDescription& description) {
    MemoryFile input("strid-dot");
    const MemoryFile output("strid-svg");
    const MemoryFile messages("strid-dot-messages");
    input.write_all(to_dot(description));

    FileActions actions;
    actions.redirect(input, STDIN_FILENO);
    actions.redirect(output, STDOUT_FILENO);
    actions.redirect(messages, STDERR_FILENO);
    std::string program = "dot";
    std::string format = "-Tsvg";
    char* const arguments[] = {program.data(), format.data(), nullptr};
    pid_t child = 0;
    const int result =
        posix_spawnp(&child, program.c_str(), actions.get(), nullptr, arguments, environ);
    if (result == ENOENT) {
        throw Error(
            "cannot draw the graph as SVG: the program 'dot' of Graphviz is not installed "
            "(Debian package graphviz)");
    }
    if (result != 0) fail("starting dot", result);
    const bool good = succeeded(child);
    std::string svg = output.read_all();
    const std::size_t root = svg.find("<svg");
    if (!good || root == std::string::npos) {
        throw Error(
            fmt::format("cannot draw the graph as SVG: dot failed: {}", messages.read_all()));
    }
    // A wide graph fits the window that it is looked at in; the sizes of dot are those of paper.
    return svg.insert(root + 4, " style=\"max-width: 100%; height: auto\"");
}

}  // namespace strid
