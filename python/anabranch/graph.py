"""A part of a search graph, for looking at: NetworkX, Graphviz DOT, JSON.

A copy: it does not change when the search continues. It knows nothing of engines.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.catalogue import base_name
from anabranch.errors import GraphAccessError, GraphFileError
from anabranch.jobs.files import write_atomic
from anabranch.named_games import ROWS
from anabranch.optional import require
from anabranch.result import SolverState

if TYPE_CHECKING:
    import networkx

FIRST = (["w"], ["x"])
"""The first player, as positions write who is to move."""
SECOND = (["b"], ["o"])
"""The second player."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A position of the graph.

    >>> from anabranch import Engine
    >>> engine = Engine()
    >>> _ = engine.search("startpos", simulations=200)
    >>> node = engine.graph().nodes[0]
    >>> node.id, node.depth, node.legal, node.transposition
    (0, 0, 20, False)
    """

    id: int
    """Number in this export; 0 is the root."""
    position: str
    """FEN, with the counters of the first path found."""
    depth: int
    """Moves from the root on the first path found."""
    visits: int
    """N."""
    value: float
    """V, for the side to move here."""
    raw: float
    """U: the first evaluation, for the side to move here."""
    state: SolverState
    """What is proven, for the side to move here."""
    plies: int | None
    """Length of that proof."""
    transposition: bool
    """Has, or has had, more than one parent edge."""
    legal: int
    """Number of legal moves."""

    @property
    def white_value(self) -> float:
        """V for White, or the first player; in games written in Python, whose texts do not name the player,
        for the side to move.

        >>> from anabranch import Engine
        >>> engine = Engine()
        >>> _ = engine.search("startpos moves e2e4", simulations=10)
        >>> root = engine.graph().nodes[0]
        >>> root.white_value == -root.value
        True
        """
        return -self.value if self.position.split()[1:2] in SECOND else self.value

    @property
    def player(self) -> int | None:
        """Who is to move: 0 for White, or the first player; `None` where the text does not say.

        >>> from anabranch import Engine
        >>> engine = Engine()
        >>> _ = engine.search("startpos moves e2e4", simulations=10)
        >>> engine.graph().nodes[0].player
        1
        """
        word = self.position.split()[1:2]
        return 1 if word in SECOND else 0 if word in FIRST else None


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """A move of the graph.

    >>> from anabranch import Engine
    >>> engine = Engine()
    >>> _ = engine.search("startpos", simulations=200)
    >>> edges = [edge for edge in engine.graph().edges if edge.source == 0]
    >>> sum(edge.visits for edge in edges) <= 200
    True
    """

    source: int
    """Number of the parent."""
    target: int
    """Number of the child."""
    move: str
    """The move (UCI)."""
    visits: int
    """N."""
    q: float
    """Q, for the side to move at the parent."""
    prior: float
    """P."""
    child_value: float
    """T: value of the child for the side to move at the parent."""
    pruned: bool
    """Skipped, because it is proven to lose."""
    in_flight: int
    """Trajectories in flight."""


@dataclass(frozen=True, slots=True)
class SearchGraph:
    """Nodes and edges of a part of a search graph.

    >>> from anabranch import Engine
    >>> engine = Engine()
    >>> result = engine.search("startpos", simulations=300)
    >>> graph = engine.graph(depth=2)
    >>> graph.nodes[0].position.split()[0]
    'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR'
    >>> graph.to_dot().splitlines()[0]
    'digraph search {'
    """

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    variant: str

    def keeps_turn(self, edge: GraphEdge) -> bool:
        """Whether the side that makes a move moves again: after a pass, and in games of one player.

        The positions say it. Games given as rows write positions as they like; there the signs of the
        child's value in both views do, zeros included.

        >>> from anabranch import Engine
        >>> engine = Engine()
        >>> _ = engine.search("startpos", simulations=20)
        >>> graph = engine.graph()
        >>> any(map(graph.keeps_turn, graph.edges))
        False
        """
        child = self.nodes[edge.target]
        if base_name(self.variant) != ROWS:
            before, after = self.nodes[edge.source].player, child.player
            if before is not None and after is not None:
                return before == after
        return math.copysign(1.0, edge.child_value) == math.copysign(1.0, child.value)

    def to_networkx(self) -> networkx.MultiDiGraph[int]:
        """The graph for NetworkX, with all numbers as attributes; edges are keyed by their move.

        >>> from anabranch import Engine
        >>> engine = Engine()
        >>> _ = engine.search("startpos", simulations=200)
        >>> graph = engine.graph(nodes=50).to_networkx()
        >>> graph.number_of_nodes(), graph.nodes[0]["legal"]
        (50, 20)
        """
        require("networkx", "graph")
        import networkx

        graph: networkx.MultiDiGraph[int] = networkx.MultiDiGraph(variant=self.variant)
        for node in self.nodes:
            values = asdict(node)
            graph.add_node(values.pop("id"), **values)
        for edge in self.edges:
            values = asdict(edge)
            graph.add_edge(values.pop("source"), values.pop("target"), key=edge.move, **values)
        return graph

    def to_dict(self) -> dict[str, Any]:
        """The graph in dictionaries, lists and plain values.

        >>> from anabranch import Engine
        >>> engine = Engine()
        >>> _ = engine.search(simulations=50)
        >>> sorted(engine.graph(nodes=5).to_dict())
        ['edges', 'nodes', 'variant']
        """
        return {
            "variant": self.variant,
            "nodes": [asdict(node) for node in self.nodes],
            "edges": [asdict(edge) for edge in self.edges],
        }

    def to_json(self, indent: int | None = None) -> str:
        """The graph as JSON text.

        >>> from anabranch import Engine
        >>> engine = Engine()
        >>> _ = engine.search(simulations=50)
        >>> graph = engine.graph(nodes=5)
        >>> SearchGraph.from_json(graph.to_json()) == graph
        True
        """
        return json.dumps(self.to_dict(), indent=indent)

    @classmethod
    def from_json(cls, text: str) -> SearchGraph:
        """The graph that `to_json` wrote.

        >>> SearchGraph.from_json('{"variant": "chess", "nodes": [], "edges": []}').variant
        'chess'
        """
        return graph_of(**json.loads(text))

    def to_dot(self) -> str:
        """The graph for Graphviz.

        The size of a node depends on its visits, its colour on the value for White (light is good for
        White). Transposition nodes have a double red border, and solved nodes are boxes.

        >>> SearchGraph((), (), "chess").to_dot().splitlines()[0]
        'digraph search {'
        """
        most = max((node.visits for node in self.nodes), default=1)
        lines = ["digraph search {", '  node [style=filled, fontname="sans-serif"];', "  edge [fontsize=10];"]
        lines += [f"  {node.id} [{_node_attributes(node, most)}];" for node in self.nodes]
        lines += [
            f"  {edge.source} -> {edge.target} [{_edge_attributes(edge, most)}];" for edge in self.edges
        ]
        return "\n".join([*lines, "}", ""])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a file in the format of its suffix: .dot, .gv, .json or .graphml.

        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     SearchGraph((), (), "chess").write(f"{folder}/search.dot")
        ...     Path(f"{folder}/search.dot").read_text().splitlines()[0]
        'digraph search {'
        """
        target = Path(path)
        makers: dict[str, Callable[[], str]] = {
            ".dot": self.to_dot,
            ".gv": self.to_dot,
            ".json": lambda: self.to_json(indent=1),
            ".graphml": self._to_graphml,
        }
        maker = makers.get(target.suffix.lower())
        if maker is None:
            raise GraphFileError(
                f"a graph is written to a file named .dot, .gv, .json or .graphml, not {target.name!r}"
            )
        text = maker()
        try:
            write_atomic(target, text)
        except OSError as error:
            raise GraphAccessError(f"the graph cannot be written to {target}: {error.strerror}") from error

    def _to_graphml(self) -> str:
        graph = self.to_networkx()
        for _, values in graph.nodes(data=True):
            if values["plies"] is None:  # the format cannot express it
                del values["plies"]
        import networkx

        return "\n".join(networkx.generate_graphml(graph)) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def graph_of(nodes: list[dict[str, Any]], edges: list[dict[str, Any]], variant: str) -> SearchGraph:
    """An export of the core."""
    return SearchGraph(
        tuple(GraphNode(**node) for node in nodes), tuple(GraphEdge(**edge) for edge in edges), variant
    )


def _node_attributes(node: GraphNode, most: int) -> str:
    share = math.log1p(node.visits) / math.log1p(max(most, 1))
    light = round(255 * (0.25 + 0.75 * (node.white_value + 1) / 2))
    label = f"{node.visits}\n{node.value:+.2f}"
    attributes = {
        "label": label,
        "tooltip": node.position,
        "width": f"{0.4 + 1.2 * share:.2f}",
        "fillcolor": f"#{light:02x}{light:02x}{light:02x}",
        "fontcolor": "black" if light > 127 else "white",
    }
    if node.state != "unknown":
        length = "" if node.plies is None else f" in {node.plies}"
        attributes |= {"shape": "box", "label": f"{label}\n{node.state}{length}"}
    if node.transposition:
        attributes |= {"peripheries": "2", "color": "red", "penwidth": "2"}
    return ", ".join(f"{name}={_quoted(value)}" for name, value in attributes.items())


def _edge_attributes(edge: GraphEdge, most: int) -> str:
    attributes = {
        "label": edge.move,
        "tooltip": f"N {edge.visits} Q {edge.q:+.3f} P {edge.prior:.3f}",
        "penwidth": f"{0.5 + 4 * edge.visits / max(most, 1):.2f}",
    }
    if edge.pruned:
        attributes["style"] = "dotted"
    return ", ".join(f"{name}={_quoted(value)}" for name, value in attributes.items())
