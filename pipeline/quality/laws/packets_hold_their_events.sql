-- Packets of dispatch_events hold as many events of a broker and epoch as rows are in packets: lanes read packets, everybody else reads rows.
-- One row per broker, epoch and layout that violates it. The first eight bytes of a packet are the number of its events.
SELECT broker, epoch, lane_layout, count(*) AS events_in_packets,
  coalesce(sum(CAST(conv(hex(substring(lane_packet, 1, 8)), 16, 10) AS BIGINT)), 0) AS events_held
FROM dispatch_events
WHERE lane_layout IS NOT NULL
GROUP BY broker, epoch, lane_layout
HAVING events_in_packets <> events_held
