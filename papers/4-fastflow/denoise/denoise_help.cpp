// SPDX-License-Identifier: Apache-2.0
#include "denoise_help.hpp"

namespace strid::denoise {

const char* const description =
    "Remove salt-and-pepper noise from pictures and sequences of frames and keep their edges: "
    "noisy "
    "samples are detected by an adaptive median filter, and only they are restored, by minimising "
    "an edge-preserving functional (Chan, Ho and Nikolova 2005)";

const char* const footer =
    "Inputs:      PNG, PGM, PPM, JPEG and TIFF; files, a pattern (frame-%04d.png: the files that\n"
    "             there are), or PNG, PGM and PPM images that follow each other on a pipe.\n"
    "             YUV4MPEG2 (.y4m). Raw video by --raw\n"
    "Outputs:     the form that the extension names: .png, .pgm, .ppm, .pnm, .tif, .tiff, .jpg,\n"
    "             .jpeg; else that of the input, and PNG for JPEG, which loses what was restored.\n"
    "             --output - is standard output\n"
    "Colours:     each plane for itself: R, G, B, or Y, U, V. Alpha is kept. 1, 2 and 4 bits "
    "become\n"
    "             8, palettes RGB\n"
    "Noise:       a sample that is 0 or the largest value, in a window whose median lies strictly\n"
    "             between its minimum and maximum; the window grows to --window at most\n"
    "Functional:  sum of sqrt((u_p - u_q)^2 + EDGE) over neighbours p, q with a noisy one, and of\n"
    "             FIDELITY |u_p - y_p| over noisy p; in grey levels of 0 to 255 at any depth\n"
    "Failures:    a plain output file is whole or not there. Of a sequence of files and on a "
    "pipe,\n"
    "             the frames before the one that failed are written\n"
    "Parallel:    one picture is shared by all workers, frames of a sequence are done by one "
    "each;\n"
    "             the output is the same with any number of workers\n"
    "\n"
    "Examples:\n"
    "  strid denoise noisy.png --output clean.png --verbose\n"
    "  strid denoise frame-%04d.png --output clean-%04d.png\n"
    "  strid denoise scans/*.png --output clean/\n"
    "  ffmpeg -i in.mkv -f yuv4mpegpipe - | strid denoise | ffplay -\n"
    "  strid denoise --raw 640x480 --pixel gray < noisy.raw > clean.raw\n"
    "  strid denoise clean.png --add-noise 0.5 --seed 7 --output noisy.png\n"
    "  strid denoise noisy.png --reference clean.png --output restored.png\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 the command line makes no sense, 128 + signal when one ended\n"
    "the run.";

}  // namespace strid::denoise
