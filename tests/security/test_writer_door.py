"""An agent behind the gateway reaches the gateway and nothing else, in every tier that promises it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.attack_accounts import Account, attacked, ordinary_user, ourselves

from core.executor.writer_view import CLOSES_NETWORK, WriterView
from utils.errors import NoSandboxError

SCRIPT = Path(__file__).parent / "door_attack.py"


@pytest.fixture(params=["ourselves", "ordinary user"])
def account(request) -> Account:
    return ourselves() if request.param == "ourselves" else ordinary_user()


@pytest.mark.parametrize("tier", CLOSES_NETWORK)
def test_only_the_gateway_answers(account, tier, tmp_path):
    if tier == "bubblewrap" and (shutil.which("bwrap") is None or (os.getuid() == 0 and not account.prefix)):
        pytest.skip("bubblewrap is not installed, or would be run as root")
    told = attacked(account, SCRIPT, tier, tmp_path / "place")
    assert told.pop("the gateway") == "hi" and told.pop("its folder") == "written", told
    assert told.pop("an interface") == "none", told
    assert "hi" not in told.values() and len(told) == 3, told


@pytest.mark.parametrize("tier", ["lite", "none"])
def test_where_nothing_closes_the_network_there_is_no_door(tier):
    view = WriterView(tier)
    with pytest.raises(NoSandboxError, match="needs the sandbox tier warm or bubblewrap"):
        with view.open(["/bin/true"], [], 7):
            pass
    view.close()
