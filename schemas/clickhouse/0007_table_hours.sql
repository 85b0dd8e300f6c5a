CREATE TABLE IF NOT EXISTS table_hours_versions${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    hour DateTime64(6, 'UTC') COMMENT 'Beginning of the hour, UTC.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount here.',
    rounds UInt64 COMMENT 'Live rounds, void ones too.',
    voids UInt64 COMMENT 'Live rounds cancelled.',
    cards UInt64 COMMENT 'Cards dealt to hands.',
    bets UInt64 COMMENT 'Number of bets.',
    handle Int64 COMMENT 'Stakes decided, that is won or lost, minor units.',
    house_win Int64 COMMENT 'What the rules give the house, commission included, minor units.',
    commission_due Int64 COMMENT 'Commission by the rules, minor units.',
    paid Int64 COMMENT 'Payouts the table recorded, minor units.',
    collected Int64 COMMENT 'Stakes the table recorded as taken in, minor units.',
    dealing_errors UInt64 COMMENT 'Errors of dealing (arts. 7 and 9).',
    alerts UInt64 COMMENT 'Alerts raised in those rounds.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    retracted Bool COMMENT 'The fact no longer holds: readers leave it out.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.'
)
ENGINE = ${replicated}ReplacingMergeTree(revision, retracted)
PARTITION BY toYYYYMM(hour)
ORDER BY (table_id, hour)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
COMMENT 'Sums of the tables\' hours in every revision received; amounts in minor units. Readers use the view table_hours.';

CREATE VIEW IF NOT EXISTS table_hours${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    hour DateTime64(6, 'UTC') COMMENT 'Beginning of the hour, UTC.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount here.',
    rounds UInt64 COMMENT 'Live rounds, void ones too.',
    voids UInt64 COMMENT 'Live rounds cancelled.',
    cards UInt64 COMMENT 'Cards dealt to hands.',
    bets UInt64 COMMENT 'Number of bets.',
    handle Decimal(18, 2) COMMENT 'Stakes decided, that is won or lost.',
    house_win Decimal(18, 2) COMMENT 'What the rules give the house, commission included.',
    commission_due Decimal(18, 2) COMMENT 'Commission by the rules.',
    paid Decimal(18, 2) COMMENT 'Payouts the table recorded.',
    collected Decimal(18, 2) COMMENT 'Stakes the table recorded as taken in.',
    dealing_errors UInt64 COMMENT 'Errors of dealing (arts. 7 and 9).',
    alerts UInt64 COMMENT 'Alerts raised in those rounds.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.'
)
AS SELECT * EXCEPT (retracted) REPLACE (
    reinterpret(handle, 'Decimal(18, 2)') AS handle,
    reinterpret(house_win, 'Decimal(18, 2)') AS house_win,
    reinterpret(commission_due, 'Decimal(18, 2)') AS commission_due,
    reinterpret(paid, 'Decimal(18, 2)') AS paid,
    reinterpret(collected, 'Decimal(18, 2)') AS collected
)
FROM table_hours_versions FINAL
COMMENT 'Sums of a table\'s hour; a round counts in the hour it began.';
