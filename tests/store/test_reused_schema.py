"""The schema that tests share is like new for each of them."""

import psycopg
import pytest

from foreword.store import open_store

pytestmark = pytest.mark.xdist_group("postgres")


def test_a_shared_schema_is_emptied_and_numbers_start_again(reused_schema, edition):
    identifiers = []
    for _ in range(2):
        with reused_schema.url() as url:
            store = open_store(url)
            assert (store.editions("chat"), store.teams()) == ([], [])
            store.publish("chat", edition(1), 0)
            store.close()
            with psycopg.connect(url) as connection:
                identifiers.append(connection.execute("SELECT id FROM foreword_texts ORDER BY id").fetchall())
    assert identifiers[0] == identifiers[1] != []


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE foreword_texts ADD COLUMN other integer",
        "ALTER TABLE foreword_texts DISABLE ROW LEVEL SECURITY",
        "CREATE INDEX other ON foreword_texts (id)",
        "DROP TABLE foreword_schema",
        "GRANT SELECT ON foreword_texts TO PUBLIC",
        "CREATE TABLE other ()",
    ],
)
def test_a_schema_in_which_a_test_changed_more_than_rows_is_replaced(reused_schema, statement):
    with reused_schema.url() as url, psycopg.connect(url) as connection:
        connection.execute(statement)
    with reused_schema.url() as next_url:
        assert next_url != url
