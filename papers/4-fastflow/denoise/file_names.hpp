// SPDX-License-Identifier: Apache-2.0
//
// The names of the files of a sequence: patterns (frame-%04d.png), folders and lists. Functions
// without state; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strid::denoise {

/// A name with a number in it: `%d`, or `%04d` with zeros before it; `%%` is a percent sign.
class NamePattern {
  public:
    /// Nothing where `text` has no such place, or several.
    [[nodiscard]] static std::optional<NamePattern> read(std::string_view text);

    [[nodiscard]] std::string name(std::uint64_t number) const;
    /// The numbers for which there is a file, in order.
    [[nodiscard]] std::vector<std::uint64_t> numbers_of_files() const;

  private:
    std::string before_, after_;
    std::size_t digits_ = 1;
};

struct InputFile {
    std::string path = {};
    std::optional<std::uint64_t> number = {};  ///< By the pattern that it was found with.
};

/// A pattern becomes the files that there are, in the order of their numbers; a file that is called
/// so is itself. Throws InputOutputError where no file fits a pattern.
[[nodiscard]] std::vector<InputFile> find_inputs(const std::vector<std::string>& words);

/// Of the files that there are under one name: `word` is a pattern, a folder with files that are
/// called as the inputs are, or a file.
[[nodiscard]] std::vector<InputFile> find_references(const std::string& word,
                                                     const std::vector<InputFile>& inputs);

[[nodiscard]] bool is_folder(const std::string& path);
/// The file of this name in the folder.
[[nodiscard]] std::string in_folder(const std::string& folder, const std::string& path);
/// The result of an input in another folder: of the same name, or with .png for .jpg.
[[nodiscard]] std::string result_in_folder(const std::string& folder, const std::string& path);

}  // namespace strid::denoise
