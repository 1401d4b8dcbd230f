"""Views for people who ask a run's store in SQL: any `sqlite3` reads them, no function of ours is needed."""

from __future__ import annotations

import sqlite3

_CANDIDATES = """
CREATE VIEW IF NOT EXISTS candidates AS
SELECT
    nodes.id AS id,
    texts.body AS code,
    nodes.code_hash AS code_hash,
    nodes.metric_value AS score,
    nodes.generation AS generation,
    json_extract(nodes.parent_ids, '$[0]') AS parent_id,
    nodes.writer AS provider_id,
    datetime(nodes.ctime, 'unixepoch') AS created_at,
    nodes.step AS step,
    nodes.operator AS operator,
    nodes.is_valid AND NOT nodes.is_buggy AND nodes.fitness IS NOT NULL AS is_scored,
    nodes.metric_source AS metric_source,
    nodes.failure AS failure,
    coalesce(json_extract(nodes.rest, '$.message'), '') AS message,
    json_extract(nodes.rest, '$.duplicate_of') AS duplicate_of,
    coalesce(json_extract(nodes.rest, '$.name'), '') AS name,
    coalesce(json_extract(nodes.rest, '$.plan'), '') AS plan,
    coalesce(json_extract(nodes.rest, '$.interval[0]'), CASE WHEN nodes.id = (
        SELECT json_extract(value, '$.node_id') FROM facts WHERE key = 'final'
    ) THEN (SELECT json_extract(value, '$.detail.validation_interval[0]') FROM facts WHERE key = 'final') END) AS low,
    coalesce(json_extract(nodes.rest, '$.interval[1]'), CASE WHEN nodes.id = (
        SELECT json_extract(value, '$.node_id') FROM facts WHERE key = 'final'
    ) THEN (SELECT json_extract(value, '$.detail.validation_interval[1]') FROM facts WHERE key = 'final') END) AS high,
    json_extract(nodes.rest, '$.prompt_tokens') AS prompt_tokens,
    json_extract(nodes.rest, '$.completion_tokens') AS completion_tokens,
    json_extract(nodes.rest, '$.cost_usd') AS cost_usd,
    coalesce(json_extract(nodes.rest, '$.metadata'), '{}') AS metadata
FROM nodes LEFT JOIN texts ON texts.hash = nodes.code
"""
"""An interval that was estimated at the end stands with the winner in the fact `final`; SQLite reads that once."""

_ENGINES = """
CREATE VIEW IF NOT EXISTS engines AS
SELECT id, name, generation, parent_id, score AS elo, low, high, is_scored, failure, message, operator, step, code
FROM candidates
WHERE EXISTS (SELECT 1 FROM facts WHERE facts.key = 'family' AND facts.value = '"arena"')
"""

_GENERATIONS = """
CREATE VIEW IF NOT EXISTS generations AS
SELECT
    counted.generation AS generation,
    counted.candidates AS candidates,
    counted.scored AS scored,
    best.score AS best_score,
    counted.avg_score AS avg_score,
    best.id AS best_id,
    json_extract(ended.body, '$.promoted[0]') AS champion,
    json_extract(ended.body, '$.promoted[1]') AS runner_up,
    ended.at AS finished_at
FROM (
    SELECT generation, count(*) AS candidates, sum(is_scored) AS scored,
           avg(CASE WHEN is_scored THEN score END) AS avg_score
    FROM candidates WHERE generation IS NOT NULL GROUP BY generation
) AS counted
LEFT JOIN (
    SELECT nodes.generation AS generation, nodes.id AS id, nodes.metric_value AS score, max(nodes.fitness)
    FROM nodes WHERE nodes.is_valid AND NOT nodes.is_buggy GROUP BY nodes.generation
) AS best ON best.generation = counted.generation AND best.score IS NOT NULL
LEFT JOIN (
    SELECT json_extract(body, '$.generation') AS generation, body, at, max(seq)
    FROM events WHERE type = 'generation.finished' GROUP BY 1
) AS ended ON ended.generation = counted.generation
"""
"""SQLite gives the other columns of a `max` from the row that holds the maximum: of a generation that was judged again,
the last verdict."""
CANDIDATES = _CANDIDATES.strip().replace("IF NOT EXISTS ", "", 1)
"""The view `candidates` as SQLite tells it."""
CANDIDATES_BEFORE_6 = "8ad1ef9ec58e48f6ee77a98d7aa8cb489e5693123118c615ef9a65dc0c5c8666"
"""SHA-256 of the view `candidates` in a store of schema 1 to 5: without intervals that were estimated at the end."""
OLDER_VIEWS = {CANDIDATES_BEFORE_6: 6, "733ae598bd4643688799378cab94f01834ee59240cb4b9e4a4b05492b8d2286d": 9}
"""SHA-256 of a view of ours → the schema that has another in its place. `generations` had a row for each verdict."""


def create_views(connection: sqlite3.Connection) -> None:
    """Make the views; the tables must be there."""
    for statement in (_CANDIDATES, _ENGINES, _GENERATIONS):
        connection.execute(statement)
