"""`anabranch settings`: every setting with symbol, default, range and meaning; and what presets change.

Names, ranges and meanings come from the core.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from anabranch.cli.options import JsonOption, PresetOption, option


def settings(
    preset: PresetOption = "default",
    show_presets: Annotated[
        bool, option(None, "Show what each preset changes, instead.", "--presets")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the settings of the search: symbol, default, range, meaning.

    Example: anabranch settings --preset mcgs
    """
    from anabranch.cli.output import output, print_json, table
    from anabranch.settings import Settings, presets, settings_table

    defaults = asdict(Settings.preset("default"))
    chosen = asdict(Settings.preset(preset))
    if show_presets:
        changes = {}
        for name in presets():
            values = asdict(Settings.preset(name))
            changes[name] = {
                setting: value for setting, value in values.items() if value != defaults[setting]
            }
        if as_json:
            print_json(changes)
            return
        rows = [
            [name, ", ".join(f"{setting}={_word(value)}" for setting, value in changed.items()) or "nothing"]
            for name, changed in changes.items()
        ]
        output().print(table(None, ["preset", "changes of the defaults"], rows))
        return
    rows_of_core = settings_table()
    if as_json:
        print_json(
            {
                "preset": preset,
                "settings": [{**asdict(row), "default": chosen[row.name]} for row in rows_of_core],
            }
        )
        return
    rows = [[row.name, row.symbol, _word(chosen[row.name]), row.range, row.meaning] for row in rows_of_core]
    output().print(table(None, ["setting", "symbol", ">default", "range", "meaning"], rows))


def _word(value: object) -> str:
    """A value as it is given on the command line.

    >>> _word(True), _word(2.0), _word("q")
    ('true', '2', 'q')
    """
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:g}" if abs(value) < 1e5 else f"{value:.0f}"
    return str(value)
