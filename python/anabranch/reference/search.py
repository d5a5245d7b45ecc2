"""The search: the order of the verbs.

`simulate` walks down, `collect` gathers the leaves of a mini-batch, `apply` evaluates them and backs them up,
`run` repeats both until a limit. Networks are functions `(board, moves) -> (value, logits)`; it
has no clock, no threads and no memory cap.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from math import isqrt

import chess

from anabranch.reference.backup import back_up
from anabranch.reference.batch import MiniBatch, ReferenceStatistics
from anabranch.reference.board import canonical_text, move_code, play
from anabranch.reference.explore import add_noise, draw_exploration, find_branch
from anabranch.reference.forced import complete, find_mate, growing_budget, is_due, search_node
from anabranch.reference.formulas import softmax_priors, to_f32
from anabranch.reference.graph import Edge, Graph, MergeKey, Node, State, Tablebase
from anabranch.reference.gumbel import HalvingPlan
from anabranch.reference.mates import MateAnswer
from anabranch.reference.path import End, Trajectory, Walk
from anabranch.reference.policy import root_policy
from anabranch.reference.random import Random, mix
from anabranch.reference.select import select_edge
from anabranch.reference.settings import Constraint, ReferenceSettings
from anabranch.reference.settle import Settlement
from anabranch.reference.solver import forced_edge, holds, inform, inform_trajectory, mark_pruned, win
from anabranch.reference.transposition import stops
from anabranch.reference.wave import Descent, Finding

ReferenceEvaluator = Callable[[chess.Board, Sequence[chess.Move]], tuple[float, Sequence[float]]]
"""Maps a position and its legal moves (ascending codes) to the mover's value and one logit per move."""

MOST_POSITIONS_AT_CHOICE = 4_000
MOST_CHOICES = 8


class Search:
    """A graph that grows below `root`. A board with a move stack brings its history along."""

    def __init__(
        self,
        board: chess.Board,
        settings: ReferenceSettings,
        evaluator: ReferenceEvaluator,
        tablebase: Tablebase | None = None,
    ) -> None:
        self.settings = settings
        self.evaluator = evaluator
        self.tablebase = tablebase
        self.statistics = ReferenceStatistics()
        self.history: Counter[str] = Counter()
        past = board.copy()
        while past.move_stack:
            past.pop()
            self.history[canonical_text(past)] += 1
        self.board = past.copy(stack=False)  # its pockets are its own
        for move in board.move_stack:
            play(self.board, move)
        self.board.clear_stack()
        self.start_graph()

    def start_graph(self) -> None:
        """Start a new graph at the root position, with a freshly seeded generator."""
        self.doubts = 0
        self.plan: HalvingPlan | None = None
        self.random = Random(self.settings.seed)
        self.queue: deque[MiniBatch] = deque()
        self.graph = Graph(self.board, self.settings, self.tablebase)

    @property
    def root(self) -> Node:
        """The node of the position that is searched."""
        return self.graph.root

    def run(self, simulations: int | None = None, evaluations: int | None = None) -> None:
        """Search until this call has done so many simulations or evaluations, or nothing is left to do."""
        if simulations is None and evaluations is None:
            raise ValueError("A search needs a limit: simulations, evaluations or both.")
        if self.settings.contempt != 0.0 and self.board.turn != self.graph.side:
            self.start_graph()
        self.complete_proof()
        self.plan = None
        done = self.statistics
        simulations = None if simulations is None else done.simulations + simulations
        evaluations = None if evaluations is None else done.evaluations + evaluations
        idle = 0
        try:
            while idle < self.settings.idle_collections and not (
                self.is_spent(simulations, evaluations) or (self.root.state.is_exact and self.stands())
            ):
                batch = self.collect(simulations, evaluations)
                if batch.leaves:
                    self.queue.append(batch)
                    idle = 0
                if self.queue and (len(self.queue) >= batch.most_in_flight or not batch.leaves):
                    self.apply(self.queue[0])
                    self.queue.popleft()
                elif not batch.leaves:
                    idle += 1
            while self.queue:
                self.apply(self.queue[0])
                self.queue.popleft()
            self.check_choice()
        finally:
            # Only a failing evaluator leaves something here.
            while self.queue:
                self.abandon(self.queue.popleft())

    def is_spent(
        self, simulations: int | None, evaluations: int | None, batch: MiniBatch | None = None
    ) -> bool:
        """Whether a limit is met, counting what is in flight."""
        batches = [*self.queue, batch] if batch is not None else list(self.queue)
        begun = self.statistics.simulations + sum(len(b.leaves) for b in batches)
        evaluated = self.statistics.evaluations + sum(b.evaluations for b in batches)
        return (simulations is not None and begun >= simulations) or (
            evaluations is not None and evaluated >= evaluations
        )

    def width(self) -> tuple[int, int]:
        """Evaluations to a batch and batches in flight, as the visits of the root allow."""
        settings = self.settings
        width = settings.batch_size * settings.batches_in_flight
        if settings.width_visits > 0:
            grown = self.root.visits // settings.width_visits
            if 0 < settings.width_linear < grown:
                grown = isqrt(self.root.visits * settings.width_linear // settings.width_visits)
            width = min(width, 1 + grown)
        batches = min(settings.batches_in_flight, width)
        return width // batches, batches

    def collect(self, simulations: int | None = None, evaluations: int | None = None) -> MiniBatch:
        """Simulate until the batch or a cap is full; what needs no evaluation is backed up at once."""
        settings = self.settings
        collided: list[Trajectory] = []
        if self.root.state.is_exact and not self.stands():
            if self.queue:
                return MiniBatch(most_in_flight=1)
            self.doubt()
        size, most_in_flight = self.width()
        batch = MiniBatch(most_in_flight)
        if settings.dirichlet_epsilon > 0.0 and self.root.edges and not self.root.has_noise:
            add_noise(settings, self.root, self.random)
        self.plan_root(simulations, evaluations)
        self.search_root()
        while (
            batch.evaluations < size
            and (batch.waves == 0 or _lacks(size - batch.evaluations, size, settings.wave_least))
            and batch.collisions < settings.batch_collisions
            and batch.stops < settings.batch_stops
            and batch.terminals < settings.batch_terminals
            and not self.is_spent(simulations, evaluations, batch)
            and not self.root.state.is_exact
        ):
            visits = self.wave_visits(size - batch.evaluations, simulations, evaluations, batch)
            if visits > 0:
                self.collect_wave(batch, visits, collided)
            else:
                trajectory = self.simulate()
                if trajectory is None:
                    break
                self.take(batch, trajectory, collided)
        for trajectory in collided:
            trajectory.mark(-1)
        self.complete_proof()
        return batch

    def take(self, batch: MiniBatch, trajectory: Trajectory, collided: list[Trajectory]) -> None:
        """Back a trajectory up, or let it wait; one that collided is marked until the collection ends."""
        last = trajectory.last
        if trajectory.end is End.LEAF:
            self.add_leaf(batch, trajectory)
        elif trajectory.end is End.COLLISION:
            trajectory.mark(1)
            collided.append(trajectory)
            batch.collisions += 1
            self.statistics.collisions += 1
        elif trajectory.end is End.STOP:
            batch.stops += 1
            self.statistics.stops += 1
            self.back_up(trajectory, last.value)
        elif trajectory.end is End.EXACT:
            batch.terminals += 1
            self.statistics.terminals += 1
            self.back_up(trajectory, last.best_value)
        else:
            batch.terminals += 1
            self.statistics.path_draws += 1
            self.back_up(trajectory, 0.0)

    def wave_visits(
        self, missing: int, simulations: int | None, evaluations: int | None, batch: MiniBatch
    ) -> int:
        """How many visits may go down as a wave now; 0 where they go one by one."""
        settings = self.settings
        is_able = self.root.is_evaluated and settings.allows_waves
        left = self.left(simulations, evaluations, [*self.queue, batch])
        visits = missing if left is None else min(missing, left)
        return visits if is_able and 0 < settings.wave_least <= visits else 0

    def left(
        self, simulations: int | None, evaluations: int | None, batches: Sequence[MiniBatch]
    ) -> int | None:
        """What the limits leave, counting what is in flight; None without a limit."""
        done, found = self.statistics, []
        if simulations is not None:
            found.append(simulations - done.simulations - sum(len(b.leaves) for b in batches))
        if evaluations is not None:
            found.append(evaluations - done.evaluations - sum(b.evaluations for b in batches))
        return min(found, default=None)

    def plan_root(self, simulations: int | None, evaluations: int | None) -> None:
        """Make the plan of a search at a Gumbel root, once the root is evaluated."""
        if self.settings.gumbel and self.plan is None and self.root.is_evaluated and self.root.edges:
            left = self.left(simulations, evaluations, list(self.queue))
            self.plan = HalvingPlan(self.settings, self.root, self.random, left)

    def collect_wave(self, batch: MiniBatch, visits: int, collided: list[Trajectory]) -> None:
        """A wave: first the explorations among its visits, one after another, then the others together."""
        together = visits
        for _ in range(visits):
            constraint = draw_exploration(self.settings, self.random)
            if constraint is None or self.root.state.is_exact:
                continue
            exploration = self.explore(constraint)
            if exploration is not None:
                self.take(batch, exploration, collided)
                together -= 1
        if self.root.state.is_exact or together == 0:
            return
        findings = Descent(self.settings, self.graph).run(self.start_walk(), together)
        settlement = Settlement()
        for finding in findings:
            if finding.is_due:
                assert finding.stem.edge.child is not None
                self.grows_to_mate(finding.stem.edge.child, finding.board)
            elif finding.end is None:
                if finding.stem.edge.child is None:
                    self.open(finding.stem.node, finding.stem.edge, finding.board)
            else:
                self.land(batch, finding, settlement, collided)
        self.statistics.corrections += settlement.back_up(self.settings)
        batch.waves += 1

    def land(
        self, batch: MiniBatch, finding: Finding, settlement: Settlement, collided: list[Trajectory]
    ) -> None:
        """Take note of the end of visits."""
        statistics, stem, visits = self.statistics, finding.stem, finding.visits
        child = stem.edge.child
        assert child is not None
        assert finding.end is not None
        trajectory = Trajectory(stem.path, child, finding.end, finding.board, stem=stem, wave=batch.waves)
        if finding.end is End.COLLISION or (finding.end is End.LEAF and child.is_waiting):
            trajectory.mark(visits)
            collided += [trajectory] * visits
            batch.collisions += visits
            statistics.collisions += visits
            return
        if finding.end is End.LEAF:
            if not self.copies_evaluation(batch, trajectory):
                self.await_evaluation(batch, trajectory)
                return
        elif finding.end is End.STOP:
            batch.stops += visits
            statistics.stops += visits
        else:
            batch.terminals += visits
            statistics.terminals += visits if finding.end is End.EXACT else 0
            statistics.path_draws += visits if finding.end is End.PATH_DRAW else 0
        settlement.add(stem, visits, None, finding.end is End.PATH_DRAW)
        statistics.simulations += visits

    def add_leaf(self, batch: MiniBatch, trajectory: Trajectory) -> None:
        """Let a leaf wait for its evaluation, unless the cache of a tree has it already."""
        if self.copies_evaluation(batch, trajectory):
            self.back_up(trajectory, trajectory.last.value)
        else:
            self.await_evaluation(batch, trajectory)

    def copies_evaluation(self, batch: MiniBatch, trajectory: Trajectory) -> bool:
        """Take the evaluation of an equal leaf, where the cache of a tree has it."""
        leaf = trajectory.last
        if self.settings.backup != "tree+cache" or leaf.key not in self.graph.table:
            return False
        known = self.graph.table[leaf.key]
        assert known.raw is not None
        self.graph.expand(leaf, known.raw, known.priors, trajectory.board)
        batch.stops += 1
        self.statistics.stops += 1
        return True

    def await_evaluation(self, batch: MiniBatch, trajectory: Trajectory) -> None:
        """Let a leaf wait; equal leaves of a tree have one evaluation."""
        leaf = trajectory.last
        leaf.is_waiting = True
        trajectory.mark(1)
        batch.leaves.append(trajectory)
        if leaf.key in batch.keys:
            batch.stops += 1
        else:
            batch.keys.add(leaf.key)
            batch.evaluations += 1

    def start_walk(self) -> Walk:
        """A walk that stands at the root."""
        root = self.root
        return Walk(root, self.board.copy(stack=False), {root.position}, self.history, self.graph.limit)

    def simulate(self) -> Trajectory | None:
        """Algorithm 1: walk down until something gives a value; the trajectory holds where and why it ended.

        None where the plan of a Gumbel root waits for what is in flight.

        Differs from the paper: the gap is tested as |Q_delta|, an edge that is new to a known child stops
        too, and no value is returned: the backup reads it at the last node, so one frame serves both
        algorithms.
        """
        root, walk = self.root, self.start_walk()
        if not root.is_evaluated:
            return Trajectory([], root, End.COLLISION if root.is_waiting else End.LEAF, walk.board)
        constraint = draw_exploration(self.settings, self.random)
        if constraint is not None:
            exploration = self.explore(constraint)
            if exploration is not None:
                return exploration
        if self.plan is None:
            return self.walk_down(walk, None)
        edge, waits = self.plan.select()
        return None if waits else self.walk_down(walk, edge, False)

    def explore(self, constraint: Constraint) -> Trajectory | None:
        """A simulation that explores; None gives it up."""
        walk, edge = find_branch(self.start_walk(), constraint, self.random)
        return None if edge is None else self.walk_down(walk, edge)

    def walk_down(self, walk: Walk, edge: Edge | None, is_exploration: bool = True) -> Trajectory:
        """Walk until the trajectory ends, by the edge of an exploration or of a plan first."""
        is_exploration = is_exploration and edge is not None
        path: list[tuple[Node, Edge]] = []
        while True:
            node = walk.node
            if edge is None:
                edge = select_edge(self.settings, self.graph, node, walk.board)
            play(walk.board, edge.move)
            if edge.child is None:
                self.open(node, edge, walk.board)
            child = edge.child
            assert child is not None
            path.append((node, edge))
            end = self.end_at(child, edge, walk)
            if end is End.EXACT and self.takes_proofs and self.settings.solver_rule != "exact-win-2":
                inform_trajectory(self.settings, [node for node, _ in reversed(path)])
            if end is not None:
                return Trajectory(path, child, end, walk.board, is_exploration)
            walk.step(child)
            edge = None

    def end_at(self, child: Node, edge: Edge, walk: Walk) -> End | None:
        """Why a trajectory ends at the child it just reached; None when it goes on."""
        if walk.is_path_draw(child):
            return End.PATH_DRAW
        if child.state.is_exact:
            return End.EXACT
        if not child.is_evaluated:
            return End.COLLISION if child.is_waiting else End.LEAF
        if self.grows_to_mate(child, walk.board):
            return End.EXACT
        if stops(self.settings, edge, child):
            return End.STOP
        return None

    def open(self, node: Node, edge: Edge, board: chess.Board) -> None:
        """Give the edge its child, and inform the parents of a solved one; `board` stands after the move."""
        child, known = self.graph.open(node, edge, board)
        self.statistics.transposition_links += known
        by_rule = self.settings.solver_rule == "exact-win-2"
        if self.takes_proofs and by_rule and child.state is not State.UNKNOWN:
            mark_pruned(edge)
            inform(node)

    def apply(self, batch: MiniBatch) -> None:
        """Evaluate the leaves of a batch, equal ones once, and back them up in order."""
        results: dict[MergeKey, tuple[float, list[float]]] = {}
        mates: dict[MergeKey, int] = {}
        for trajectory in batch.leaves:
            leaf = trajectory.last
            if leaf.key in results:
                continue
            results[leaf.key] = self.evaluate(leaf, trajectory.board)
            plies = self.mate_of_leaf(trajectory.board, results[leaf.key][0])
            if plies is not None:
                mates[leaf.key] = plies
        self.statistics.evaluations += len(results)
        settlement = Settlement()
        for trajectory, following in zip(batch.leaves, [*batch.leaves[1:], None], strict=True):
            leaf = trajectory.last
            raw, priors = results[leaf.key]
            if leaf.key in mates:
                raw = 1.0
            self.graph.expand(leaf, raw, priors, trajectory.board)
            trajectory.mark(-1)
            if leaf.key in mates:
                win(leaf, mates[leaf.key])
            if trajectory.stem is None:
                self.back_up(trajectory, raw)
                continue
            # The leaves of a wave are backed up together, when all of them are evaluated.
            settlement.add(trajectory.stem, 1, raw)
            self.statistics.simulations += 1
            if following is None or following.stem is None or following.wave != trajectory.wave:
                self.statistics.corrections += settlement.back_up(self.settings)
        self.complete_proof()

    def evaluate(self, node: Node, board: chess.Board) -> tuple[float, list[float]]:
        """U and P of a node, as the network f_theta sees it."""
        value, logits = self.evaluator(board, node.moves)
        if len(logits) != len(node.moves):
            raise ValueError(f"The evaluator gave {len(logits)} logits for {len(node.moves)} legal moves.")
        priors = softmax_priors([to_f32(logit) for logit in logits], self.settings.node_temperature)
        return to_f32(value), priors

    @property
    def takes_proofs(self) -> bool:
        """Whether proofs are used: not after the game's history has broken two proofs of the root."""
        return self.settings.solver and self.doubts < 2

    @property
    def drawn(self) -> set[str]:
        """The positions that have occurred twice in the game, the root included: to return is a draw."""
        seen = self.history + Counter([self.root.position])
        return {position for position, count in seen.items() if count >= 2}

    def mate_of_leaf(self, board: chess.Board, raw: float) -> int | None:
        """The plies of a mate at a new leaf, if its value calls for the search and there is one."""
        settings = self.settings
        if not self.takes_proofs or settings.mate_leaf == 0 or raw < settings.mate_leaf_value:
            return None
        verdict, plies = find_mate(board, self.drawn, settings.mate_leaf)
        return plies if verdict is MateAnswer.WIN else None

    def grows_to_mate(self, node: Node, board: chess.Board) -> bool:
        """Search a node for a mate each time its visits have doubled; returns whether it is won."""
        growth = self.settings.mate_growth
        if growth == 0.0 or not self.takes_proofs or not is_due(self.settings, node):
            return False
        return search_node(self.settings, node, board, self.drawn, growing_budget(growth, node))

    def search_root(self) -> None:
        """The same for the root."""
        root, growth = self.root, self.settings.mate_root
        if growth > 0.0 and self.takes_proofs and root.is_evaluated and is_due(self.settings, root):
            search_node(self.settings, root, self.board, self.drawn, int(growth * root.visits))

    def check_choice(self) -> None:
        """Search the position after the move to play for a mate by the opponent; then play another move."""
        budget = min(int(self.settings.mate_root * self.root.visits), MOST_POSITIONS_AT_CHOICE)
        if budget == 0 or not self.takes_proofs:
            return
        for _ in range(MOST_CHOICES):
            if self.root.state.is_exact or not self.choice_loses(budget):
                break
        self.complete_proof()

    def choice_loses(self, budget: int) -> bool:
        """Whether a mate by the opponent is found after the move that would be played."""
        move = self.best_move()
        child = next((edge.child for edge in self.root.open_edges if edge.move == move), None)
        if move is None or child is None or not child.is_evaluated or child.state is not State.UNKNOWN:
            return False
        if child.has_no_mate or child.position in self.drawn:
            return False
        board = self.board.copy(stack=False)
        play(board, move)
        return search_node(self.settings, child, board, self.drawn, budget)

    def complete_proof(self) -> None:
        """Make the proof of the root whole, where it rests on mates."""
        complete(self.graph, self.board, self.drawn)

    def back_up(self, trajectory: Trajectory, v: float) -> None:
        """Carry v up the trajectory: one simulation more."""
        self.statistics.simulations += 1
        self.statistics.explorations += trajectory.is_exploration
        self.statistics.corrections += back_up(self.settings, trajectory, v)

    def abandon(self, batch: MiniBatch) -> None:
        """Take back the marks of a batch that will not be applied."""
        for trajectory in batch.leaves:
            trajectory.last.is_waiting = False
            trajectory.mark(-1)

    def stands(self) -> bool:
        """Whether what is proven about the root holds in this game, with its repetitions and its clock."""
        if self.root.state is State.DRAW:
            return True
        return holds(self.root, self.board, Counter(self.history), self.graph.limit)

    def doubt(self) -> None:
        """Begin anew, as the game's history breaks the proof of the root; the second time without proofs."""
        doubts = self.doubts + 1
        self.start_graph()
        self.doubts = doubts

    def advance(self, move: chess.Move) -> None:
        """Play a move at the root: keep the graph below it, free the rest, or start a new graph."""
        if move not in self.board.legal_moves:
            raise ValueError(f"{move} is not legal in {self.board.fen()}.")
        code = move_code(self.board, move)
        child = next((e.child for e in self.root.open_edges if e.code == code), None)
        self.history[self.root.position] += 1
        play(self.board, move)
        self.board.clear_stack()
        child = child or self.graph.find(self.board, canonical_text(self.board))
        if child is None:
            self.start_graph()
            return
        self.graph.advance(child)
        self.plan = None
        self.doubts = 0

    def best_move(self) -> chess.Move | None:
        """The move to play, drawn from `root_policy` by a generator of its own; None at the end of a game."""
        forced = forced_edge(self.settings, self.root) if self.settings.solver else None
        if self.plan is not None and forced is None:
            planned = self.plan.choice()
            if planned is not None:
                return planned.move
        policy = root_policy(self.settings, self.root)
        if not policy:
            return self.root.moves[0] if self.root.moves and not self.root.is_terminal else None
        if len(policy) == 1:
            return policy[0][0]
        if self.settings.temperature == 0.0:
            return max(policy, key=lambda pair: pair[1])[0]
        r = Random(mix(self.settings.seed ^ mix(self.board.ply()))).uniform()
        bound = 0.0
        for move, p in policy:
            bound += p
            if r < bound:
                return move
        return policy[-1][0]


def _lacks(missing: int, size: int, least: int) -> bool:
    """Whether the leaves that are missing in a batch are worth a wave, or more than a quarter of it."""
    return missing >= least or 4 * missing > size
