"""The options of the engine: what there is, how it is declared, and how a value is read.

The settings of the paper are options too, under their own names. Their value is `<preset>` until they
are set, so a graphical interface that sends back all defaults changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from anabranch.errors import AnabranchError
from anabranch.evaluators.open import RUNTIMES
from anabranch.networks.folders import human_networks
from anabranch.settings import SettingRow, presets, settings_table, variants
from anabranch.strength import HIGHEST, LOWEST

Value = bool | int | str
MEGABYTE = 1 << 20

FROM_PRESET = "<preset>"
EMPTY = "<empty>"
DEFAULT = "<default>"
BUNDLED = "<bundled>"
OFF = "off"
OWN_NETWORK = (BUNDLED, DEFAULT, "", "<autodiscover>", "network")
"""Values of the options below that mean the network of the package; the fourth is that of Lc0."""
NETWORK_OPTIONS = ("EvalFile", "WeightsFile")
"""One thing under two names. An interface sends back all that it was shown, so a value that means the network
of the package takes nothing back that was set by the other name; of two others the last one counts.
"""
STANDARD = "standard"
"""The preset `default` by the name that it has here: its own is a word of the protocol, and clients stumble
over declarations with that word in a value.
"""
BACKENDS = ("auto", *RUNTIMES, "material")
ALIASES = {"standard": "chess", "normal": "chess", "fischerandom": "chess", "chess960": "chess"}
"""Other names of variants, as interfaces write them."""


class OptionError(AnabranchError, ValueError):
    """A value that an option does not take."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option."""

    name: str
    kind: Literal["check", "spin", "combo", "button", "string"]
    default: Value = ""
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()
    setting: str | None = None
    """The setting of the search that it stands for."""

    @property
    def declaration(self) -> str:
        """The line that declares it. A combo names its default first, because uci2wb takes the first of the
        list for it and sends it back.

        >>> Option("Hash", "spin", 16, 1, 1024).declaration
        'option name Hash type spin default 16 min 1 max 1024'
        >>> Option("Style", "combo", "b", choices=("a", "b")).declaration
        'option name Style type combo default b var b var a'
        """
        line = f"option name {self.name} type {self.kind}"
        if self.kind == "button":
            return line
        default = str(self.default).lower() if self.kind == "check" else str(self.default) or EMPTY
        line += f" default {default}"
        if self.kind == "spin":
            line += f" min {self.least} max {self.most}"
        choices = sorted(self.choices, key=lambda choice: choice != self.default)
        return line + "".join(f" var {choice}" for choice in choices)

    def read(self, text: str) -> Value:
        """The value that a text means.

        >>> Option("Ponder", "check", False).read("TRUE")
        True
        """
        text = text.strip()
        match self.kind:
            case "check":
                if text.lower() in ("true", "on", "1", "yes"):
                    return True
                if text.lower() in ("false", "off", "0", "no"):
                    return False
                raise OptionError(f"option {self.name} takes true or false, not {text[:60]!r}")
            case "spin":
                try:
                    number = int(text) if len(text) < 40 else None
                except ValueError:
                    number = None
                if number is None or not self.least <= number <= self.most:
                    raise OptionError(
                        f"option {self.name} takes a whole number from {self.least} to {self.most}, "
                        f"not {text[:60]!r}"
                    )
                return number
            case "combo":
                if text == "default":
                    return self.default
                for choice in self.choices:
                    if choice.lower() == text.lower():
                        return choice
                raise OptionError(
                    f"option {self.name} takes one of {', '.join(self.choices)}, not {text[:60]!r}"
                )
        return "" if text == EMPTY else text


_MANAGED = (  # by options with names that interfaces know, or of no use to players
    "threads",
    "memory",
    "evaluator",
    "hash_cost_us",
    "contempt",
    "tablebase_men",
    "tablebase_fifty",
)


def _setting_option(row: SettingRow) -> Option:
    if row.choices or isinstance(row.default, bool):
        words = row.choices or ("true", "false")
        return Option(row.name, "combo", FROM_PRESET, choices=(FROM_PRESET, *words), setting=row.name)
    return Option(row.name, "string", FROM_PRESET, setting=row.name)


def _known() -> Iterable[Option]:
    yield Option("Threads", "spin", 1, 1, 256)
    yield Option("Hash", "spin", 512, 1, 16_777_216)
    yield Option("Clear Hash", "button")
    yield Option("Ponder", "check", False)
    yield Option("MultiPV", "spin", 1, 1, 256)
    yield Option("Move Overhead", "spin", 50, 0, 10_000)
    yield Option("UCI_Chess960", "check", False)
    yield Option("UCI_Variant", "combo", "chess", choices=(*variants(), *ALIASES))
    yield Option("UCI_ShowWDL", "check", False)
    yield Option("UCI_AnalyseMode", "check", False)
    yield Option("UCI_LimitStrength", "check", False)
    yield Option("UCI_Elo", "spin", 1500, LOWEST, HIGHEST)
    yield Option("UCI_Opponent", "string")
    yield Option("UCI_EngineAbout", "string", about())
    yield Option("SyzygyPath", "string")
    yield Option("SyzygyProbeLimit", "spin", 7, 0, 7)
    yield Option("Syzygy50MoveRule", "check", True)
    yield Option("OwnBook", "check", False)
    yield Option("BookFile", "string")
    yield Option("Contempt", "spin", 0, -1000, 1000)
    yield Option("EvalFile", "string", BUNDLED)
    yield Option("WeightsFile", "string", BUNDLED)
    yield Option("Backend", "combo", "auto", choices=BACKENDS)
    yield Option("PolicyOnly", "check", False)
    yield Option("PolicyTemperature", "spin", 100, 0, 1000)
    if ratings := human_networks():
        yield Option("PlaysLike", "combo", OFF, choices=(OFF, *map(str, ratings)))
    yield Option("Debug Log File", "string")
    yield Option("VerboseMoveStats", "check", False)
    others = (name for name in presets() if name != "default")
    yield Option("Preset", "combo", STANDARD, choices=(STANDARD, *others))
    for row in settings_table():
        if row.name not in _MANAGED:
            yield _setting_option(row)


def about() -> str:
    """The engine in a line, for UCI_EngineAbout."""
    from anabranch import __version__

    return f"Anabranch {__version__}: Monte-Carlo graph search for chess and crazyhouse, GPL-3.0-or-later"


class UciOptions:
    """All options with their values; names are found whatever their case."""

    def __init__(self) -> None:
        self._options = {option.name.lower(): option for option in _known()}
        self.revision = 0
        """Grows with every change."""
        self._values: dict[str, Value] = {name: option.default for name, option in self._options.items()}

    def all(self) -> Iterable[Option]:
        """Every option, in the order in which they are declared."""
        return self._options.values()

    def find(self, name: str) -> Option | None:
        """The option of a name."""
        return self._options.get(" ".join(name.lower().split()))

    def set(self, option: Option, text: str) -> Value:
        """Give an option a value, checked."""
        value = option.read(text)
        if option.setting is not None and value != FROM_PRESET:
            from anabranch.settings import Settings

            # Says what is wrong with it, alone or beside the other settings.
            Settings.preset(self.preset).changed({**self.settings, option.setting: value})
        if option.name in NETWORK_OPTIONS and value not in OWN_NETWORK:
            self._values |= {name.lower(): BUNDLED for name in NETWORK_OPTIONS}
        self._values[option.name.lower()] = value
        self.revision += 1
        return value

    def flag(self, name: str) -> bool:
        """The value of a check."""
        return bool(self._values[name.lower()])

    def number(self, name: str) -> int:
        """The value of a spin."""
        return int(self._values[name.lower()])

    def text(self, name: str) -> str:
        """The value of a string or combo."""
        return str(self._values[name.lower()])

    @property
    def settings(self) -> dict[str, Value]:
        """The settings of the search that were set by hand."""
        return {
            option.setting: self._values[name]
            for name, option in self._options.items()
            if option.setting is not None and self._values[name] not in (FROM_PRESET, "")
        }

    @property
    def evaluator(self) -> str | None:
        """The name or path of the network or evaluator; none for that of the package."""
        if (rating := self.plays_like) is not None:
            file = human_networks().get(rating)
            if file is None:
                raise OptionError(f"no network that plays like {rating} is installed any more")
            return str(file)
        requested = (self.text(name) for name in NETWORK_OPTIONS)
        return next((text for text in requested if text not in OWN_NETWORK), None)

    @property
    def plays_like(self) -> int | None:
        """The rating of the players that an installed network imitates, where one was chosen; in chess."""
        text = self._values.get("playslike", OFF)
        return None if text == OFF or self.variant != "chess" else int(text)

    def stop_playing_like(self) -> None:
        """Set PlaysLike to off."""
        self._values["playslike"] = OFF
        self.revision += 1

    @property
    def policy_temperature(self) -> float | None:
        """The temperature at which moves are drawn from the policy; none where the engine searches."""
        if not self.flag("PolicyOnly") and self.plays_like is None:
            return None
        return self.number("PolicyTemperature") / 100

    @property
    def preset(self) -> str:
        """The preset by its own name."""
        name = self.text("Preset")
        return "default" if name == STANDARD else name

    @property
    def variant(self) -> str:
        """The variant by its own name."""
        name = self.text("UCI_Variant")
        return ALIASES.get(name, name)

    @property
    def is_chess960(self) -> bool:
        """Whether castling is written as the king takes the rook."""
        return self.flag("UCI_Chess960") or self.text("UCI_Variant") in ("chess960", "fischerandom")
