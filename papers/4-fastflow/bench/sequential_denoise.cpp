// SPDX-License-Identifier: Apache-2.0
//
// The baseline of `strid denoise`: the same kernels, one frame after the other, without a
// pattern and without threads.
//
//     sequential_denoise IN.png OUT.png [IN.png OUT.png ...]
//
// The files are those that `strid denoise IN.png --output OUT.png` writes, to the byte.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "denoiser.hpp"
#include "png_reader.hpp"
#include "png_writer.hpp"

int main(int argc, char** argv) {
    using namespace strid::denoise;
    constexpr int level = 6;
    constexpr std::uint64_t pixels_max = 1U << 28;
    if (argc < 3 || argc % 2 == 0) {
        std::fputs("usage: sequential_denoise IN.png OUT.png [IN.png OUT.png ...]\n", stderr);
        return 2;
    }
    try {
        for (int i = 1; i < argc; i += 2) {
            std::ifstream in(argv[i], std::ios::binary);
            const std::string png{std::istreambuf_iterator<char>(in), {}};
            Picture picture = read_png(png, pixels_max, run_in_sequence);
            remove_noise(picture, {}, run_in_sequence);
            std::ofstream out(argv[i + 1], std::ios::binary);
            out << write_png(picture, chunks_to_keep(png), level, run_in_sequence);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
