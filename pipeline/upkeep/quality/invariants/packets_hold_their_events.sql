-- Packets of dispatch_events hold as many events of a broker and epoch as rows are in packets: lanes read packets, everybody else reads rows.
-- One row per broker, epoch and layout that violates it. The first eight bytes of a packet are the number of its events: sixteen digits.
SELECT broker, epoch, lane_layout, count(*) AS events_in_packets,
  coalesce(sum(CASE WHEN digits IS NOT NULL THEN aggregate(
    sequence(1, 16), CAST(0 AS BIGINT), (number, place) -> number * 16 + instr('123456789ABCDEF', substring(digits, place, 1))
  ) END), 0) AS events_held
FROM (SELECT broker, epoch, lane_layout, substring(hex(lane_packet), 1, 16) AS digits FROM dispatch_events WHERE lane_layout IS NOT NULL)
GROUP BY broker, epoch, lane_layout
HAVING events_in_packets <> events_held
