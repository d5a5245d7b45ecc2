"""The noise of self-play: in full searches alone, and in no target."""

from typing import Any

import numpy as np
import pytest

from anabranch.selfplay.plan import plan_of
from anabranch.selfplay.play import PlayJob, play_games
from anabranch.selfplay.search import GameSearch


def test_full_searches_alone_have_noise_and_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[tuple[int, float]] = []
    plain = GameSearch.search

    def noted(
        self: GameSearch, evaluations: int, simulations: int | None = None, noise: float = 0.0
    ) -> dict[str, Any]:
        searches.append((evaluations, noise))
        return plain(self, evaluations, simulations, noise)

    monkeypatch.setattr(GameSearch, "search", noted)
    plan = plan_of("hex:size=3", evaluations=24, last_evaluations=24, full_share=0.5, noise=0.3, proofs=False)
    done = play_games(PlayJob(plan, "rollout", 0, 0, 3))
    assert set(searches) == {(24, 0.3), (6, 0.0)}
    assert len(done.samples) == sum(1 for evaluations, _ in searches if evaluations == 24)


@pytest.mark.parametrize("evaluator", ["uniform", "rollout"])
def test_priors_of_targets_have_no_noise(evaluator: str) -> None:
    game = GameSearch("hex:size=6", evaluator, seed=1, dirichlet_alpha=1.0)
    for noise in (0.9, 0.0, 0.9):
        report = game.search(24, 96, noise)
        root = game.statistics(report)
        assert np.allclose(root.prior, 1.0 / len(root.prior), atol=1e-3)
        assert np.allclose(root.noisy, root.prior, atol=1e-3) == (noise == 0.0)
        game.session.play(report["moves"][0]["move"])


def test_a_search_with_noise_has_as_many_evaluations() -> None:
    game = GameSearch("hex:size=4", "rollout", seed=1, dirichlet_alpha=1.0)
    game.search(24, None, 0.25)
    assert game.evaluations == 24
