"""Play by the policy alone: the choice of a move, predictions, UCI and the web board."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.support.commands import Commands
from tests.support.engine_session import Session, answers, set_option

from anabranch import Engine
from anabranch.errors import AnabranchError, EvaluatorError
from anabranch.evaluators.resolve import resolve_evaluator
from anabranch.human import choose, opinions
from anabranch.networks import folders
from anabranch.networks.folders import human_networks
from anabranch.predictions import MoveSelection, predict
from anabranch.web.client import _networks
from anabranch.web.messages import MessageError, Play, SearchConfig, read_message
from anabranch.web.searches import ClientSearches, Resources

DATA = Path(__file__).parents[1] / "data"
NETWORK = DATA / "lc0" / "tinygyal-8.pb.gz"
GAMES = DATA / "lichess.pgn"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of networks in which one has the name of a Maia network."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = folders.network_directory()
    folder.mkdir(parents=True)
    (folder / "maia-1500.pb.gz").write_bytes(NETWORK.read_bytes())
    (folder / "other.pb.gz").write_bytes(NETWORK.read_bytes())
    return folder


@pytest.fixture
def session() -> Iterator[Session]:
    made = Session()
    yield made
    made.close()


def test_moves_are_drawn_by_their_probabilities() -> None:
    policy, source = {"a": 0.6, "b": 0.3, "c": 0.1}, Random(3)
    for temperature, shares in ((1.0, (0.6, 0.3, 0.1)), (0.5, (36 / 46, 9 / 46, 1 / 46))):
        drawn = Counter(choose(policy, source, temperature) for _ in range(4000))
        for move, share in zip(policy, shares, strict=True):
            assert abs(drawn[move] / 4000 - share) < 4 * math.sqrt(share / 4000)
    assert {choose(policy, source, 0) for _ in range(20)} == {"a"}
    with pytest.raises(AnabranchError, match="a temperature is a number from 0 on"):
        choose(policy, source, -1.0)


def test_an_opinion_is_the_policy_with_the_history_of_the_game() -> None:
    network = resolve_evaluator(NETWORK, threads=1)
    line = "startpos moves e2e4 e7e5 g1f3"
    bare = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"
    whole, alone = opinions(network, [line, bare])
    assert sum(whole.policy.values()) == pytest.approx(1.0)
    assert list(whole.policy.values()) == sorted(whole.policy.values(), reverse=True)
    assert whole.policy != alone.policy
    found = Engine(evaluator=network, node_temperature=1.0).search(line, evaluations=1)
    priors = {row.move: row.prior for row in found.moves}
    for move, share in whole.policy.items():
        assert priors[move] == pytest.approx(share, abs=2e-3)
    [own] = opinions(resolve_evaluator("chess"), ["startpos"])
    assert len(own.policy) == 20
    with pytest.raises(EvaluatorError, match="has no policy"):
        next(opinions("material", ["startpos"]))


def test_predictions_of_the_moves_of_club_players(cli: Commands) -> None:
    """Of Tiny Gyal, which learned from engines. Maia-1500 predicts 56.2 % of these moves."""
    found = cli.json("network", "predict", NETWORK, GAMES)
    assert (found["games"], found["moves"], found["unreadable"]) == (10, 708, 0)
    assert found["share"] == pytest.approx(0.390, abs=0.01)
    assert found["top_three"] == pytest.approx(0.648, abs=0.02)
    assert sum(row["moves"] for row in found["by_rating"]) == 708
    shown = cli.shows("network", "predict", NETWORK, GAMES, "--moves", "50")
    assert shown.startswith("50 moves of 1 games\npredicted")


def test_predictions_leave_out_what_they_should(cli: Commands, tmp_path: Path) -> None:
    network = resolve_evaluator(NETWORK, threads=1)
    game = '[WhiteElo "1500"]\n[BlackElo "1900"]\n\n'
    clocks = " ".join(
        f"{move} {{[%clk 0:00:{seconds}]}}"
        for move, seconds in (("1. e4", 40), ("1... e5", 40), ("2. Nf3", 20))
    )
    path = tmp_path / "games.pgn"
    path.write_text(f"{game}{clocks} *\n\n{game}1. e4 e5 2. Ke3 *\n")
    found = predict(network, [path], MoveSelection(first_ply=0))
    assert (found.games, found.moves, found.unreadable) == (1, 2, 1)
    low = predict(network, [path], MoveSelection(first_ply=0, lowest=1400, highest=1600))
    assert (low.moves, list(low.by_rating)) == (1, [1400])
    said = cli.refuses("network", "predict", NETWORK, path, "--lowest", "2500")
    assert "there is no move to predict" in said
    assert "there is no file" in cli.refuses("network", "predict", NETWORK, tmp_path / "none.pgn")


def test_uci_plays_the_move_of_the_policy(session: Session) -> None:
    set_option(session, "WeightsFile", NETWORK)
    set_option(session, "PolicyOnly", True)
    set_option(session, "PolicyTemperature", 0)
    line = "e2e4 e7e5 g1f3 b8c6 f1b5"
    answer = answers(session, f"position startpos moves {line}", "go wtime 60000 btime 60000")
    [opinion] = opinions(resolve_evaluator(NETWORK), [f"startpos moves {line}"])
    best, share = next(iter(opinion.policy.items()))
    assert f"info string policy move, probability {100 * share:.1f} %" in answer
    assert answer[-1] == f"bestmove {best}"
    chosen = answers(session, "go nodes 10 searchmoves a7a6 h7h5")[-1].split()[1]
    assert chosen == max(("a7a6", "h7h5"), key=lambda move: opinion.policy[move])
    set_option(session, "PolicyTemperature", 1000)
    drawn = {answers(session, "go movetime 100")[-1].split()[1] for _ in range(12)}
    assert len(drawn) > 3
    set_option(session, "UCI_AnalyseMode", True)
    assert not any("policy move" in said for said in answers(session, "go nodes 20"))


def test_uci_plays_like_an_installed_network(installed: Path) -> None:
    assert human_networks() == {1500: installed / "maia-1500.pb.gz"}
    session = Session()
    try:
        declared = answers(session, "uci")
        assert "option name PlaysLike type combo default off var off var 1500" in declared
        set_option(session, "PlaysLike", 1500)
        answer = answers(session, "position startpos", "go nodes 100")
        assert any(said.startswith("info string policy move") for said in answer)
        set_option(session, "PlaysLike", "off")
        answer = answers(session, "go nodes 100")
        assert not any("policy move" in said for said in answer)
    finally:
        session.close()


def test_uci_says_when_a_damaged_network_cannot_play_like_people(installed: Path) -> None:
    (installed / "maia-1100.pb.gz").write_bytes(NETWORK.read_bytes()[:1000])
    session = Session()
    try:
        set_option(session, "PlaysLike", 1100)  # before the engine is made
        answer = answers(session, "position startpos", "go nodes 20")
        assert any("cut short" in said and said.endswith("; PlaysLike is off") for said in answer)
        assert not any("policy move" in said for said in answer)
        set_option(session, "PlaysLike", 1500)
        [said] = set_option(session, "PlaysLike", 1100)
        assert "cut short" in said
        assert said.endswith("; PlaysLike stays 1500")
        assert any("policy move" in said for said in answers(session, "go nodes 20"))
        set_option(session, "PlaysLike", "off")
        [said] = set_option(session, "WeightsFile", installed / "maia-1100.pb.gz")
        assert said.endswith("; the engine goes on with the evaluator that it has")
    finally:
        session.close()


def test_uci_without_a_policy_searches(session: Session) -> None:
    set_option(session, "Backend", "material")
    set_option(session, "PolicyOnly", True)
    answer = answers(session, "position startpos", "go nodes 50")
    assert "info string the evaluator material has no policy, so the engine searches" in answer
    assert answer[-1].startswith("bestmove")


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def played(searches: ClientSearches, **fields: Any) -> dict[str, Any]:
    """The answer to a request for a move."""
    game = {"variant": "chess", "fen": START, "moves": ["e2e4"]}
    request = Play.model_validate({"type": "play", "id": 1, "game": game, **fields})
    sent: list[dict[str, Any]] = []
    searches.prepare()
    searches.play(request, sent.append)
    return sent[-1]


def test_the_web_board_plays_like_people_and_with_installed_networks(installed: Path) -> None:
    rows = _networks()
    assert [(row["name"], row["human"], row["variant"]) for row in rows] == [
        ("maia-1500", 1500, "chess"),
        ("other", None, "chess"),
    ]
    assert not any(str(installed) in str(row) for row in rows)  # paths stay on the server
    searches = ClientSearches(Resources(seconds=5.0))
    level = {"by": "human", "rating": 1500, "temperature": 0.0}
    [opinion] = opinions(resolve_evaluator(NETWORK), [f"{START} moves e2e4"])
    assert played(searches, level=level)["move"] == next(iter(opinion.policy))
    with pytest.raises(AnabranchError, match="no network that plays like 1900 is installed"):
        played(searches, level={**level, "rating": 1900})

    few = {"by": "evaluations", "evaluations": 8}
    own = played(searches, level=few)["report"]
    other = played(searches, level=few, config={"network": "other"})["report"]
    assert own["moves"] != other["moves"]
    assert played(searches, level=few)["report"]["moves"] == own["moves"]
    with pytest.raises(AnabranchError, match="no network 'none' is installed"):
        played(searches, level=few, config={"network": "none"})


def test_a_browser_names_no_paths() -> None:
    assert SearchConfig(network="maia-1500").network == "maia-1500"
    for name in ("../net", "/etc/passwd", "a b", ""):
        game = {"variant": "chess", "fen": START}
        level = {"by": "elo", "elo": 1500}
        request = {"type": "play", "id": 1, "game": game, "level": level, "config": {"network": name}}
        with pytest.raises(MessageError):
            read_message(json.dumps(request))
    assert read_message('{"type": "networks"}').type == "networks"
