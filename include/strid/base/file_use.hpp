// SPDX-License-Identifier: Apache-2.0
//
// Which files a program reads and writes, and the check that no output destroys an input or another
// output. Plain values; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strid {

/// One file that is read or written. Sources and sinks list theirs in a member `files()`.
struct FileUse {
    /// How a program uses the file.
    enum class Kind : unsigned char {
        reads,  ///< It is an input.
        writes  ///< It is replaced or appended to.
    };

    Kind kind = Kind::reads;  ///< Whether the file is read or written.
    std::string path = {};    ///< "-": standard input or output.
    /// The file is written under another name first (Writing::whole); that name is in use, too.
    bool beside = false;
    /// Writers of one shared file have the same pointer here, and count as one.
    const void* shared = nullptr;
    std::string user = {};  ///< For messages: "operator 'write'", "--metrics".
};

/// The end of each temporary_name().
inline constexpr std::string_view temporary_ending = ".strid-partial";

/// The end of each unfinished_name().
inline constexpr std::string_view unfinished_ending = ".strid-unfinished";

/// A name, in the same directory, under which a file called `name` is written until it is
/// complete: "NAME.XXXXXXXXXX.strid-partial", another one each time, which cannot be guessed.
/// Throws InputOutputError where the system has no random numbers.
[[nodiscard]] std::string temporary_name(std::string_view name);

/// The same for a file that a later run goes on with: "NAME.XXXXXXXXXX.strid-unfinished".
[[nodiscard]] std::string unfinished_name(std::string_view name);

/// "NAME.*.strid-partial", a pattern of a shell that finds the temporary files of `name`.
[[nodiscard]] std::string temporary_pattern(std::string_view name);

/// True if temporary_name(name) may give `temporary`.
[[nodiscard]] bool is_temporary_name(std::string_view temporary, std::string_view name);

/// True if unfinished_name(name) may give `unfinished`.
[[nodiscard]] bool is_unfinished_name(std::string_view unfinished, std::string_view name);

/// Throws GraphError if one file is both written and read, or written twice, under any names:
/// symbolic links, hard links, standard input and output. Terminals, pipes and devices like
/// /dev/null may be used any number of times. Opens nothing.
void check_files(const std::vector<FileUse>& uses);

}  // namespace strid
