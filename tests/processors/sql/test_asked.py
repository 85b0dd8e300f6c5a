"""What is asked, from wherever ClickHouse's clients put it."""

from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.sql.asked import MAX_FIELDS, MAX_STATEMENT_BYTES, Asked, asked
from processors.sql.refusals import Refused


def get(**fields: str) -> Asked:
    return asked("GET", urlencode(fields).encode(), {}, b"")


def post(body: bytes, **fields: str) -> Asked:
    return asked("POST", urlencode(fields).encode(), {}, body)


def form(parts: dict[str, str], boundary: str = "xx") -> bytes:
    """Return a multipart form as clients write it."""
    pieces = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'
        for name, text in parts.items()
    ]
    return ("".join(pieces) + f"--{boundary}--\r\n").encode()


def posted_form(body: bytes, query: bytes = b"", content_type: str = "multipart/form-data; boundary=xx") -> Asked:
    return asked("POST", query, {"content-type": content_type}, body)


class TestStatement:
    def test_it_may_be_in_the_address_or_in_the_body(self) -> None:
        assert get(query="SELECT 1").statement == "SELECT 1"
        assert post("SELECT '莊'".encode()).statement == "SELECT '莊'"

    def test_it_may_begin_in_the_address_and_end_in_the_body(self) -> None:
        assert post(b" 1", query="SELECT").statement == "SELECT\n 1"

    def test_it_may_be_in_a_form(self) -> None:
        found = posted_form(form({"query": "SELECT {a:String}\r\n--x", "param_a": "b\r\n"}), b"database=p")
        assert (found.statement, found.parameters, found.database) == ("SELECT {a:String}\r\n--x", {"a": "b\r\n"}, "p")

    def test_boundary_may_be_quoted(self) -> None:
        body = form({"query": "SELECT 1"}, "a b")
        assert posted_form(body, content_type='multipart/form-data; boundary="a b"').statement == "SELECT 1"

    @given(st.text(st.characters(exclude_categories=["Cs"]), max_size=50).filter(lambda text: "--xx" not in text))
    def test_form_keeps_texts_as_they_are(self, text: str) -> None:
        found = posted_form(form({"query": "SELECT 1", "param_a": text}))
        assert found.parameters == {"a": text}

    @given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
    def test_address_keeps_texts_as_they_are(self, statement: str, text: str) -> None:
        found = get(query=f"SELECT {statement}", param_a=text)
        assert (found.statement, found.parameters) == (f"SELECT {statement}", {"a": text})

    def test_form_of_a_command_line_is_a_plain_body(self) -> None:
        """Which is what curl sends with -d."""
        headers = {"content-type": "application/x-www-form-urlencoded"}
        assert asked("POST", b"", headers, b"SELECT '%20' = 'a=b&c'").statement == "SELECT '%20' = 'a=b&c'"


class TestInsert:
    @pytest.mark.parametrize(
        ("body", "statement", "data"),
        [
            (b"INSERT INTO t FORMAT CSV\n1,2\n", "INSERT INTO t FORMAT CSV", b"1,2\n"),
            (b"INSERT INTO t FORMAT CSV\r\n1", "INSERT INTO t FORMAT CSV", b"1"),
            (b"INSERT INTO t FORMAT CSV  \n\n1", "INSERT INTO t FORMAT CSV", b"\n1"),
            (b"INSERT INTO t FORMAT CSV 1", "INSERT INTO t FORMAT CSV", b"1"),
            (b" insert into t format CSV", "insert into t format CSV", b""),
            (b"INSERT INTO t (a)\nVALUES (1), (2)", "INSERT INTO t (a)\nVALUES", b"(1), (2)"),
            (b"INSERT INTO t FORMAT Native\n\x00\xff\n", "INSERT INTO t FORMAT Native", b"\x00\xff\n"),
            (b"INSERT INTO t FORMAT TSV\nINSERT x FORMAT CSV", "INSERT INTO t FORMAT TSV", b"INSERT x FORMAT CSV"),
        ],
    )  # fmt: skip
    def test_rows_are_what_follows_the_format(self, body: bytes, statement: str, data: bytes) -> None:
        found = post(body)
        assert (found.statement, found.data) == (statement, data)

    def test_statement_may_be_in_the_address(self) -> None:
        found = post(b"\x00\xff", query="INSERT INTO t FORMAT Native")
        assert (found.statement, found.data) == ("INSERT INTO t FORMAT Native", b"\x00\xff")

    def test_rows_may_be_many(self) -> None:
        assert len(post(b"INSERT INTO t FORMAT CSV\n" + b"1\n" * MAX_STATEMENT_BYTES).data) == 2 * MAX_STATEMENT_BYTES

    def test_what_has_no_format_is_a_statement(self) -> None:
        assert post(b"INSERT INTO t SELECT 1").statement == "INSERT INTO t SELECT 1"


class TestFields:
    def test_parameters_settings_and_what_the_interface_takes_are_told_apart(self) -> None:
        found = get(
            query="SELECT 1", param_a="1", param_param_b="2", max_threads="3", session_id="s", default_format="JSON",
            query_id="q-1", database="p", wait_end_of_query="1", client_protocol_version="54460", buffer_size="9",
            enable_http_compression="0",
        )  # fmt: skip
        assert found == Asked(
            "SELECT 1",
            b"",
            {"a": "1", "param_b": "2"},
            {"max_threads": "3"},
            "p",
            "JSON",
            "q-1",
            True,
            54460,
            False,
            True,
        )

    def test_without_any_the_defaults_hold(self) -> None:
        assert post(b"SELECT 1") == Asked("SELECT 1")

    def test_headers_may_name_database_and_format(self) -> None:
        found = asked("POST", b"", {"x-clickhouse-database": "p", "x-clickhouse-format": "CSV"}, b"SELECT 1")
        assert (found.database, found.default_format) == ("p", "CSV")

    def test_only_a_post_may_change_anything(self) -> None:
        assert get(query="SELECT 1").reading_only
        assert not post(b"SELECT 1").reading_only

    @pytest.mark.parametrize("value", ["", "0", "false"])
    def test_what_is_off_is_off(self, value: str) -> None:
        found = get(query="SELECT 1", wait_end_of_query=value, compress=value, enable_http_compression=value)
        assert (found.whole, found.compressed) == (False, False)


class TestRefused:
    @pytest.mark.parametrize(
        ("fields", "code"),
        [
            ({"user": "a"}, 36),
            ({"password": "a"}, 36),
            ({"compress": "1"}, 48),
            ({"decompress": "true"}, 48),
            ({"default_format": "CSV; DROP"}, 73),
            ({"default_format": "CSV INTO OUTFILE 'x'"}, 73),
            ({"query_id": "a b"}, 36),
            ({"query_id": "a\r\nX-Injected: 1"}, 36),
            ({"query_id": "x" * 129}, 36),
            ({"client_protocol_version": "-1"}, 36),
            ({"client_protocol_version": "9" * 20}, 36),
        ],
    )
    def test_fields_that_cannot_be_followed(self, fields: dict[str, str], code: int) -> None:
        with pytest.raises(Refused) as refused:
            get(query="SELECT 1", **fields)
        assert refused.value.fault.code == code

    @pytest.mark.parametrize("query", [b"query=%ff", b"query=\xff"])
    def test_address_that_is_no_text(self, query: bytes) -> None:
        with pytest.raises(Refused, match="UTF-8"):
            asked("GET", query, {}, b"")

    def test_body_that_is_no_text(self) -> None:
        with pytest.raises(Refused, match="UTF-8"):
            post(b"SELECT '\xff'")

    def test_too_many_fields(self) -> None:
        with pytest.raises(Refused, match="fields"):
            asked("GET", b"&".join(b"a%d=" % number for number in range(MAX_FIELDS + 1)), {}, b"")
        with pytest.raises(Refused, match="fields"):
            posted_form(form({f"a{number}": "" for number in range(MAX_FIELDS + 1)}))

    def test_statement_that_is_too_long(self) -> None:
        with pytest.raises(Refused, match="at most"):
            post(b"SELECT 1" + b" " * MAX_STATEMENT_BYTES)

    @pytest.mark.parametrize("body", [b"", b"--xx", b"SELECT 1", b"--xx\r\n\r\n--yy--"])
    def test_form_that_is_none(self, body: bytes) -> None:
        with pytest.raises(Refused, match="form"):
            posted_form(body)

    def test_external_table(self) -> None:
        part = b'--xx\r\nContent-Disposition: form-data; name="t"; filename="t"\r\n\r\n1\r\n--xx--'
        with pytest.raises(Refused, match="External tables"):
            posted_form(part)
