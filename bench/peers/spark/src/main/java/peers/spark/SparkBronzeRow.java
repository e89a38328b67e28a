package peers.spark;

import org.apache.spark.sql.Row;
import peers.rules.BronzeColumn;
import peers.rules.BronzeRow;

/** A row of bronze as Spark hands it over; one object shows one row after the other. */
final class SparkBronzeRow extends BronzeRow {
    private Row row;

    SparkBronzeRow of(Row next) {
        row = next;
        return this;
    }

    @Override
    protected boolean isNull(BronzeColumn column) {
        return row.isNullAt(column.ordinal());
    }

    @Override
    protected long number(BronzeColumn column) {
        return row.getLong(column.ordinal());
    }

    @Override
    protected int smallNumber(BronzeColumn column) {
        return row.getInt(column.ordinal());
    }

    @Override
    protected boolean flag(BronzeColumn column) {
        return row.getBoolean(column.ordinal());
    }

    @Override
    protected String text(BronzeColumn column) {
        return row.getString(column.ordinal());
    }

    @Override
    protected String setting(String key) {
        return row.<String, String>getJavaMap(BronzeColumn.SETTINGS.ordinal()).get(key);
    }
}
