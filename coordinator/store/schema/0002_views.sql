-- Counted rounds, with the columns of the JSON report's rows.
CREATE VIEW round_metrics AS
SELECT
  rounds.run_id AS run_id,
  engines.name AS engine,
  cases.case_id AS case_id,
  rounds.repeat AS repeat,
  cases.input_tokens AS input_tokens,
  cases.output_tokens AS output_tokens,
  cases.concurrency AS concurrency,
  result.completed AS completed,
  result.failed AS failed,
  result.total_output_tokens AS total_output_tokens,
  result.source_sha256 AS source_sha256,
  result.duration AS duration,
  result.request_throughput AS request_throughput,
  result.output_throughput AS output_throughput,
  result.total_token_throughput AS total_token_throughput,
  result.mean_ttft_ms AS mean_ttft_ms,
  result.p50_ttft_ms AS p50_ttft_ms,
  result.p95_ttft_ms AS p95_ttft_ms,
  result.p99_ttft_ms AS p99_ttft_ms,
  result.mean_tpot_ms AS mean_tpot_ms,
  result.p50_tpot_ms AS p50_tpot_ms,
  result.p95_tpot_ms AS p95_tpot_ms,
  result.p99_tpot_ms AS p99_tpot_ms,
  result.mean_itl_ms AS mean_itl_ms,
  result.p50_itl_ms AS p50_itl_ms,
  result.p95_itl_ms AS p95_itl_ms,
  result.p99_itl_ms AS p99_itl_ms,
  result.mean_e2el_ms AS mean_e2el_ms,
  result.p50_e2el_ms AS p50_e2el_ms,
  result.p95_e2el_ms AS p95_e2el_ms,
  result.p99_e2el_ms AS p99_e2el_ms
FROM round_results AS result
JOIN rounds ON rounds.id = result.round_id
JOIN engines ON engines.run_id = rounds.run_id
  AND engines.position = rounds.engine
JOIN cases ON cases.run_id = rounds.run_id
  AND cases.position = rounds.case_position
ORDER BY rounds.run_id, rounds.position;

-- Median (of an even count: mean of the middle two) and range of each metric
-- over a case's counted rounds; rounds without the metric are left out of
-- them but counted in `rounds`.
CREATE VIEW case_aggregates AS
WITH
  metric_rows (run_id, engine, case_id, position, metric_position, metric,
               value) AS (
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 0, 'duration', result.duration
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 1, 'request_throughput', result.request_throughput
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 2, 'output_throughput', result.output_throughput
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 3, 'total_token_throughput', result.total_token_throughput
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 4, 'mean_ttft_ms', result.mean_ttft_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 5, 'p50_ttft_ms', result.p50_ttft_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 6, 'p95_ttft_ms', result.p95_ttft_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 7, 'p99_ttft_ms', result.p99_ttft_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 8, 'mean_tpot_ms', result.mean_tpot_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 9, 'p50_tpot_ms', result.p50_tpot_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 10, 'p95_tpot_ms', result.p95_tpot_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 11, 'p99_tpot_ms', result.p99_tpot_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 12, 'mean_itl_ms', result.mean_itl_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 13, 'p50_itl_ms', result.p50_itl_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 14, 'p95_itl_ms', result.p95_itl_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 15, 'p99_itl_ms', result.p99_itl_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 16, 'mean_e2el_ms', result.mean_e2el_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 17, 'p50_e2el_ms', result.p50_e2el_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 18, 'p95_e2el_ms', result.p95_e2el_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
    UNION ALL
    SELECT rounds.run_id, rounds.engine, rounds.case_position,
      rounds.position, 19, 'p99_e2el_ms', result.p99_e2el_ms
    FROM round_results AS result JOIN rounds ON rounds.id = result.round_id
  ),
  ranked AS (
    SELECT *,
      row_number() OVER (
        PARTITION BY run_id, engine, case_id, metric_position
        ORDER BY value NULLS LAST) AS rank,
      count(value) OVER (
        PARTITION BY run_id, engine, case_id, metric_position) AS present
    FROM metric_rows
  ),
  grouped AS (
    SELECT run_id, engine, case_id, metric_position, metric,
      min(position) AS first_position,
      avg(CASE WHEN rank IN ((present + 1) / 2, (present + 2) / 2)
          THEN value END) AS median,
      min(value) AS min,
      max(value) AS max,
      count(*) AS rounds
    FROM ranked
    GROUP BY run_id, engine, case_id, metric_position
  )
SELECT
  grouped.run_id AS run_id,
  engines.name AS engine,
  cases.case_id AS case_id,
  grouped.metric AS metric,
  grouped.median AS median,
  grouped.min AS min,
  grouped.max AS max,
  grouped.rounds AS rounds
FROM grouped
JOIN engines ON engines.run_id = grouped.run_id
  AND engines.position = grouped.engine
JOIN cases ON cases.run_id = grouped.run_id
  AND cases.position = grouped.case_id
ORDER BY grouped.run_id, grouped.first_position, grouped.metric_position;

CREATE VIEW run_list AS
SELECT
  runs.id AS run_id,
  runs.suite_name AS suite,
  runs.model AS model,
  runs.state AS state,
  runs.verdict AS verdict,
  strftime('%Y-%m-%dT%H:%M:%SZ', runs.created_unix_ns / 1000000000,
           'unixepoch') AS created,
  (SELECT count(*) FROM rounds WHERE rounds.run_id = runs.id) AS rounds,
  (SELECT count(*) FROM rounds
   WHERE rounds.run_id = runs.id AND rounds.state = 'VALID') AS valid,
  runs.imported AS imported
FROM runs
ORDER BY runs.id;

-- Every try, also those that do not count.
CREATE VIEW attempt_list AS
SELECT
  rounds.run_id AS run_id,
  engines.name AS engine,
  cases.case_id AS case_id,
  rounds.repeat AS repeat,
  attempts.kind AS kind,
  attempts.number AS number,
  attempts.id AS attempt_id,
  attempts.verdict AS verdict,
  attempts.reason AS reason
FROM attempts
JOIN rounds ON rounds.id = attempts.round_id
JOIN engines ON engines.run_id = rounds.run_id
  AND engines.position = rounds.engine
JOIN cases ON cases.run_id = rounds.run_id
  AND cases.position = rounds.case_position
ORDER BY attempts.id;
