package peers.flink;

import java.util.Arrays;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.BooleanType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.MapType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.TimestampType;
import org.apache.flink.table.types.logical.VarCharType;
import peers.rules.BronzeColumn;
import peers.rules.Column;
import peers.rules.Table;

/** The rules' columns as Flink's types. */
final class RowTypes {
    private static final int MICROSECONDS = 6;

    private RowTypes() {}

    static RowType bronze() {
        BronzeColumn[] columns = BronzeColumn.values();
        return RowType.of(
                Arrays.stream(columns).map(column -> bronzeType(column.kind)).toArray(LogicalType[]::new),
                Arrays.stream(columns).map(BronzeColumn::columnName).toArray(String[]::new));
    }

    static RowType of(Table table) {
        return RowType.of(
                table.columns().stream().map(column -> tableType(column.type())).toArray(LogicalType[]::new),
                table.columns().stream().map(Column::name).toArray(String[]::new));
    }

    private static LogicalType bronzeType(BronzeColumn.Kind kind) {
        return switch (kind) {
            case LONG -> new BigIntType();
            case INT -> new IntType();
            case TEXT -> VarCharType.STRING_TYPE;
            case FLAG -> new BooleanType();
            case TEXTS -> new MapType(VarCharType.STRING_TYPE, VarCharType.STRING_TYPE);
        };
    }

    private static LogicalType tableType(Column.Type type) {
        return switch (type) {
            case LONG -> new BigIntType();
            case INT -> new IntType();
            case DOUBLE -> new DoubleType();
            case BOOLEAN -> new BooleanType();
            case ID, STRING -> VarCharType.STRING_TYPE;
            case TIMESTAMP -> new TimestampType(MICROSECONDS);
        };
    }
}
