"""Games of self-play, gates and wrong moves, without learning."""

from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import Commands

from anabranch import _core
from anabranch.bench.exact import ExactTask
from anabranch.cli import run
from anabranch.errors import SelfPlayError
from anabranch.jobs.executor import Processes
from anabranch.match.statistics import Sprt
from anabranch.networks.shipped import bundled
from anabranch.selfplay.chess_records import ChessSamples
from anabranch.selfplay.folder import open_run, read_run
from anabranch.selfplay.judge import (
    MOST_ELO,
    MatchVerdict,
    match_spec,
    openings_of,
    play_match,
    player_of,
)
from anabranch.selfplay.loop import Limit, _Loop, play_only
from anabranch.selfplay.plan import LoopPlan, plan_of, read_plan
from anabranch.selfplay.play import PlayDone, PlayJob, jobs_of, play_games
from anabranch.selfplay.records import GridSamples
from anabranch.selfplay.status import draw, rows_of
from anabranch.selfplay.wrong_moves import Chosen, ExactResults, choose, count_wrong

SMALL = {"games": 20, "evaluations": 24, "last_evaluations": 24, "random_plies": 4}


def grid(done: PlayDone) -> GridSamples:
    """The positions of a game on a grid."""
    assert isinstance(done.samples, GridSamples)
    return done.samples


def test_a_job_gives_the_same_games_again() -> None:
    job = PlayJob(plan_of("connect-four", **SMALL), "rollout", 0, 1, 3)
    first, second = play_games(job), play_games(job)
    assert first.lengths == second.lengths
    assert first.results == second.results
    assert np.array_equal(grid(first).policy, grid(second).policy)
    other = play_games(job._replace(number=2))
    assert not np.array_equal(grid(first).cells[:8], grid(other).cells[:8])


def test_positions_have_sound_targets() -> None:
    done = play_games(PlayJob(plan_of("connect-four", **SMALL, harvest=4), "rollout", 0, 0, 6))
    samples = grid(done)
    searched = samples.has_policy
    assert np.allclose(samples.policy[searched].sum(1), 1.0, atol=1e-5)
    assert not samples.policy[~samples.legal].any()
    assert (np.abs(samples.value) <= 1.0).all()
    assert (np.abs(samples.result) <= 1.0).all()
    assert done.proven > 0
    assert samples.exact.any()
    assert not samples.exact.all()
    assert not searched.all(), "proven positions of the graph are harvested"
    solver = _core.ConnectFourSolver(1 << 16)
    for row in np.flatnonzero(samples.exact):
        player = "x" if samples.constants[row, 0] else "o"
        letters = np.array([".", player, "xo"[player == "x"]])[samples.cells[row]].reshape(6, 7)
        text = "/".join("".join(line) for line in letters) + f" {player}"
        assert solver.solve(text) == samples.value[row], text


def test_the_games_of_a_generation_are_shared_out() -> None:
    jobs = jobs_of(plan_of("hex:size=3", games=40), "rollout", 0)
    assert sum(job.games for job in jobs) == 40
    assert [job.number for job in jobs] == list(range(len(jobs)))


def test_only_missing_jobs_are_played(tmp_path: Path) -> None:
    plan = plan_of("tic-tac-toe", **{**SMALL, "games": 40})
    play_only(tmp_path, plan, "rollout", Processes(0), lambda _: None)
    whole = read_run(tmp_path).samples(0)
    assert isinstance(whole, GridSamples)
    lines = (tmp_path / "journal.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_text("".join(lines[:2]) + lines[2][:20])
    play_only(tmp_path, plan, "rollout", Processes(0), lambda _: None)
    again = read_run(tmp_path).samples(0)
    assert isinstance(again, GridSamples)
    assert np.array_equal(whole.cells, again.cells)
    assert np.array_equal(whole.policy, again.policy)
    with pytest.raises(SelfPlayError, match="seed was 1, now is 2"):
        play_only(tmp_path, plan.changed(seed=2), "rollout", Processes(0), lambda _: None)


def test_the_games_of_a_folder_have_one_player(tmp_path: Path, cli: Commands) -> None:
    plan = plan_of("tic-tac-toe", **{**SMALL, "games": 16})
    games = tmp_path / "games"
    play_only(games, plan, "uniform", Processes(0), lambda _: None)
    assert cli.refuses("selfplay", "play", "--out", games, "-e", "rollout").endswith(
        "are played by uniform, and rollout is another evaluator or has changed since\n"
    )
    assert "16 games" in cli.run("selfplay", "play", "--out", games).out, "continued with its own player"
    with open_run(games, plan) as folder:
        loop = _Loop(folder, Limit(generations=1), Processes(0), lambda _: None)
        with pytest.raises(SelfPlayError, match="has games of 'selfplay play'"):
            loop.run()
    with open_run(tmp_path / "onnx", plan_of("chess", **SMALL)) as folder:
        loop = _Loop(folder, Limit(generations=1), Processes(0), lambda _: None)
        loop.begin_games("chess-rise")
        loop.begin_games("onnxruntime:chess-rise")
        with pytest.raises(SelfPlayError, match="played by chess-rise, and openvino:chess-rise is another"):
            loop.begin_games("openvino:chess-rise")
        assert loop._short_name("openvino:nets/one.onnx") == "openvino:one.onnx"
        assert loop._short_name(str(folder.path / "generation-3" / "network.onnx")) == "generation-3"
    with open_run(tmp_path / "run", plan) as folder:
        loop = _Loop(folder, Limit(generations=1), Processes(0), lambda _: None)
        loop._begin()
        with pytest.raises(SelfPlayError, match="is a run of 'selfplay run'"):
            loop.begin_games("rollout")


def test_an_outsider_stays_what_it_was(tmp_path: Path) -> None:
    file = tmp_path / "outsider.safetensors"
    file.write_bytes(bundled("chess").read_bytes())  # type: ignore[union-attr]
    plan = plan_of("chess", games=1, outsiders=(str(file), "first"))

    def begin() -> None:
        with open_run(tmp_path / "run", plan) as folder:
            _Loop(folder, Limit(generations=1), Processes(0), lambda _: None)._begin()

    begin()
    begin()
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(SelfPlayError, match=r"the outsider .*outsider.safetensors is not the network"):
        begin()


def test_the_time_of_an_unfinished_match_counts(tmp_path: Path) -> None:
    plan = plan_of("tic-tac-toe", **{**SMALL, "games": 16})
    with open_run(tmp_path, plan) as folder:
        loop = _Loop(folder, Limit(minutes=5.0), Processes(0), lambda _: None)
        loop._begun -= 100.0
        loop.keep_time()
        assert folder.journal.records == {}, "what fails at its beginning leaves a folder for another plan"
        loop._begin()
        loop._begun -= 100.0
        loop.keep_time()
        loop.keep_time()
    assert 200.0 <= read_run(tmp_path).elapsed < 210.0
    assert len(read_run(tmp_path).records("time")) == 1


def test_a_gate_that_was_won_without_a_loss_counts_as_little_as_it_shows(tmp_path: Path) -> None:
    record = {"games": 1, "positions": 9, "plies": 9, "results": [1, 0, 0], "proven": 1, "evaluations": 9}
    won = {"passed": True, "counts": [0, 0, 0, 0, 3], "elo": MOST_ELO, "error": None, "elapsed": 1.0}
    with open_run(tmp_path, plan_of("hex:size=3")) as folder:
        for generation in range(2):
            folder.journal.add(("play", generation, "0"), {**record, "elapsed": 1.0})
        folder.journal.add(("gate", 0, ""), {"passed": True, "against": None, "elapsed": 1.0})
        folder.journal.add(("gate", 1, ""), won)
        folder.journal.add(("outsider", 1, "first"), won)
    rows = rows_of(read_run(tmp_path))
    assert [row.elo for row in rows] == [0.0, 416.6]
    assert rows[1].gate == "all won passed"
    draw(rows, tmp_path / "curves.svg")


def test_matches_with_long_names_have_folders_of_their_own(tmp_path: Path) -> None:
    with open_run(tmp_path, plan_of("hex:size=3")) as folder:
        names = [f"folder-{number}/" + "x" * 70 for number in range(2)]
        assert len({folder.match_folder(0, name) for name in names}) == 2


def meet(folder: Path, evaluations: tuple[int, int], test: Sprt | None, pairs: int = 40) -> MatchVerdict:
    plan = plan_of("connect-four", **SMALL)
    players = [player_of(name, "rollout", n, 4.0) for name, n in zip("ab", evaluations, strict=True)]
    return play_match(Processes(0), match_spec(plan, (players[0], players[1]), pairs, 1, test), folder)


def test_a_stronger_player_passes_the_gate_and_a_weaker_one_fails(tmp_path: Path) -> None:
    strong = meet(tmp_path / "strong", (200, 3), Sprt(-30.0, 0.0))
    weak = meet(tmp_path / "weak", (3, 200), Sprt(-30.0, 0.0))
    assert strong.passed
    assert strong.elo > 0
    assert strong.pairs < 40
    assert not weak.passed
    assert weak.elo < 0
    again = meet(tmp_path / "strong", (200, 3), Sprt(-30.0, 0.0))
    assert (again.counts, again.passed) == (strong.counts, True), "its games are in the folder"
    assert again.seconds < strong.seconds


def test_a_gate_asks_for_no_gain(tmp_path: Path) -> None:
    equal = meet(tmp_path, (8, 8), Sprt(-30.0, 0.0), pairs=3)
    assert equal.passed
    assert equal.pairs == 3


def test_openings_of_matches(tmp_path: Path) -> None:
    plan = plan_of("connect-four", **SMALL)
    found = openings_of(plan, 20, 1)
    assert len(found) == 20
    assert {len(opening.fen.split()) for opening in found} <= {2, 3, 4}
    assert found != openings_of(plan, 20, 2)
    assert len(openings_of(plan_of("crazyhouse"), 2, 1)) > 100


def test_games_of_crazyhouse() -> None:
    """From the bundled network: named moves, exact results where a mate is proven."""
    plan = plan_of("crazyhouse", evaluations=16, last_evaluations=16, longest=40, harvest=2)
    job = PlayJob(plan, "network", 0, 0, 2)
    first, second = play_games(job), play_games(job)
    samples = first.samples
    assert isinstance(samples, ChessSamples)
    assert samples.position.tolist() == second.samples.position.tolist()  # type: ignore[attr-defined]
    assert len(samples) > 4
    sums = np.bincount(samples.owners, samples.policy, len(samples))
    assert np.allclose(sums[samples.has_policy], 1.0, atol=1e-5)
    rules = _core.Session("crazyhouse", False, {}, False)
    row = int(np.flatnonzero(samples.has_policy)[0])
    rules.set_position(samples.position[row].decode(), [])
    named = samples.moves[samples.owners == row].astype(str).tolist()
    assert set(named) <= set(rules.legal_moves())


def test_plans_are_checked_and_stored() -> None:
    plan = plan_of("hex:size=5", games=7, outsiders=("rollout", "uniform"))
    assert read_plan(plan.as_dict()) == plan
    for change in (
        {"games": 0},
        {"noise": 2.0},
        {"full_share": 0.0},
        {"target": "x"},
        {"policy_width": 33},
        {"rate": 0.0},
    ):
        with pytest.raises(SelfPlayError, match=next(iter(change))):
            LoopPlan("hex").changed(**change).check()
    with pytest.raises(SelfPlayError, match="another version"):
        read_plan({"game": "hex", "strange": 1})


def test_commands_refuse_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "run")
    for arguments, word in (
        (["run", "--out", out, "--generations", "1"], "needs --game"),
        (["run", "--game", "atomic", "--out", out, "--generations", "1"], "not for atomic"),
        (
            ["run", "--game", "chess", "--network", "conv", "--out", out, "--generations", "1"],
            "sparse network",
        ),
        (
            ["run", "--game", "hex", "--network", "conv", "--initial", "n.onnx", "--generations", "1"],
            "begins from nothing",
        ),
        (["run", "--game", "hex", "--data", out, "--out", out, "--generations", "1"], "not of hex"),
        (["status", out, "--watch", "0"], "above 0"),
        (["run", "--game", "hex", "--out", out], "a run needs an end: give --minutes or --generations"),
        (["run", "--game", "hex", "--out", out, "--minutes", "1", "--noise", "3"], "share between 0 and 1"),
        (["status", out], "holds no self-play"),
        (["check", "rollout", str(tmp_path / "none.txt")], "none.txt"),
    ):
        assert run(["selfplay", *arguments]) == 2
        assert word in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_status_of_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--game", "tic-tac-toe", "--games", "16", "--evaluations", "8", "--workers", "0"]
    assert run(["selfplay", "play", *arguments, "--out", str(tmp_path / "run")]) == 0
    assert "16 games" in capsys.readouterr().out
    assert run(["selfplay", "status", str(tmp_path / "run")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:2] == ["0", "16"]
    assert lines[2] == "generation 0: all 16 games are played, nothing learned"


def test_ctrl_c_says_what_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    arguments = ["--game", "tic-tac-toe", "--games", "64", "--evaluations", "8", "--workers", "0"]
    played = 0

    def stop_after_two(job: PlayJob) -> PlayDone:
        nonlocal played
        played += 1
        if played == 3:
            raise KeyboardInterrupt
        return play_games(job)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anabranch.selfplay.loop.play_games", stop_after_two)
        assert run(["selfplay", "play", *arguments, "--out", str(out)]) == 130
    assert "has 32 games with" in capsys.readouterr().err
    assert run(["selfplay", "play", *arguments, "--out", str(out)]) == 0
    assert "64 games" in capsys.readouterr().out


def test_a_move_that_gives_away_the_win_is_wrong() -> None:
    exact = ExactResults(None)
    # x has three in a column: 4 wins at once. After anything else o blocks.
    win = ExactTask("here", "4 3 4 3 4 3", "win")
    session = _core.Session("connect-four", False, {"evaluator": "uniform"}, False)

    def chosen(move: str) -> Chosen:
        session.set_position(None, [*win.position.split(), move])
        return Chosen(win, move, session.fen(), session.ending())

    assert count_wrong([chosen("4")], exact) == (0, 0)
    assert count_wrong([chosen("7")], exact) == (1, 0)
    early = Chosen(win, "4", "......./......./......./......./......./...x... o", None)
    assert count_wrong([early], ExactResults(None, 10)) == (0, 1), "the solver gives up"
    assert [one.move for one in choose("rollout", [win], 50)] == ["4"]


def test_a_network_to_begin_with_has_its_own_widths() -> None:
    assert plan_of("chess", initial="network").policy_width == 512
    with pytest.raises(SelfPlayError, match="policy_width is 512 in network, not 64"):
        plan_of("chess", initial="network", policy_width=64)
