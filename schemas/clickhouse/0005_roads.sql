CREATE TABLE IF NOT EXISTS roads_versions${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    road LowCardinality(String) COMMENT '`bead_plate`, `big_road`, `big_eye_boy`, `small_road` or `cockroach_pig`.',
    `index` UInt64 COMMENT 'Number of the cell in its road, from 0, in order of time.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    `column` UInt64 COMMENT 'Column of the drawing, from 0.',
    `row` UInt64 COMMENT 'Row of the drawing, from 0 at the top.',
    mark LowCardinality(String) COMMENT 'B, P or T (banker, player, tie) on the bead plate and the big road; R or B (red, blue) elsewhere.',
    ties UInt64 COMMENT 'Ties counted on a cell of the big road.',
    player_pair Bool COMMENT 'The round had a player pair; bead plate and big road only.',
    banker_pair Bool COMMENT 'The round had a banker pair; bead plate and big road only.',
    round UInt64 COMMENT 'The round that made the mark.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    retracted Bool COMMENT 'The fact no longer holds: readers leave it out.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.',
    utc_day Date MATERIALIZED toDate(occurred_at) COMMENT 'UTC day of occurred_at, for the storage alone: a revision may move it.'
)
ENGINE = ${replicated}ReplacingMergeTree(revision, retracted)
PARTITION BY toYYYYMM(utc_day)
ORDER BY (table_id, shoe, road, `index`)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
COMMENT 'Cells of the drawn roads in every revision received. Readers use the view roads.';

CREATE VIEW IF NOT EXISTS roads${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    road LowCardinality(String) COMMENT '`bead_plate`, `big_road`, `big_eye_boy`, `small_road` or `cockroach_pig`.',
    `index` UInt64 COMMENT 'Number of the cell in its road, from 0, in order of time.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    `column` UInt64 COMMENT 'Column of the drawing, from 0.',
    `row` UInt64 COMMENT 'Row of the drawing, from 0 at the top.',
    mark LowCardinality(String) COMMENT 'B, P or T (banker, player, tie) on the bead plate and the big road; R or B (red, blue) elsewhere.',
    ties UInt64 COMMENT 'Ties counted on a cell of the big road.',
    player_pair Bool COMMENT 'The round had a player pair; bead plate and big road only.',
    banker_pair Bool COMMENT 'The round had a banker pair; bead plate and big road only.',
    round UInt64 COMMENT 'The round that made the mark.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.'
)
AS SELECT * EXCEPT (retracted)
FROM roads_versions FINAL
COMMENT 'One cell of a drawn road.';
