// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.io.Serializable;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The command line {@code APPLICATION --name value ... --flag}. Options of applications are read by
 * {@link #text} and {@link #number}; what is not read by the time of {@link #checkAllKnown} is an
 * error. Immutable but for what has been read; travels with the functions of a job.
 */
public final class Options implements Serializable {
    private static final Set<String> FLAGS =
            Set.of("once", "no-chaining", "no-object-reuse", "turns");

    private final String application;
    private final Map<String, String> values = new LinkedHashMap<>();
    private final Set<String> read = new java.util.HashSet<>();

    public Options(String[] arguments) {
        if (arguments.length == 0 || arguments[0].startsWith("-")) {
            throw new PeerException("the name of an application is missing");
        }
        application = arguments[0];
        for (int i = 1; i < arguments.length; ++i) {
            if (!arguments[i].startsWith("--")) {
                throw new PeerException("'" + arguments[i] + "' is not an option");
            }
            String name = arguments[i].substring(2);
            if (FLAGS.contains(name)) {
                values.put(name, "");
            } else if (++i < arguments.length) {
                values.put(name, arguments[i]);
            } else {
                throw new PeerException("--" + name + " needs a value");
            }
        }
    }

    public String application() {
        return application;
    }

    /** Whether it is there, with a value or without. */
    public boolean has(String name) {
        read.add(name);
        return values.containsKey(name);
    }

    public String text(String name, String otherwise) {
        read.add(name);
        return values.getOrDefault(name, otherwise);
    }

    public double number(String name, double otherwise) {
        String text = text(name, null);
        if (text == null) return otherwise;
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            throw new PeerException("--" + name + ": '" + text + "' is not a number");
        }
    }

    /** At least 1. */
    public int count(String name, int otherwise) {
        double number = number(name, otherwise);
        if (number < 1 || number != Math.rint(number) || number > Integer.MAX_VALUE) {
            throw new PeerException("--" + name + " needs a whole number above 0");
        }
        return (int) number;
    }

    /** A time such as 10s, 250ms or 2m, in nanoseconds. */
    public long duration(String name, String otherwise) {
        String text = text(name, otherwise);
        var match = java.util.regex.Pattern.compile("(\\d+(?:\\.\\d+)?)(ms|s|m|h)").matcher(text);
        if (!match.matches()) {
            throw new PeerException("--" + name + ": '" + text + "' is not a time such as 10s");
        }
        double unit = switch (match.group(2)) {
            case "ms" -> 1e6;
            case "s" -> 1e9;
            case "m" -> 60e9;
            default -> 3600e9;
        };
        return Math.round(Double.parseDouble(match.group(1)) * unit);
    }

    /** A file that must be named. */
    public Path file(String name) {
        String text = text(name, null);
        if (text == null) throw new PeerException(application + " needs --" + name + " FILE");
        return Path.of(text);
    }

    public void checkAllKnown() {
        for (String name : values.keySet()) {
            if (!read.contains(name)) {
                throw new PeerException(application + " has no option --" + name);
            }
        }
    }
}
