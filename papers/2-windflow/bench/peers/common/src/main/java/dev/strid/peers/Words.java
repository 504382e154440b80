// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.io.Serializable;
import java.util.function.Consumer;

/** The words of a line: what stands between spaces (the character 0x20 only) and is not empty. */
public final class Words {
    private Words() {}

    /** How often a word came, to be changed in place. */
    public static final class Count implements Serializable {
        public long count;
    }

    /** Whether the option --emit asks for a row per word that comes, or per word at the end. */
    public static boolean emitsUpdates(Options options) {
        String emit = options.text("emit", "final");
        if (!emit.equals("final") && !emit.equals("updates")) {
            throw new PeerException("--emit: '" + emit + "' is neither final nor updates");
        }
        if (emit.equals("final") && options.has("rate")) {
            throw new PeerException("word-count: latencies need --emit updates");
        }
        return emit.equals("updates");
    }

    public static void split(String line, Consumer<String> visit) {
        for (int begin = 0; begin < line.length(); ) {
            int end = line.indexOf(' ', begin);
            if (end < 0) end = line.length();
            if (end > begin) visit.accept(line.substring(begin, end));
            begin = end + 1;
        }
    }
}
