// SPDX-License-Identifier: Apache-2.0
//
// Without a fuzzer: passes each input of a corpus to the target, which aborts if its invariant is
// broken. An input is a line of the corpus (scripts/fuzz_corpus.py has the format).
//
//   NAME_fuzz CORPUS
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::uint8_t> bytes_of(std::string_view text) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            bytes.push_back(static_cast<std::uint8_t>(text[i]));
            continue;
        }
        const std::string digits(text.substr(i + 2, 2));
        bytes.push_back(static_cast<std::uint8_t>(std::strtoul(digits.c_str(), nullptr, 16)));
        i += 3;
    }
    return bytes;
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t inputs = 0;
    std::ifstream corpus(argc == 2 ? argv[1] : "");
    for (std::string line; std::getline(corpus, line); ++inputs) {
        const auto bytes = bytes_of(std::string_view(line).substr(line.find(' ') + 1));
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    std::printf("%zu inputs\n", inputs);
    return inputs == 0 ? 1 : 0;
}
