// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.trafficmonitoring;

import dev.strid.peers.Input;
import dev.strid.peers.PeerException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A polyline of positions, in degrees. */
record Road(long id, boolean oneWay, List<Position> points) {
    record Position(double latitude, double longitude) {}

    private static final int COLUMNS = 4;

    /**
     * The roads of a file `road,one_way,latitude,longitude`: a header, then a row a point. Roads
     * that are driven against their order (one_way -1) are turned.
     */
    static List<Road> read(Path file) {
        List<Road> roads = new ArrayList<>();
        int direction = 0;
        List<String> lines = Input.lines(file);
        for (int i = 1; i < lines.size(); ++i) {
            String[] cells = lines.get(i).split(",", -1);
            try {
                if (cells.length != COLUMNS) throw new IllegalArgumentException("not 4 columns");
                long id = Long.parseLong(cells[0]);
                if (roads.isEmpty() || roads.get(roads.size() - 1).id != id) {
                    direction = Integer.parseInt(cells[1]);
                    roads.add(new Road(id, direction != 0, new ArrayList<>()));
                }
                Position point = new Position(
                        Double.parseDouble(cells[2]), Double.parseDouble(cells[3]));
                List<Position> points = roads.get(roads.size() - 1).points;
                points.add(direction < 0 ? 0 : points.size(), point);
            } catch (IllegalArgumentException e) {
                throw new PeerException(file + ", line " + (i + 1) + ": " + e.getMessage());
            }
        }
        if (roads.isEmpty()) throw new PeerException(file + ": there is no road in it");
        return roads;
    }
}
