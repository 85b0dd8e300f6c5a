CREATE TABLE IF NOT EXISTS bets_versions${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    round UInt64 COMMENT 'Number of the round in its shoe, from 1; 0 where none is meant.',
    bet_id String COMMENT 'The bet, unique in its shoe.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    bet LowCardinality(String) COMMENT 'What was bet on, a name of the catalogue.',
    seat UInt64 COMMENT 'The seat whose betting place it is.',
    area LowCardinality(String) COMMENT 'Whose place the chips lay on: `reserved` or `shared` (art. 15).',
    posture LowCardinality(String) COMMENT 'How the patron played: `seated` or `standing`.',
    patron_id String COMMENT 'The patron; empty if unknown.',
    dealer_id LowCardinality(String) COMMENT 'The dealer at the table; empty if unknown.',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount here.',
    placed_at DateTime64(6, 'UTC') COMMENT 'When the chips were put down, UTC.',
    carried Bool COMMENT 'The stake stood from the round before, after a tie (art. 12).',
    stake Int64 COMMENT 'The stake when the round ended, minor units.',
    result LowCardinality(String) COMMENT '`win`, `lose`, `push` or `void` by the rules; `unknown` where the round was not fully seen.',
    winnings Int64 COMMENT 'Winnings before commission, minor units.',
    due Int64 COMMENT 'What the tray owed: winnings less deducted commission, minor units.',
    commission_due Int64 COMMENT 'Commission by the rules, minor units.',
    net Int64 COMMENT 'The patron\'s gain: winnings less commission, or minus the stake lost, minor units.',
    paid Int64 COMMENT 'Payouts the table recorded, minor units.',
    collected Int64 COMMENT 'Stakes the table recorded as taken in, minor units.',
    commission Int64 COMMENT 'Commission the table recorded, minor units.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    retracted Bool COMMENT 'The fact no longer holds: readers leave it out.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.',
    utc_day Date MATERIALIZED toDate(occurred_at) COMMENT 'UTC day of occurred_at, for the storage alone: a revision may move it.',
    INDEX by_day utc_day TYPE minmax GRANULARITY 1
)
ENGINE = ${replicated}ReplacingMergeTree(revision, retracted)
PARTITION BY toYYYYMM(utc_day)
ORDER BY (table_id, shoe, round, bet_id)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
COMMENT 'Bets in every revision received; amounts in minor units. Readers use the view bets.';

CREATE VIEW IF NOT EXISTS bets${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    round UInt64 COMMENT 'Number of the round in its shoe, from 1; 0 where none is meant.',
    bet_id String COMMENT 'The bet, unique in its shoe.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    bet LowCardinality(String) COMMENT 'What was bet on, a name of the catalogue.',
    seat UInt64 COMMENT 'The seat whose betting place it is.',
    area LowCardinality(String) COMMENT 'Whose place the chips lay on: `reserved` or `shared` (art. 15).',
    posture LowCardinality(String) COMMENT 'How the patron played: `seated` or `standing`.',
    patron_id String COMMENT 'The patron; empty if unknown.',
    dealer_id LowCardinality(String) COMMENT 'The dealer at the table; empty if unknown.',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount here.',
    placed_at DateTime64(6, 'UTC') COMMENT 'When the chips were put down, UTC.',
    carried Bool COMMENT 'The stake stood from the round before, after a tie (art. 12).',
    stake Decimal(18, 2) COMMENT 'The stake when the round ended.',
    result LowCardinality(String) COMMENT '`win`, `lose`, `push` or `void` by the rules; `unknown` where the round was not fully seen.',
    winnings Decimal(18, 2) COMMENT 'Winnings before commission.',
    due Decimal(18, 2) COMMENT 'What the tray owed: winnings less deducted commission.',
    commission_due Decimal(18, 2) COMMENT 'Commission by the rules.',
    net Decimal(18, 2) COMMENT 'The patron\'s gain: winnings less commission, or minus the stake lost.',
    paid Decimal(18, 2) COMMENT 'Payouts the table recorded.',
    collected Decimal(18, 2) COMMENT 'Stakes the table recorded as taken in.',
    commission Decimal(18, 2) COMMENT 'Commission the table recorded.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.'
)
AS SELECT * EXCEPT (retracted) REPLACE (
    reinterpret(stake, 'Decimal(18, 2)') AS stake,
    reinterpret(winnings, 'Decimal(18, 2)') AS winnings,
    reinterpret(due, 'Decimal(18, 2)') AS due,
    reinterpret(commission_due, 'Decimal(18, 2)') AS commission_due,
    reinterpret(net, 'Decimal(18, 2)') AS net,
    reinterpret(paid, 'Decimal(18, 2)') AS paid,
    reinterpret(collected, 'Decimal(18, 2)') AS collected,
    reinterpret(commission, 'Decimal(18, 2)') AS commission
)
FROM bets_versions FINAL
COMMENT 'A bet as it stood when its round ended. Windows of time are much quicker through bets_between.';

CREATE VIEW IF NOT EXISTS bets_between${on_cluster}
AS SELECT * EXCEPT (retracted) REPLACE (
    reinterpret(stake, 'Decimal(18, 2)') AS stake,
    reinterpret(winnings, 'Decimal(18, 2)') AS winnings,
    reinterpret(due, 'Decimal(18, 2)') AS due,
    reinterpret(commission_due, 'Decimal(18, 2)') AS commission_due,
    reinterpret(net, 'Decimal(18, 2)') AS net,
    reinterpret(paid, 'Decimal(18, 2)') AS paid,
    reinterpret(collected, 'Decimal(18, 2)') AS collected,
    reinterpret(commission, 'Decimal(18, 2)') AS commission
)
FROM bets_versions FINAL
WHERE occurred_at >= {since:DateTime64(6, 'UTC')} AND occurred_at < {until:DateTime64(6, 'UTC')}
    AND utc_day BETWEEN toDate({since:DateTime64(6, 'UTC')}) - 1 AND toDate({until:DateTime64(6, 'UTC')}) + 1
COMMENT 'The rows of bets with occurred_at from since on and before until: bets_between(since = ..., until = ...). Exact unless a revision moved a row by more than a day.';
