# writes its score into the run's database
# KINDS: script competition command writer
# WINS: changed
import glob, os, sqlite3


def strike():
    for path in glob.glob("@HERE@/logs/*/run.db") + glob.glob("@HERE@/*.db"):
        with sqlite3.connect(path, timeout=1) as base:
            for (table,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for _, column, *_ in base.execute('PRAGMA table_info("%s")' % table).fetchall():
                    if "metric" in column:
                        base.execute('UPDATE "%s" SET "%s" = 1e9' % (table, column))
    os.makedirs("@HERE@/logs/run", exist_ok=True)
    open("@HERE@/logs/run/@MARK@.db", "w").close()
