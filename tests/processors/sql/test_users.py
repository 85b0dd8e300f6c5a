"""Who asks is known by a name and a password in the headers, and by nothing else."""

import base64
import hashlib

import pytest

from processors.sql.refusals import AUTHENTICATION_FAILED, REQUIRED_PASSWORD, Fault, Refused
from processors.sql.users import User, Users, mint_password

PASSWORD = "莊:閒 ok"
ANA = User("ana", hashlib.sha256(PASSWORD.encode()).hexdigest())
USERS = Users([ANA, User("bob", hashlib.sha256(b"other").hexdigest(), writes=True)])


def basic(text: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(text.encode()).decode()}


@pytest.mark.parametrize(
    "headers",
    [
        basic(f"ana:{PASSWORD}"),
        {"authorization": basic(f"ana:{PASSWORD}")["authorization"].replace("Basic", "basic")},
        {"x-clickhouse-user": "ana", "x-clickhouse-key": PASSWORD},
    ],
)
def test_right_password_is_known(headers: dict[str, str]) -> None:
    assert USERS.of(headers) == ANA


@pytest.mark.parametrize(
    ("headers", "fault"),
    [
        ({}, REQUIRED_PASSWORD),
        ({"authorization": "Bearer x"}, REQUIRED_PASSWORD),
        (basic("ana:"), AUTHENTICATION_FAILED),
        (basic("ana:other"), AUTHENTICATION_FAILED),
        (basic("nobody:other"), AUTHENTICATION_FAILED),
        (basic(":"), AUTHENTICATION_FAILED),
        (basic("ana"), AUTHENTICATION_FAILED),
        (basic(f"ANA:{PASSWORD}"), AUTHENTICATION_FAILED),
        ({"authorization": "Basic ///"}, AUTHENTICATION_FAILED),
        ({"authorization": "Basic /////w=="}, AUTHENTICATION_FAILED),
        ({"x-clickhouse-user": "ana"}, AUTHENTICATION_FAILED),
        ({"x-clickhouse-key": PASSWORD}, AUTHENTICATION_FAILED),
        (basic(f"ana:{PASSWORD}") | {"x-clickhouse-user": "ana"}, AUTHENTICATION_FAILED),
        ({"x-clickhouse-user": "ana", "x-clickhouse-key": ANA.password_sha256}, AUTHENTICATION_FAILED),
    ],
)
def test_others_are_not(headers: dict[str, str], fault: Fault) -> None:
    with pytest.raises(Refused) as refused:
        USERS.of(headers)
    assert refused.value.fault is fault
    assert PASSWORD not in str(refused.value)


def test_nobody_is_known_where_there_are_no_users() -> None:
    with pytest.raises(Refused):
        Users([]).of({"x-clickhouse-user": "", "x-clickhouse-key": ""})


def test_minted_password_belongs_to_its_hash_and_is_never_the_same() -> None:
    password, sha256 = mint_password()
    assert Users([User("new", sha256)]).of(basic(f"new:{password}")).name == "new"
    assert mint_password()[0] != password
