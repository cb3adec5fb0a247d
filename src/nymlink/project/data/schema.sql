-- A project file of nymlink. Times are milliseconds since 1970 in UTC; lists and objects are JSON.

CREATE TABLE property (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    reading TEXT NOT NULL,
    header TEXT NOT NULL,
    preamble TEXT NOT NULL,
    -- The last entry of the log before: what was decided by then was carried over to this file.
    last_entry INTEGER NOT NULL,
    imported_at INTEGER NOT NULL,
    imported_by TEXT NOT NULL
);

-- Terms that are equal in text, language and type are one.
CREATE TABLE term (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL,
    folded TEXT NOT NULL,
    language TEXT NOT NULL,
    type TEXT NOT NULL,
    frequency INTEGER NOT NULL DEFAULT 0,
    rows INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'linked', 'failed')),
    link TEXT,
    confidence REAL,
    margin REAL,
    nil INTEGER,
    -- The term that this one is another form of, and is decided with ("seizures", "Seizure").
    -- Its own number: a reviewer chose to decide it by itself.
    form_of INTEGER REFERENCES term,
    UNIQUE (text, language, type)
);
CREATE INDEX term_state ON term (state);
CREATE INDEX term_form ON term (form_of);

CREATE TABLE row (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES file,
    number INTEGER NOT NULL,
    term INTEGER REFERENCES term,
    code TEXT NOT NULL,
    frequency INTEGER NOT NULL,
    cells TEXT NOT NULL,
    -- Place of a cell with a type or a number format -> both.
    types TEXT NOT NULL DEFAULT '{}',
    UNIQUE (file, number)
);
CREATE INDEX row_term ON row (term);

-- Nothing is changed or deleted here: what is undone is followed by an entry that undoes it.
CREATE TABLE decision (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    term INTEGER NOT NULL REFERENCES term,
    reviewer TEXT NOT NULL,
    at INTEGER NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('review', 'accept', 'import', 'release', 'form', 'undo')),
    verdict TEXT CHECK (verdict IN ('concept', 'nil', 'flag', 'open')),
    targets TEXT NOT NULL DEFAULT '[]',
    essence TEXT NOT NULL DEFAULT '',
    comment TEXT NOT NULL DEFAULT '',
    batch INTEGER,
    undoes INTEGER REFERENCES decision,
    details TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX decision_term ON decision (term, reviewer);
CREATE INDEX decision_reviewer ON decision (reviewer);
CREATE UNIQUE INDEX decision_undone ON decision (undoes) WHERE undoes IS NOT NULL;

-- The last decision of each reviewer on each term that is not undone.
CREATE TABLE current (
    term INTEGER NOT NULL REFERENCES term,
    reviewer TEXT NOT NULL,
    decision INTEGER NOT NULL REFERENCES decision,
    PRIMARY KEY (term, reviewer)
) WITHOUT ROWID;

CREATE TABLE assignment (
    term INTEGER NOT NULL REFERENCES term,
    reviewer TEXT NOT NULL,
    PRIMARY KEY (term, reviewer)
) WITHOUT ROWID;

-- What another release of the vocabulary changed for terms that were decided.
CREATE TABLE release_change (
    term INTEGER NOT NULL REFERENCES term,
    kind TEXT NOT NULL CHECK (kind IN ('gone', 'obsolete', 'replaced', 'renamed', 'better')),
    concept_id TEXT NOT NULL,
    concept_name TEXT NOT NULL,
    now TEXT NOT NULL,
    PRIMARY KEY (term, kind, concept_id)
) WITHOUT ROWID;

-- The reviewer who decides the terms on which others disagree.
CREATE TABLE adjudicator (reviewer TEXT PRIMARY KEY) WITHOUT ROWID;

-- Of each term the decision that counts: that of the adjudicator, else the last one of any reviewer that says
-- something. If a project has an adjudicator, a term on which others disagree has none before.
CREATE VIEW settled AS
    SELECT current.term AS term,
        coalesce(
            max(CASE WHEN current.reviewer IN (SELECT reviewer FROM adjudicator) THEN decision.id END),
            max(decision.id)
        ) AS decision
    FROM current JOIN decision ON decision.id = current.decision
    WHERE decision.verdict != 'open'
    GROUP BY current.term
    HAVING count(DISTINCT decision.essence) = 1
        OR NOT EXISTS (SELECT 1 FROM adjudicator)
        OR max(current.reviewer IN (SELECT reviewer FROM adjudicator));

-- Terms on which reviewers disagree, and the adjudicator has not decided.
CREATE VIEW disagreement AS
    SELECT current.term AS term
    FROM current JOIN decision ON decision.id = current.decision
    WHERE decision.verdict != 'open'
    GROUP BY current.term
    HAVING count(DISTINCT decision.essence) > 1
        AND NOT max(current.reviewer IN (SELECT reviewer FROM adjudicator));
