"""Engines that hold tables: DuckDB in this process, and a PostgreSQL and a Spark of their own."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

ibis = pytest.importorskip("ibis")

Load = Callable[[pd.DataFrame], Any]

_NUMBER = count()


def _rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows as Python's values, None where one is missing."""
    columns = []
    for name in frame:
        plain = frame[name].astype(object)
        columns.append(
            [None if pd.isna(v) else getattr(v, "to_pydatetime", lambda v=v: v)() for v in plain]
        )
    return list(zip(*columns, strict=True))


def _types(frame: pd.DataFrame, names: dict[str, str]) -> list[str]:
    return [names[dtype.kind] if dtype.kind in names else names["O"] for dtype in frame.dtypes]


def _quote(name: str, mark: str) -> str:
    return mark + name.replace(mark, mark * 2) + mark


def _duckdb() -> Iterator[Load]:
    import duckdb
    import pyarrow

    raw = duckdb.connect()
    connection = ibis.duckdb.from_connection(raw)

    def load(frame: pd.DataFrame) -> Any:
        name = f"rows{next(_NUMBER)}"
        raw.register(name, pyarrow.Table.from_pandas(frame, preserve_index=False))
        return connection.table(name)

    yield load
    raw.close()


def _binary(name: str) -> str | None:
    """Return a program of PostgreSQL, which Debian keeps out of the path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


@contextlib.contextmanager
def running_postgres() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a cluster of its own, and yield the folder of its socket, and its process."""
    initdb, server, ready = (_binary(n) for n in ("initdb", "postgres", "pg_isready"))
    if initdb is None or server is None or ready is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg")
    folder = tempfile.mkdtemp(prefix="certree-postgres-")
    who: dict[str, Any] = {}
    if os.getuid() == 0:
        # PostgreSQL does not run as root.
        user = pwd.getpwnam("nobody")
        os.chown(folder, user.pw_uid, user.pw_gid)
        who = {"user": user.pw_uid, "group": user.pw_gid}
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = None
    try:
        data = f"{folder}/data"
        made = [initdb, "-D", data, "-A", "trust", "-U", "certree", "--no-sync", "-E", "UTF8"]
        subprocess.run(made, check=True, cwd=folder, **quiet, **who)
        started = [server, "-D", data, "-k", folder, "-c", "listen_addresses=", "-F"]
        process = subprocess.Popen(started, cwd=folder, **quiet, **who)
        for _ in range(300):
            if subprocess.run([ready, "-h", folder], check=False, **quiet).returncode == 0:
                break
            time.sleep(0.1)
        yield folder, process
    finally:
        if process is not None:
            process.terminate()
            process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _postgres() -> Iterator[Load]:
    with running_postgres() as (folder, _):
        connection = ibis.postgres.connect(host=folder, user="certree", database="postgres")

        def load(frame: pd.DataFrame) -> Any:
            return load_postgres(connection, frame)

        yield load
        connection.disconnect()


def load_postgres(connection: Any, frame: pd.DataFrame) -> Any:
    """Return a new table with the rows of a frame."""
    kinds = {"f": "double precision", "i": "bigint", "b": "boolean", "M": "timestamp", "O": "text"}
    name = f"rows{next(_NUMBER)}"
    columns = [
        f"{_quote(column, chr(34))} {kind}"
        for column, kind in zip(frame, _types(frame, kinds), strict=True)
    ]
    places = ", ".join(["%s"] * frame.shape[1])
    with connection.con.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        cursor.executemany(f"INSERT INTO {name} VALUES ({places})", _rows(frame))
    connection.con.commit()
    return connection.table(name)


def _pyspark() -> Iterator[Load]:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("there is no Java for Spark")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    connection = ibis.pyspark.connect(session)
    kinds = {"f": "double", "i": "bigint", "b": "boolean", "M": "timestamp_ntz", "O": "string"}

    def load(frame: pd.DataFrame) -> Any:
        name = f"rows{next(_NUMBER)}"
        schema = ", ".join(
            f"{_quote(column, '`')} {kind}"
            for column, kind in zip(frame, _types(frame, kinds), strict=True)
        )
        session.createDataFrame(_rows(frame), schema).createOrReplaceTempView(name)
        return connection.table(name)

    yield load
    session.stop()


_ENGINES = {"duckdb": _duckdb, "postgres": _postgres, "pyspark": _pyspark}


@pytest.fixture(scope="session", params=[*_ENGINES])
def load(request: pytest.FixtureRequest) -> Iterator[Load]:
    """Yield what puts a frame into an engine, for one engine after the other."""
    yield from _ENGINES[request.param]()


@pytest.fixture
def doomed() -> Iterator[tuple[Load, Callable[[], None]]]:
    """Yield what puts a frame into a PostgreSQL, and what kills that."""
    with running_postgres() as (folder, process):
        connection = ibis.postgres.connect(host=folder, user="certree", database="postgres")

        def kill() -> None:
            process.kill()
            process.wait(30)

        yield (lambda frame: load_postgres(connection, frame)), kill
