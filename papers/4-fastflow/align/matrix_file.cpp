// SPDX-License-Identifier: Apache-2.0
#include "matrix_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/connector/byte_reader.hpp>
#include <strid/engine/base/excerpt.hpp>

namespace strid::align {

namespace {

constexpr std::size_t bytes_max = std::size_t{1} << 20U;
constexpr int score_max = 10'000;  // far from what 16 bits hold

std::string read_text(const std::string& path) {
    ByteReader input(path);
    std::vector<char> buffer(bytes_max + 1);
    std::size_t bytes = 0;
    while (bytes <= bytes_max) {
        constexpr int wait_ms = 100;
        const auto result = input.read(std::span(buffer).subspan(bytes), wait_ms);
        if (result.status == ByteReader::Status::end) return {buffer.data(), bytes};
        if (result.status != ByteReader::Status::waiting) bytes += result.bytes;
    }
    throw InputOutputError(
        fmt::format("{}: more than {} bytes, which is no matrix of scores", path, bytes_max));
}

std::vector<std::string_view> words_of(std::string_view line) {
    constexpr std::string_view spaces = " \t\r\v\f,";
    std::vector<std::string_view> words;
    for (std::size_t at = 0; (at = line.find_first_not_of(spaces, at)) != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(spaces, at), line.size());
        words.push_back(line.substr(at, end - at));
        at = end;
    }
    return words;
}

class Parser {
  public:
    Parser(const std::string& path, Molecule molecule) : path_(path), molecule_(molecule) {}

    MatrixFile parse(std::string_view text) {
        while (!text.empty()) {
            ++line_;
            const std::size_t end = std::min(text.find('\n'), text.size());
            take(words_of(text.substr(0, end)));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        check();
        return std::move(matrix_);
    }

  private:
    [[noreturn]] void fail(std::size_t line, const std::string& what) const {
        throw InputOutputError(fmt::format("{}:{}: {}", path_, line, what));
    }

    void take(const std::vector<std::string_view>& words) {
        if (words.empty() || words.front().front() == '#') return;
        if (matrix_.letters.empty()) {
            take_columns(words);
        } else {
            take_row(words);
        }
    }

    char letter_of(std::string_view word) const {
        char letter = word.front();
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
        const bool fits = molecule_ == Molecule::dna ? bases_of(letter) != 0 || letter == 'U'
                                                     : letter >= 'A' && letter <= 'Z';
        if (word.size() != 1 || (!fits && letter != '*')) {
            fail(line_, fmt::format("'{}' is no letter of a {}", excerpt(word),
                                    molecule_ == Molecule::dna ? "nucleic acid" : "protein"));
        }
        return letter;
    }

    void take_columns(const std::vector<std::string_view>& words) {
        for (const std::string_view word : words) {
            const char letter = letter_of(word);
            if (matrix_.letters.find(letter) != std::string::npos) {
                fail(line_, fmt::format("two columns are for {}", letter));
            }
            matrix_.letters += letter;
        }
        const std::size_t size = matrix_.letters.size();
        matrix_.scores.resize(size * size);
        line_of_.resize(size);
    }

    void take_row(const std::vector<std::string_view>& words) {
        const std::size_t size = matrix_.letters.size();
        const char letter = letter_of(words.front());
        const std::size_t row = matrix_.letters.find(letter);
        if (row == std::string::npos) fail(line_, fmt::format("there is no column for {}", letter));
        if (line_of_[row] != 0) {
            fail(line_, fmt::format("the row for {} is in line {}", letter, line_of_[row]));
        }
        if (words.size() != size + 1) {
            fail(line_, fmt::format("{} scores for {} columns", words.size() - 1, size));
        }
        line_of_[row] = line_;
        for (std::size_t column = 0; column < size; ++column) {
            matrix_.scores[row * size + column] = score_of(words[column + 1]);
        }
    }

    int score_of(std::string_view word) const {
        int score = 0;
        const char* const end = word.data() + word.size();
        const char* const begin = word.data() + (word.starts_with('+') && word.size() > 1 ? 1 : 0);
        const auto result = std::from_chars(begin, end, score);
        if (result.ec != std::errc{} || result.ptr != end || score < -score_max ||
            score > score_max) {
            fail(line_, fmt::format("'{}' is no whole number from {} to {}", excerpt(word),
                                    -score_max, score_max));
        }
        return score;
    }

    void check() const {
        const std::string& letters = matrix_.letters;
        const std::size_t size = letters.size();
        if (size == 0) fail(line_, "there is no line that names the columns");
        for (std::size_t i = 0; i < size; ++i) {
            if (line_of_[i] == 0) fail(line_, fmt::format("there is no row for {}", letters[i]));
            for (std::size_t j = 0; j < i; ++j) {
                const int one = matrix_.scores[i * size + j];
                const int other = matrix_.scores[j * size + i];
                if (one == other) continue;
                const auto [late, early] = std::minmax(line_of_[i], line_of_[j], std::greater<>());
                fail(late, fmt::format("{} and {} are worth {} here and {} in line {}", letters[i],
                                       letters[j], late == line_of_[i] ? one : other,
                                       late == line_of_[i] ? other : one, early));
            }
        }
        if (molecule_ == Molecule::dna) check_bases();
    }

    void check_bases() const {
        for (const char letter : std::string("ACGT") + reverse_complement(matrix_.letters)) {
            if (letter != 'U' && matrix_.letters.find(letter) == std::string::npos) {
                fail(line_, fmt::format("there is no row for {}", letter));
            }
        }
    }

    const std::string& path_;
    const Molecule molecule_;
    MatrixFile matrix_;
    std::vector<std::size_t> line_of_;  // of each row; 0: it was not there yet
    std::size_t line_ = 0;
};

}  // namespace

MatrixFile read_matrix_file(const std::string& path, Molecule molecule) {
    return Parser(path, molecule).parse(read_text(path));
}

}  // namespace strid::align
