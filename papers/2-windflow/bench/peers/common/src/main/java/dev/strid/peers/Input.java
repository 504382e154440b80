// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.zip.GZIPInputStream;

/** Reads text files; errors name the file and the line. */
public final class Input {
    private Input() {}

    /**
     * The lines without their ends. Each byte becomes one character and is written as that byte
     * again, so that text of any encoding passes unchanged. Files .gz are unpacked.
     */
    public static List<String> lines(Path file) {
        try {
            byte[] bytes = Files.readAllBytes(file);
            if (file.toString().endsWith(".gz")) bytes = unpacked(bytes);
            String text = new String(bytes, StandardCharsets.ISO_8859_1);
            List<String> lines = new ArrayList<>();
            for (int begin = 0; begin < text.length(); ) {
                int end = text.indexOf('\n', begin);
                if (end < 0) end = text.length();
                boolean carriageReturn = end > begin && text.charAt(end - 1) == '\r';
                lines.add(text.substring(begin, carriageReturn ? end - 1 : end));
                begin = end + 1;
            }
            return lines;
        } catch (IOException e) {
            throw new PeerException(file + ": cannot be read (" + e + ")");
        }
    }

    private static byte[] unpacked(byte[] bytes) throws IOException {
        try (var packed = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
            return packed.readAllBytes();
        }
    }

    /** A record of each line of a CSV file without quotes. */
    public static <T> List<T> csv(Path file, int columns, Function<String[], T> parse) {
        List<T> records = new ArrayList<>();
        for (String line : lines(file)) {
            String where = file + ", line " + (records.size() + 1) + ": ";
            String[] cells = line.split(",", -1);
            if (cells.length != columns) {
                throw new PeerException(where + cells.length + " columns for " + columns);
            }
            try {
                records.add(parse.apply(cells));
            } catch (IllegalArgumentException e) {
                throw new PeerException(where + e.getMessage());
            }
        }
        return records;
    }

    /** Writes one row a line, as {@link #lines} reads. */
    public static void write(Path file, List<String> rows) {
        try {
            Files.write(file, rows, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new PeerException(file + ": cannot be written (" + e + ")");
        }
    }

    /** The text as a cell of CSV (RFC 4180). */
    public static String cell(String text) {
        boolean quoted = false;
        for (int i = 0; i < text.length() && !quoted; ++i) {
            quoted = ",\"\r\n".indexOf(text.charAt(i)) >= 0;
        }
        return quoted ? '"' + text.replace("\"", "\"\"") + '"' : text;
    }
}
