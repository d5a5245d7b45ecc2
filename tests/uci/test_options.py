"""Every option does something: what it changes is seen in what the engine says, or in its settings.

`EFFECTS` has a test for each option that interfaces know, so an option without one fails. What a setting of
the search does once the engine has it is tested in tests/search.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import chess
import pytest
from tests.support.books import write_book
from tests.support.engine_session import Session, answers, number_after, set_option
from tests.support.tables import TABLES

from anabranch import Engine
from anabranch.networks.shipped import bundled
from anabranch.result import Result
from anabranch.settings import Settings
from anabranch.uci.options import FROM_PRESET, Option, UciOptions

ENDING = "8/8/8/8/8/4k3/8/2KQ3r w - - 0 1"
Effect = Callable[[Session, Path], None]


def settings(session: Session) -> Settings:
    """What the engine searches with."""
    session.rest()
    return session.session.engine.settings


def visits(session: Session) -> int:
    table = answers(session, "moves")[1:]
    return sum(int(row.split()[1]) for row in table)


def optimum(session: Session) -> float:
    session.send("debug on", "ucinewgame")
    return number_after(answers(session, "go wtime 1000 btime 1000"), "optimum")


def changes_setting(option: str, value: object, setting: str, wanted: object) -> Effect:
    def effect(session: Session, _: Path) -> None:
        assert getattr(settings(session), setting) != wanted
        set_option(session, option, value)
        assert getattr(settings(session), setting) == wanted

    return effect


def changes_lines(option: str, value: object, mark: str, *lines: str) -> Effect:
    """Text that is only there when the option is set."""

    def effect(session: Session, _: Path) -> None:
        assert not any(mark in line for line in answers(session, *lines))
        set_option(session, option, value)
        assert any(mark in line for line in answers(session, *lines))

    return effect


def clears_hash(session: Session, _: Path) -> None:
    session.ask("go nodes 300")
    assert visits(session) > 200
    answers(session, "setoption name Clear Hash")
    assert visits(session) == 0


def changes_time(option: str, value: object, by: int) -> Effect:
    """More time for a move, or less, where `by` is above or below nought."""

    def effect(session: Session, _: Path) -> None:
        before = optimum(session)
        set_option(session, option, value)
        assert by * (optimum(session) - before) > 0

    return effect


def analysis_is_at_full_strength(session: Session, _: Path) -> None:
    set_option(session, "UCI_LimitStrength", True)
    weak = number_after(answers(session, "go nodes 3000"), "nodes")
    set_option(session, "UCI_AnalyseMode", True)
    assert number_after(answers(session, "go nodes 3000"), "nodes") > weak


def limit_makes_weaker(session: Session, _: Path) -> None:
    strong = number_after(answers(session, "go nodes 3000"), "nodes")
    set_option(session, "UCI_LimitStrength", True)
    assert number_after(answers(session, "go nodes 3000"), "nodes") < strong


def elo_is_a_scale(session: Session, _: Path) -> None:
    set_option(session, "UCI_LimitStrength", True)
    set_option(session, "UCI_Elo", 1200)
    weak = number_after(answers(session, "go nodes 3000"), "nodes")
    set_option(session, "UCI_Elo", 1900)
    assert number_after(answers(session, "go nodes 3000"), "nodes") > weak


def is_only_noted(option: str) -> Effect:
    """UciOptions that the protocol knows and that change nothing; so docs/uci.md has it."""

    def effect(session: Session, _: Path) -> None:
        before = settings(session)
        assert set_option(session, option, "GM 2800 human Somebody") == []
        assert settings(session) == before

    return effect


def contempt_is_a_value(session: Session, _: Path) -> None:
    assert settings(session).contempt == 0.0
    set_option(session, "Contempt", 80)
    assert 0.0 < settings(session).contempt < 1.0


def tables_are_asked(session: Session, _: Path) -> None:
    answers(session, f"position fen {ENDING}")
    assert number_after(answers(session, "go nodes 50"), "tbhits") == 0
    said = set_option(session, "SyzygyPath", TABLES)
    assert said == ["info string 70 tablebase files, up to 4 men"]
    assert number_after(answers(session, "go nodes 50"), "tbhits") > 0


def limit_of_men_is_kept(session: Session, folder: Path) -> None:
    tables_are_asked(session, folder)
    set_option(session, "SyzygyProbeLimit", 3)
    answers(session, "ucinewgame", f"position fen {ENDING}")
    hits_three = number_after(answers(session, "go nodes 50"), "tbhits")
    set_option(session, "SyzygyProbeLimit", 0)
    answers(session, "ucinewgame", f"position fen {ENDING}")
    assert number_after(answers(session, "go nodes 50"), "tbhits") == 0 <= hits_three


def book_is_played(session: Session, folder: Path) -> None:
    book = write_book(folder / "book.bin", [(chess.Board(), "b1a3", 1)])
    assert set_option(session, "BookFile", book) == []
    assert "info string book move" not in answers(session, "go nodes 50")
    set_option(session, "OwnBook", True)
    said = answers(session, "go nodes 50")
    assert "info string book move" in said
    assert said[-1].startswith("bestmove b1a3")


def another_network_is_used(option: str) -> Effect:
    """A file, and the name of a network or evaluator."""

    def effect(session: Session, _: Path) -> None:
        with_own = answers(session, "eval")
        network = bundled("crazyhouse", "onnx")
        assert network is not None
        set_option(session, "UCI_Variant", "crazyhouse")
        with_shipped = answers(session, "eval")
        set_option(session, option, network)
        with_file = answers(session, "eval")
        assert with_file not in (with_own, with_shipped)
        assert set_option(session, option, "material") == []
        assert any("(material)" in line for line in answers(session, "eval"))
        assert set_option(session, option, "crazyhouse-rise") == []
        assert answers(session, "eval") == with_file
        assert any("no evaluator 'nonsense'" in line for line in set_option(session, option, "nonsense"))
        assert any("chess" in line for line in set_option(session, option, "chess"))
        assert answers(session, "eval") == with_file
        set_option(session, option, "<bundled>")
        assert answers(session, "eval") == with_shipped

    return effect


def log_is_written(session: Session, folder: Path) -> None:
    path = folder / "dialogue.txt"
    set_option(session, "Debug Log File", path)
    session.ask("go nodes 5")
    set_option(session, "Debug Log File", "<empty>")
    text = path.read_text(encoding="utf-8")
    assert ">> go nodes 5" in text
    assert "<< bestmove" in text


def changes_drawing(session: Session, _: Path) -> None:
    def drawn() -> set[str]:
        return {answers(session, "position startpos", "go nodes 1")[-1] for _ in range(12)}

    set_option(session, "PolicyOnly", True)
    assert len(drawn()) > 1
    set_option(session, "PolicyTemperature", 0)
    assert len(drawn()) == 1


EFFECTS: dict[str, Effect] = {
    "PolicyOnly": changes_lines("PolicyOnly", True, "policy move", "position startpos", "go nodes 1"),
    "PolicyTemperature": changes_drawing,
    "Threads": changes_setting("Threads", 2, "threads", 2),
    "Hash": changes_setting("Hash", 33, "memory", 33 << 20),
    "Clear Hash": clears_hash,
    "Ponder": changes_time("Ponder", True, +1),
    "MultiPV": changes_lines("MultiPV", 3, "multipv 3", "go nodes 100"),
    "Move Overhead": changes_time("Move Overhead", 600, -1),
    "UCI_Chess960": changes_lines(
        "UCI_Chess960",
        True,
        "bestmove e1h1",
        "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
        "go nodes 20 searchmoves e1h1 e1g1",
    ),
    "UCI_Variant": changes_lines("UCI_Variant", "crazyhouse", "[]", "d"),
    "UCI_ShowWDL": changes_lines("UCI_ShowWDL", True, " wdl ", "go nodes 50"),
    "UCI_AnalyseMode": analysis_is_at_full_strength,
    "UCI_LimitStrength": limit_makes_weaker,
    "UCI_Elo": elo_is_a_scale,
    "UCI_Opponent": is_only_noted("UCI_Opponent"),
    "UCI_EngineAbout": is_only_noted("UCI_EngineAbout"),
    "SyzygyPath": tables_are_asked,
    "SyzygyProbeLimit": limit_of_men_is_kept,
    "Syzygy50MoveRule": changes_setting("Syzygy50MoveRule", False, "tablebase_fifty", False),
    "OwnBook": book_is_played,
    "BookFile": book_is_played,
    "Contempt": contempt_is_a_value,
    "EvalFile": another_network_is_used("EvalFile"),
    "WeightsFile": another_network_is_used("WeightsFile"),
    "Backend": changes_lines("Backend", "material", "(material)", "eval"),
    "Debug Log File": log_is_written,
    "VerboseMoveStats": changes_lines("VerboseMoveStats", True, "(P:", "go nodes 50"),
    "Preset": changes_setting("Preset", "alphazero", "backup", "tree"),
}


def known() -> list[Option]:
    return list(UciOptions().all())


@pytest.mark.parametrize("name", [option.name for option in known() if option.setting is None])
def test_an_option_does_what_it_says(session: Session, tmp_path: Path, name: str) -> None:
    EFFECTS[name](session, tmp_path)


UCD = {"selection": "ucb1", "stop": "none"}
COMPANIONS = {"ucd_value": UCD, "ucd_parent": UCD, "ucd_visits": UCD, "solver_rule": {"mate_root": "0"}}
"""What makes sense only with other settings."""


@pytest.mark.parametrize("name", [option.name for option in known() if option.setting is not None])
def test_a_setting_reaches_the_search_and_returns_to_that_of_the_preset(session: Session, name: str) -> None:
    before = getattr(settings(session), name)
    option = UciOptions().find(name)
    assert option is not None
    words = [word for word in option.choices if word not in (FROM_PRESET, str(before).lower())]
    value = words[0] if words else another(before)
    for companion, word in COMPANIONS.get(name, {}).items():
        assert set_option(session, companion, word) == []
    assert set_option(session, name, value) == []
    assert str(getattr(settings(session), name)).lower() == value.lower()
    set_option(session, name, FROM_PRESET)
    assert getattr(settings(session), name) == before


def another(value: object) -> str:
    """Another value of a setting that is a number."""
    if isinstance(value, int):
        return str(value - 1 if value > 1 else value + 1)
    assert isinstance(value, float)
    return str(value / 2 if value else 0.01)


def test_an_interface_that_sends_back_what_it_was_shown_changes_nothing(session: Session) -> None:
    before = settings(session)
    for option in known():
        if option.kind != "button":
            words = re.split(" min | var ", option.declaration.split(" default ", 1)[1])[0]
            assert set_option(session, option.name, words) == []
    assert settings(session) == before


def test_the_first_choice_is_the_default() -> None:
    """uci2wb takes the first choice for the default, and sends it."""
    for option in known():
        if option.kind == "combo":
            assert option.declaration.split(" var ")[1] == option.default


def test_an_end_that_nobody_asked_for_is_explained() -> None:
    with Session() as session:
        session.greet(Backend="material")
        engine = session.session.engine
        found = Engine("chess", evaluator="material").search(simulations=100)

        def spent(*_: object, **__: object) -> Result:
            return replace(found, finish="visits")

        engine.search = spent  # type: ignore[method-assign]
        assert session.ask("position startpos", "go nodes 100").startswith("bestmove")
        assert any("as many visits as can be counted" in line for line in session.said("info"))
        session.check()
