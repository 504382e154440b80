// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import org.apache.flink.api.java.tuple.Tuple9;

/**
 * A line of the input: a position report or a question. A tuple, because Flink's serializer of
 * tuples is the fastest one that it has; named access is added, no field.
 */
@SuppressWarnings("unchecked") // Tuple.copy
public class Event
        extends Tuple9<Integer, Integer, Integer, Short, Byte, Short, Byte, Byte, Byte> {
    public static final byte POSITION = 0;
    public static final byte BALANCE = 2;
    public static final byte EXPENDITURE = 3;
    public static final byte TRAVEL_TIME = 4;

    private static final int COLUMNS = 15;
    private static final int DAYS = 69;

    /** Seconds. */
    public int time() {
        return f0;
    }

    public int car() {
        return f1;
    }

    /** Feet; of a report. */
    public int position() {
        return f2;
    }

    /** The number of a question. */
    public int query() {
        return f2;
    }

    public short expressway() {
        return f3;
    }

    public byte kind() {
        return f4;
    }

    /** Miles an hour. */
    public short speed() {
        return f5;
    }

    public byte lane() {
        return f6;
    }

    public byte direction() {
        return f7;
    }

    public byte segment() {
        return f8;
    }

    /** Of a question: so many days ago. */
    public byte day() {
        return f8;
    }

    public int road() {
        return f3 * 2 + f7;
    }

    /** The same event on another expressway, by another car and at another time. */
    public void copyTo(Event to, int time, int car, int expressway) {
        to.setFields(time, car, f2, (short) expressway, f4, f5, f6, f7, f8);
    }

    /** The event of a line; throws IllegalArgumentException where the line is not one. */
    public static Event parse(String line) {
        int[] columns = new int[COLUMNS];
        int count = 0;
        int begin = 0;
        while (begin <= line.length()) {
            int end = line.indexOf(',', begin);
            if (end < 0) end = line.length();
            if (count == COLUMNS) {
                throw new IllegalArgumentException("more than 15 columns: " + line);
            }
            columns[count++] = Integer.parseInt(line, begin, end, 10);
            begin = end + 1;
        }
        if (count < COLUMNS) {
            throw new IllegalArgumentException("fewer than 15 columns: " + line);
        }
        int kind = columns[0];
        boolean isReport = kind == POSITION;
        if (!isReport && kind != BALANCE && kind != EXPENDITURE && kind != TRAVEL_TIME) {
            throw new IllegalArgumentException("there is no type " + kind + ": " + line);
        }
        Event event = new Event();
        event.f0 = within(columns[1], 0, Integer.MAX_VALUE, line);
        event.f1 = within(columns[2], 0, Integer.MAX_VALUE, line);
        event.f2 = columns[isReport ? 8 : 9];
        event.f3 = (short) (kind == BALANCE || kind == TRAVEL_TIME
                ? 0
                : within(columns[4], 0, Short.MAX_VALUE, line));
        event.f4 = (byte) kind;
        event.f5 = (short) (isReport ? within(columns[3], 0, 255, line) : 0);
        event.f6 = (byte) (isReport ? within(columns[5], 0, 4, line) : 0);
        event.f7 = (byte) (isReport ? within(columns[6], 0, 1, line) : 0);
        event.f8 = (byte) switch (kind) {
            case POSITION -> within(columns[7], 0, Road.SEGMENTS - 1, line);
            case EXPENDITURE -> within(columns[14], 1, DAYS, line);
            default -> 0;
        };
        return event;
    }

    private static int within(int value, int least, int most, String line) {
        if (value >= least && value <= most) return value;
        throw new IllegalArgumentException(
                value + " is not between " + least + " and " + most + ": " + line);
    }
}
