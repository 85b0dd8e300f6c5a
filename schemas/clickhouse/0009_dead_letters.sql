CREATE TABLE IF NOT EXISTS dead_letters_versions${on_cluster}
(
    src_topic LowCardinality(String) COMMENT 'Topic the message is in.',
    src_partition UInt64 COMMENT 'Partition of the message.',
    src_offset UInt64 COMMENT 'Offset of the message.',
    table_id LowCardinality(String) COMMENT 'The table whose message it is, or claims to be.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the log took the message in, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    reason LowCardinality(String) COMMENT 'A stable code, such as `not_json`, `unknown_type`, `invalid` or `not_storable`.',
    detail String COMMENT 'Where and what, in words.',
    event_id String COMMENT 'The event\'s id, as far as it can be told.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    round UInt64 COMMENT 'Number of the round in its shoe, from 1; 0 where none is meant.',
    raw String COMMENT 'The message\'s bytes, base 64.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    retracted Bool COMMENT 'The fact no longer holds: readers leave it out.',
    utc_day Date MATERIALIZED toDate(occurred_at) COMMENT 'UTC day of occurred_at, for the storage alone: a revision may move it.'
)
ENGINE = ${replicated}ReplacingMergeTree(revision, retracted)
PARTITION BY toYYYYMM(utc_day)
ORDER BY (src_topic, src_partition, src_offset)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
COMMENT 'Messages that could not be used as received. Readers use the view dead_letters.';

CREATE VIEW IF NOT EXISTS dead_letters${on_cluster}
(
    src_topic LowCardinality(String) COMMENT 'Topic the message is in.',
    src_partition UInt64 COMMENT 'Partition of the message.',
    src_offset UInt64 COMMENT 'Offset of the message.',
    table_id LowCardinality(String) COMMENT 'The table whose message it is, or claims to be.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the log took the message in, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    reason LowCardinality(String) COMMENT 'A stable code, such as `not_json`, `unknown_type`, `invalid` or `not_storable`.',
    detail String COMMENT 'Where and what, in words.',
    event_id String COMMENT 'The event\'s id, as far as it can be told.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    round UInt64 COMMENT 'Number of the round in its shoe, from 1; 0 where none is meant.',
    raw String COMMENT 'The message\'s bytes, base 64.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.'
)
AS SELECT * EXCEPT (retracted)
FROM dead_letters_versions FINAL
COMMENT 'A message that could not be used.';
