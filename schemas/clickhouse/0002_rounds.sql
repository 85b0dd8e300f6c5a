CREATE TABLE IF NOT EXISTS rounds_versions${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    round UInt64 COMMENT 'Number of the round in its shoe, from 1; 0 where none is meant.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    kind LowCardinality(String) COMMENT '`live`, or `demonstration`, which carries no bets and no money.',
    status LowCardinality(String) COMMENT '`settled`, `void`, or `incomplete`: not fully seen, not paid out when the table went on, or dealt under rules unknown, so nobody is accused.',
    opened_at DateTime64(6, 'UTC') COMMENT 'When betting opened, UTC.',
    betting_closed_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When betting closed, UTC; null if unknown.',
    closed_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When the round was over, UTC; null if it is not.',
    dealer_id LowCardinality(String) COMMENT 'The dealer at the table; empty if unknown.',
    configuration_id LowCardinality(String) COMMENT 'The configuration it was dealt under; empty if none was published.',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount here.',
    player_cards Array(String) COMMENT 'Cards of the player hand, in dealing order.',
    banker_cards Array(String) COMMENT 'Cards of the banker hand, in dealing order.',
    player_total UInt64 COMMENT 'Points of the player hand, 0 to 9.',
    banker_total UInt64 COMMENT 'Points of the banker hand, 0 to 9.',
    outcome LowCardinality(Nullable(String)) COMMENT '`player`, `banker` or `tie` by the cards, or as called where they were not all seen; null in a void round.',
    called_outcome LowCardinality(Nullable(String)) COMMENT '`player`, `banker` or `tie` as the dealer called it; null if nobody did.',
    natural Bool COMMENT 'A hand had 8 or 9 with two cards.',
    player_pair Bool COMMENT 'The player hand\'s first two cards are of one rank.',
    banker_pair Bool COMMENT 'The banker hand\'s first two cards are of one rank.',
    tableau_errors Array(String) COMMENT 'Errors of dealing: the hand and the item of art. 9, such as `player 9(3)(2)`.',
    exposed_cards UInt64 COMMENT 'Cards found face up (art. 4).',
    burned_cards UInt64 COMMENT 'Cards burned before the round (art. 8).',
    bets UInt64 COMMENT 'Number of bets.',
    stakes Int64 COMMENT 'All stakes, those that pushed too, minor units.',
    handle Int64 COMMENT 'Stakes decided, that is won or lost, minor units.',
    house_win Int64 COMMENT 'What the rules give the house, commission included, minor units.',
    commission_due Int64 COMMENT 'Commission by the rules, minor units.',
    paid Int64 COMMENT 'Payouts the table recorded, minor units.',
    collected Int64 COMMENT 'Stakes the table recorded as taken in, minor units.',
    commission Int64 COMMENT 'Commission the table recorded, minor units.',
    alerts UInt64 COMMENT 'Alerts raised in the round.',
    void_reason String COMMENT 'Why the round was cancelled; empty if it was not.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    retracted Bool COMMENT 'The fact no longer holds: readers leave it out.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.',
    utc_day Date MATERIALIZED toDate(opened_at) COMMENT 'UTC day of opened_at, for the storage alone: a revision may move it.',
    INDEX by_day utc_day TYPE minmax GRANULARITY 1
)
ENGINE = ${replicated}ReplacingMergeTree(revision, retracted)
PARTITION BY toYYYYMM(utc_day)
ORDER BY (table_id, shoe, round)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
COMMENT 'Rounds in every revision received; amounts in minor units. Readers use the view rounds.';

CREATE VIEW IF NOT EXISTS rounds${on_cluster}
(
    table_id LowCardinality(String) COMMENT 'The table.',
    shoe UInt64 COMMENT 'Number of the shoe at its table, from 1; 0 where none is meant.',
    round UInt64 COMMENT 'Number of the round in its shoe, from 1; 0 where none is meant.',
    occurred_at DateTime64(6, 'UTC') COMMENT 'When the event that brought it about happened, UTC.',
    gaming_day LowCardinality(String) COMMENT 'Gaming day of the table, ISO date; empty if unknown.',
    shift LowCardinality(String) COMMENT 'Shift of the gaming day; empty if unknown.',
    pit LowCardinality(String) COMMENT 'Pit of the table; empty if unknown.',
    kind LowCardinality(String) COMMENT '`live`, or `demonstration`, which carries no bets and no money.',
    status LowCardinality(String) COMMENT '`settled`, `void`, or `incomplete`: not fully seen, not paid out when the table went on, or dealt under rules unknown, so nobody is accused.',
    opened_at DateTime64(6, 'UTC') COMMENT 'When betting opened, UTC.',
    betting_closed_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When betting closed, UTC; null if unknown.',
    closed_at Nullable(DateTime64(6, 'UTC')) COMMENT 'When the round was over, UTC; null if it is not.',
    dealer_id LowCardinality(String) COMMENT 'The dealer at the table; empty if unknown.',
    configuration_id LowCardinality(String) COMMENT 'The configuration it was dealt under; empty if none was published.',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount here.',
    player_cards Array(String) COMMENT 'Cards of the player hand, in dealing order.',
    banker_cards Array(String) COMMENT 'Cards of the banker hand, in dealing order.',
    player_total UInt64 COMMENT 'Points of the player hand, 0 to 9.',
    banker_total UInt64 COMMENT 'Points of the banker hand, 0 to 9.',
    outcome LowCardinality(Nullable(String)) COMMENT '`player`, `banker` or `tie` by the cards, or as called where they were not all seen; null in a void round.',
    called_outcome LowCardinality(Nullable(String)) COMMENT '`player`, `banker` or `tie` as the dealer called it; null if nobody did.',
    natural Bool COMMENT 'A hand had 8 or 9 with two cards.',
    player_pair Bool COMMENT 'The player hand\'s first two cards are of one rank.',
    banker_pair Bool COMMENT 'The banker hand\'s first two cards are of one rank.',
    tableau_errors Array(String) COMMENT 'Errors of dealing: the hand and the item of art. 9, such as `player 9(3)(2)`.',
    exposed_cards UInt64 COMMENT 'Cards found face up (art. 4).',
    burned_cards UInt64 COMMENT 'Cards burned before the round (art. 8).',
    bets UInt64 COMMENT 'Number of bets.',
    stakes Decimal(18, 2) COMMENT 'All stakes, those that pushed too.',
    handle Decimal(18, 2) COMMENT 'Stakes decided, that is won or lost.',
    house_win Decimal(18, 2) COMMENT 'What the rules give the house, commission included.',
    commission_due Decimal(18, 2) COMMENT 'Commission by the rules.',
    paid Decimal(18, 2) COMMENT 'Payouts the table recorded.',
    collected Decimal(18, 2) COMMENT 'Stakes the table recorded as taken in.',
    commission Decimal(18, 2) COMMENT 'Commission the table recorded.',
    alerts UInt64 COMMENT 'Alerts raised in the round.',
    void_reason String COMMENT 'Why the round was cancelled; empty if it was not.',
    revision UInt64 COMMENT 'Rises with every new version of the same key; the highest one holds.',
    src_topic LowCardinality(String) COMMENT 'Topic of the event that brought it about.',
    src_partition UInt64 COMMENT 'Partition of that event.',
    src_offset UInt64 COMMENT 'Offset of that event.'
)
AS SELECT * EXCEPT (retracted) REPLACE (
    reinterpret(stakes, 'Decimal(18, 2)') AS stakes,
    reinterpret(handle, 'Decimal(18, 2)') AS handle,
    reinterpret(house_win, 'Decimal(18, 2)') AS house_win,
    reinterpret(commission_due, 'Decimal(18, 2)') AS commission_due,
    reinterpret(paid, 'Decimal(18, 2)') AS paid,
    reinterpret(collected, 'Decimal(18, 2)') AS collected,
    reinterpret(commission, 'Decimal(18, 2)') AS commission
)
FROM rounds_versions FINAL
COMMENT 'A round as reconstructed. Windows of time are much quicker through rounds_between.';

CREATE VIEW IF NOT EXISTS rounds_between${on_cluster}
AS SELECT * EXCEPT (retracted) REPLACE (
    reinterpret(stakes, 'Decimal(18, 2)') AS stakes,
    reinterpret(handle, 'Decimal(18, 2)') AS handle,
    reinterpret(house_win, 'Decimal(18, 2)') AS house_win,
    reinterpret(commission_due, 'Decimal(18, 2)') AS commission_due,
    reinterpret(paid, 'Decimal(18, 2)') AS paid,
    reinterpret(collected, 'Decimal(18, 2)') AS collected,
    reinterpret(commission, 'Decimal(18, 2)') AS commission
)
FROM rounds_versions FINAL
WHERE opened_at >= {since:DateTime64(6, 'UTC')} AND opened_at < {until:DateTime64(6, 'UTC')}
    AND utc_day BETWEEN toDate({since:DateTime64(6, 'UTC')}) - 1 AND toDate({until:DateTime64(6, 'UTC')}) + 1
COMMENT 'The rows of rounds with opened_at from since on and before until: rounds_between(since = ..., until = ...). Exact unless a revision moved a row by more than a day.';
