CREATE TABLE calls (
    id INTEGER NOT NULL,
    request_hash BLOB NOT NULL,
    sample VARCHAR NOT NULL,
    node_id VARCHAR,
    role VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    provider VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    system BLOB,
    user BLOB,
    tool VARCHAR NOT NULL,
    reply BLOB,
    finish_reason VARCHAR NOT NULL,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    cost_usd FLOAT,
    seconds FLOAT NOT NULL,
    tries INTEGER NOT NULL,
    cached BOOLEAN NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX ix_calls_node_id ON calls (node_id);
CREATE INDEX ix_calls_request ON calls (substr(request_hash, 1, 4));
CREATE TABLE chain (
    seq INTEGER NOT NULL,
    records BLOB NOT NULL,
    head BLOB NOT NULL,
    PRIMARY KEY (seq)
);
CREATE TABLE events (
    seq INTEGER NOT NULL,
    type VARCHAR NOT NULL,
    node_id VARCHAR,
    at DATETIME NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (seq)
);
CREATE INDEX ix_events_type ON events (type);
CREATE TABLE facts (
    "key" VARCHAR NOT NULL,
    value JSON,
    PRIMARY KEY ("key")
);
CREATE TABLE games (
    "key" VARCHAR NOT NULL,
    seq INTEGER NOT NULL,
    white VARCHAR NOT NULL,
    black VARCHAR NOT NULL,
    result VARCHAR NOT NULL,
    generation INTEGER,
    game JSON,
    PRIMARY KEY ("key")
);
CREATE INDEX ix_games_black ON games (black);
CREATE INDEX ix_games_generation ON games (generation);
CREATE INDEX ix_games_seq ON games (seq);
CREATE INDEX ix_games_white ON games (white);
CREATE TABLE nodes (
    id VARCHAR NOT NULL,
    step INTEGER NOT NULL,
    operator VARCHAR NOT NULL,
    generation INTEGER,
    island INTEGER,
    slot INTEGER NOT NULL,
    metric_value FLOAT,
    fitness FLOAT,
    metric_source VARCHAR,
    claimed_metric FLOAT,
    is_buggy BOOLEAN NOT NULL,
    is_valid BOOLEAN NOT NULL,
    failure VARCHAR,
    exec_time FLOAT NOT NULL,
    ctime FLOAT NOT NULL,
    writer VARCHAR NOT NULL,
    code_hash VARCHAR NOT NULL,
    code VARCHAR NOT NULL,
    term_out VARCHAR NOT NULL,
    parent_ids JSON,
    rest JSON,
    PRIMARY KEY (id)
);
CREATE INDEX ix_nodes_code ON nodes (substr(code_hash, 1, 8));
CREATE INDEX ix_nodes_fitness ON nodes (fitness);
CREATE INDEX ix_nodes_generation ON nodes (generation);
CREATE UNIQUE INDEX ix_nodes_step ON nodes (step);
CREATE TABLE stages (
    node_id VARCHAR NOT NULL,
    stage VARCHAR NOT NULL,
    payload VARCHAR NOT NULL,
    PRIMARY KEY (node_id, stage)
);
CREATE TABLE tasks (
    node_id VARCHAR NOT NULL,
    round INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    task BLOB,
    why BLOB,
    PRIMARY KEY (node_id)
);
CREATE INDEX ix_tasks_round ON tasks (round);
CREATE TABLE texts (
    hash VARCHAR NOT NULL,
    body BLOB,
    PRIMARY KEY (hash)
);
CREATE TABLE tickets (
    node_id VARCHAR NOT NULL,
    token_hash VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    expires_at FLOAT NOT NULL,
    told VARCHAR NOT NULL,
    checks INTEGER NOT NULL,
    PRIMARY KEY (node_id)
);
