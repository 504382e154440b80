// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.trafficmonitoring;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.locationtech.jts.geom.Envelope;
import org.locationtech.jts.index.strtree.STRtree;

/**
 * The nearest road of a fix: JTS's packed R-tree over the segments, in a plane of metres that
 * touches the globe in the middle of the network. Immutable once built; any thread may ask.
 */
final class RoadIndex {
    /** No road fits. */
    static final long NONE = Long.MIN_VALUE;

    private static final double METRES_PER_DEGREE = Math.toRadians(6_371_008.8);
    private static final double MM_PER_M = 1000;

    /** What an index is made of: subtasks with the same settings share one. */
    record Settings(String roads, double tolerance, double bearingTolerance)
            implements java.io.Serializable {}

    /** A piece of a road, and its direction as a vector of length 1. */
    private record Segment(double x, double y, double dx, double dy, double length, double east,
            double north, long road, boolean oneWay) {
        /** The square of the distance to a point. */
        double squaredDistance(double px, double py) {
            double along = (px - x) * dx + (py - y) * dy;
            if (along <= 0) return square(px - x, py - y);
            if (along >= length) return square(px - (x + dx), py - (y + dy));
            double share = along / length;
            return square(px - (x + share * dx), py - (y + share * dy));
        }

        private static double square(double x, double y) {
            return x * x + y * y;
        }
    }

    private static final Map<Settings, RoadIndex> SHARED = new ConcurrentHashMap<>();

    private final double tolerance;
    private final double cosineMin;
    private final double middleLatitude;
    private final double middleLongitude;
    private final double metresPerDegreeEast;
    private final STRtree tree = new STRtree();

    static RoadIndex of(Settings settings) {
        return SHARED.computeIfAbsent(settings, key -> new RoadIndex(
                Road.read(Path.of(key.roads())), key.tolerance(), key.bearingTolerance()));
    }

    private RoadIndex(List<Road> roads, double tolerance, double bearingTolerance) {
        this.tolerance = tolerance;
        cosineMin = Math.cos(Math.toRadians(Math.min(bearingTolerance, 180)));
        Envelope degrees = new Envelope();
        for (Road road : roads) {
            for (Road.Position point : road.points()) {
                degrees.expandToInclude(point.longitude(), point.latitude());
            }
        }
        middleLatitude = (degrees.getMinY() + degrees.getMaxY()) / 2;
        middleLongitude = (degrees.getMinX() + degrees.getMaxX()) / 2;
        metresPerDegreeEast = METRES_PER_DEGREE * Math.cos(Math.toRadians(middleLatitude));
        for (Road road : roads) {
            for (int i = 1; i < road.points().size(); ++i) {
                insert(road, road.points().get(i - 1), road.points().get(i));
            }
        }
        tree.build();
    }

    private void insert(Road road, Road.Position begin, Road.Position end) {
        double x = x(begin.longitude());
        double y = y(begin.latitude());
        double endX = x(end.longitude());
        double endY = y(end.latitude());
        double dx = endX - x;
        double dy = endY - y;
        double squared = dx * dx + dy * dy;
        if (squared == 0) return;
        double length = Math.sqrt(squared);
        tree.insert(
                new Envelope(x, endX, y, endY),
                new Segment(x, y, dx, dy, squared, dx / length, dy / length, road.id(),
                        road.oneWay()));
    }

    private double x(double longitude) {
        return (longitude - middleLongitude) * metresPerDegreeEast;
    }

    private double y(double latitude) {
        return (latitude - middleLatitude) * METRES_PER_DEGREE;
    }

    /** The road of the fix, or NONE; of equally near ones, in millimetres, that of the least id. */
    long nearest(Fix fix) {
        Search search = new Search(fix);
        Envelope around = new Envelope(search.x, search.x, search.y, search.y);
        around.expandBy(tolerance);
        tree.query(around, search::look);
        return search.road;
    }

    private final class Search {
        private final double x;
        private final double y;
        private final double east;
        private final double north;
        private final boolean hasDirection;
        private long road = NONE;
        private long distanceMm = Long.MAX_VALUE;

        Search(Fix fix) {
            x = x(fix.longitude);
            y = y(fix.latitude);
            hasDirection = fix.speed != 0;
            double angle = hasDirection ? Math.toRadians(fix.bearing) : 0;
            east = hasDirection ? Math.sin(angle) : 0;
            north = hasDirection ? Math.cos(angle) : 0;
        }

        void look(Object item) {
            Segment segment = (Segment) item;
            if (hasDirection) {
                double cosine = segment.east() * east + segment.north() * north;
                if ((segment.oneWay() ? cosine : Math.abs(cosine)) < cosineMin) return;
            }
            double squared = segment.squaredDistance(x, y);
            if (squared > tolerance * tolerance) return;
            long mm = Math.round(Math.sqrt(squared) * MM_PER_M);
            if (mm < distanceMm || (mm == distanceMm && segment.road() < road)) {
                distanceMm = mm;
                road = segment.road();
            }
        }
    }
}
