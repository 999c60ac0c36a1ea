-- Facts of runs, and the figures of their counted rounds.
--
-- Times named *_unix_ns are wall clock, 0 meaning "not yet". Other *_ns of a
-- share or request are CLOCK_MONOTONIC of its agent, 0 meaning "did not
-- happen". Seeds are unsigned 64-bit, in decimal text. body_hash and counters
-- keep the bits of an unsigned 64-bit number: printf('%016x', body_hash).

PRAGMA application_id = 1111903820;  -- 'BFNL'

CREATE TABLE coordinator (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  epoch INTEGER NOT NULL
) STRICT;
INSERT INTO coordinator (id, epoch) VALUES (1, 0);

CREATE TABLE runs (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  suite_name TEXT NOT NULL,
  suite_text TEXT NOT NULL,
  seed TEXT NOT NULL,
  model TEXT NOT NULL,
  precision TEXT NOT NULL,
  hardware TEXT NOT NULL,
  context_window INTEGER NOT NULL,
  max_running_requests INTEGER NOT NULL,
  tensor_parallel_size INTEGER NOT NULL,
  repeats INTEGER NOT NULL,
  state TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('', 'PASS', 'FAIL')),
  created_unix_ns INTEGER NOT NULL,
  finished_unix_ns INTEGER NOT NULL,
  imported INTEGER NOT NULL CHECK (imported IN (0, 1)),
  statistics TEXT NOT NULL,
  scope TEXT NOT NULL,
  imported_sha256 TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX runs_by_import ON runs (imported_sha256)
  WHERE imported_sha256 != '';

CREATE TABLE run_reasons (
  run_id INTEGER NOT NULL REFERENCES runs (id),
  position INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (run_id, position)
) STRICT;

CREATE TABLE engines (
  run_id INTEGER NOT NULL REFERENCES runs (id),
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  base_url TEXT NOT NULL,
  model TEXT NOT NULL,
  insecure_skip_verify INTEGER NOT NULL CHECK (insecure_skip_verify IN (0, 1)),
  PRIMARY KEY (run_id, position),
  UNIQUE (run_id, name)
) STRICT;

CREATE TABLE cases (
  run_id INTEGER NOT NULL REFERENCES runs (id),
  position INTEGER NOT NULL,
  case_id TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  concurrency INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  warmup_requests INTEGER NOT NULL,
  allow_wrong_length INTEGER NOT NULL CHECK (allow_wrong_length IN (0, 1)),
  PRIMARY KEY (run_id, position),
  UNIQUE (run_id, case_id)
) STRICT;

CREATE TABLE rounds (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES runs (id),
  position INTEGER NOT NULL,
  engine INTEGER NOT NULL,
  case_position INTEGER NOT NULL,
  repeat INTEGER NOT NULL,
  request_seed TEXT NOT NULL,
  warmup_seed TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('PENDING', 'VALID', 'GIVEN_UP')),
  UNIQUE (run_id, position),
  UNIQUE (run_id, engine, case_position, repeat),
  FOREIGN KEY (run_id, engine) REFERENCES engines (run_id, position),
  FOREIGN KEY (run_id, case_position) REFERENCES cases (run_id, position)
) STRICT;

CREATE TABLE attempts (
  id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  round_id INTEGER NOT NULL REFERENCES rounds (id),
  kind TEXT NOT NULL CHECK (kind IN ('COUNTED', 'WARMUP')),
  number INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  verdict TEXT NOT NULL
    CHECK (verdict IN ('OPEN', 'VALID', 'INVALID', 'ABORTED')),
  reason TEXT NOT NULL,
  started_unix_ns INTEGER NOT NULL,
  finished_unix_ns INTEGER NOT NULL,
  start_skew_ns INTEGER NOT NULL,
  UNIQUE (round_id, kind, number)
) STRICT;
CREATE INDEX open_attempts ON attempts (id) WHERE verdict = 'OPEN';

-- last_seq: all batches up to it are stored.
CREATE TABLE shares (
  attempt_id INTEGER NOT NULL REFERENCES attempts (id),
  agent_id TEXT NOT NULL,
  instance_id TEXT NOT NULL,
  hostname TEXT NOT NULL,
  build_id TEXT NOT NULL,
  concurrency INTEGER NOT NULL,
  clock_offset_ns INTEGER NOT NULL,
  clock_bound_ns INTEGER NOT NULL,
  t0_ns INTEGER NOT NULL,
  first_sent_ns INTEGER NOT NULL,
  manifest_records INTEGER NOT NULL,
  manifest_last_seq INTEGER NOT NULL,
  manifest_completed INTEGER NOT NULL,
  manifest_failed INTEGER NOT NULL,
  manifest_cancelled INTEGER NOT NULL,
  loop_cpu_ns INTEGER NOT NULL,
  loop_wall_ns INTEGER NOT NULL,
  loop_longest_turn_ns INTEGER NOT NULL,
  loop_lag_p99_ns INTEGER NOT NULL,
  run_queue_delay_ns INTEGER NOT NULL,
  slot_turnaround_p50_ns INTEGER NOT NULL,
  slot_turnaround_p99_ns INTEGER NOT NULL,
  longest_stall_ns INTEGER NOT NULL,
  last_seq INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (attempt_id, agent_id, instance_id)
) STRICT;

-- flags: bit n is benchfleet.v1.RequestFlag n.
CREATE TABLE requests (
  attempt_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  instance_id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  flags INTEGER NOT NULL,
  http_status INTEGER NOT NULL,
  error TEXT NOT NULL,
  scheduled_ns INTEGER NOT NULL,
  sent_ns INTEGER NOT NULL,
  first_byte_ns INTEGER NOT NULL,
  first_choice_ns INTEGER NOT NULL,
  last_byte_ns INTEGER NOT NULL,
  done_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  content_chunks INTEGER NOT NULL,
  coalesced INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  token_count_source TEXT NOT NULL,
  usage_prompt_tokens INTEGER,  -- NULL: the server did not tell
  dns_ns INTEGER NOT NULL,
  connect_ns INTEGER NOT NULL,
  tls_ns INTEGER NOT NULL,
  request_bytes INTEGER NOT NULL,
  response_bytes INTEGER NOT NULL,
  body_hash INTEGER NOT NULL,
  slot_turnaround_ns INTEGER NOT NULL,
  PRIMARY KEY (attempt_id, ordinal),
  FOREIGN KEY (attempt_id, agent_id, instance_id)
    REFERENCES shares (attempt_id, agent_id, instance_id)
) STRICT;

-- Content chunks of a request, as LEB128 varints: deltas_ns from sent_ns or
-- the chunk before; chunk_tokens only where the server told them.
CREATE TABLE request_tokens (
  attempt_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  deltas_ns BLOB NOT NULL,
  chunk_tokens BLOB NOT NULL,
  PRIMARY KEY (attempt_id, ordinal),
  FOREIGN KEY (attempt_id, ordinal) REFERENCES requests (attempt_id, ordinal)
) STRICT;

-- A NULL value or threshold is "not a number".
CREATE TABLE rules (
  attempt_id INTEGER NOT NULL REFERENCES attempts (id),
  position INTEGER NOT NULL,
  rule TEXT NOT NULL,
  agent_id TEXT NOT NULL,  -- empty: of the attempt
  value REAL,
  threshold REAL,
  ok INTEGER NOT NULL CHECK (ok IN (0, 1)),
  PRIMARY KEY (attempt_id, position)
) STRICT;

-- Figures of counted rounds. A NULL metric had no sample.
CREATE TABLE round_results (
  round_id INTEGER NOT NULL PRIMARY KEY REFERENCES rounds (id),
  attempt_id INTEGER REFERENCES attempts (id),  -- NULL: imported
  completed INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  total_input_tokens INTEGER NOT NULL,
  total_output_tokens INTEGER NOT NULL,
  source_sha256 TEXT NOT NULL,
  duration REAL,
  request_throughput REAL,
  output_throughput REAL,
  total_token_throughput REAL,
  mean_ttft_ms REAL,
  p50_ttft_ms REAL,
  p95_ttft_ms REAL,
  p99_ttft_ms REAL,
  mean_tpot_ms REAL,
  p50_tpot_ms REAL,
  p95_tpot_ms REAL,
  p99_tpot_ms REAL,
  mean_itl_ms REAL,
  p50_itl_ms REAL,
  p95_itl_ms REAL,
  p99_itl_ms REAL,
  mean_e2el_ms REAL,
  p50_e2el_ms REAL,
  p95_e2el_ms REAL,
  p99_e2el_ms REAL,
  wrong_length INTEGER NOT NULL,
  wrong_input_length INTEGER NOT NULL,
  usage_inconsistent INTEGER NOT NULL,
  new_connections INTEGER NOT NULL,
  coalesced INTEGER NOT NULL,
  request_set_sha256 TEXT NOT NULL,
  duration_bound_s REAL,
  concurrency_utilisation REAL,
  tokens_per_chunk REAL,
  agents INTEGER NOT NULL
) STRICT;

CREATE TABLE agents (
  agent_id TEXT NOT NULL PRIMARY KEY,
  instance_id TEXT NOT NULL,
  build_id TEXT NOT NULL,
  hostname TEXT NOT NULL,
  kernel TEXT NOT NULL,
  cpu_model TEXT NOT NULL,
  cpus INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  max_open_files INTEGER NOT NULL,
  max_concurrency INTEGER NOT NULL,
  weight INTEGER NOT NULL,
  last_seen_unix_ns INTEGER NOT NULL
) STRICT;
