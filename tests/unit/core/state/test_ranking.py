from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.state.ranking import Ranking


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), max_size=200))
def test_it_is_in_order_whenever_somebody_looks(steps):
    ranking, added = Ranking(), []
    for place, (fitness, look) in enumerate(steps):
        ranking.add(float(fitness), place)
        added.append((-float(fitness), place))
        expected = [at for _, at in sorted(added)]
        assert ranking.best == expected[0]
        if look:
            assert list(ranking) == ranking.top() == expected and ranking.top(3) == expected[:3]
    assert ranking.top() == [at for _, at in sorted(added)]
