package peers.rules;

import java.util.List;

/** A table of outcomes: its name and columns. {@code broker}, {@code topic} and {@code subscription} are ids still. */
public record Table(String name, List<Column> columns) {}
