// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.voipstream;

import java.time.DateTimeException;
import java.time.OffsetDateTime;
import org.apache.flink.api.java.tuple.Tuple5;

/** A line of the input: calling, called, start, duration, established. */
@SuppressWarnings("unchecked") // Tuple.copy
public class Call extends Tuple5<Long, Long, Long, Integer, Boolean> {
    /** A number is its digits behind a 1, so that 0391 is not 391. */
    public long calling() {
        return f0;
    }

    public long called() {
        return f1;
    }

    /** Seconds since 1970. */
    public long start() {
        return f2;
    }

    /** Seconds. */
    public int duration() {
        return f3;
    }

    public boolean established() {
        return f4;
    }

    /** The call of a line; throws IllegalArgumentException where the line is not one. */
    static Call parse(String[] cells) {
        Call call = new Call();
        call.setFields(
                code(cells[0]),
                code(cells[1]),
                second(cells[2]),
                Integer.parseInt(cells[3].strip()),
                established(cells[4]));
        if (call.f0.equals(call.f1)) {
            throw new IllegalArgumentException(cells[0] + " calls itself");
        }
        if (call.f3 < 0) throw new IllegalArgumentException("duration " + call.f3);
        return call;
    }

    private static long code(String digits) {
        if (digits.isEmpty() || digits.length() > 15) {
            throw new IllegalArgumentException("'" + digits + "' is not 1 to 15 digits");
        }
        return Long.parseLong("1" + digits);
    }

    private static long second(String text) {
        try {
            return OffsetDateTime.parse(text).toEpochSecond();
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(e.getMessage());
        }
    }

    private static boolean established(String text) {
        if (!text.equals("true") && !text.equals("false")) {
            throw new IllegalArgumentException("'" + text + "' is neither true nor false");
        }
        return text.equals("true");
    }
}
