"""The paper in Python: Monte-Carlo graph search on python-chess boards, to be read rather than to be fast.

It is the executable form of `docs/algorithm.md`, step by step and tie by tie; the Rust core is tested against
it edge by edge. It uses python-chess and the standard library, and nothing of the core. The files in reading
order:

- `settings`: every constant, and the presets.
- `random`: the source of chance.
- `board`: the rules, on python-chess boards.
- `formulas`: Eq. (4) to (10) on plain numbers; the priors of a node.
- `graph`: nodes, edges, and the table in which equal positions meet.
- `path`: one simulation: where it stands, what it leaves, draws of its path.
- `proof_numbers`: how far nodes are from a proof; not in the paper.
- `improved`: Eq. (G1) to (G4): the improved policy of Gumbel AlphaZero; not in the paper.
- `gumbel`: Eq. (G5), (G6): its root; not in the paper.
- `ucb`: Eq. (1), (2): UCT and UCD.
- `select`: Eq. (3): the edge that a simulation follows.
- `explore`: Eq. (11): simulations that start below the root; noise.
- `transposition`: when a simulation stops at a known node; the correction.
- `backup`: Algorithm 2: a value on its way up.
- `wave`, `settle`: many visits on their way down together; their values on the way up; not in the paper.
- `batch`: the trajectories of a mini-batch; counters.
- `solver`: Algorithm 3: proofs on their way up.
- `mates`: forced wins by proof numbers, over the rules alone; not in the paper.
- `forced`: which nodes are searched for a mate, and how its proof joins the graph.
- `policy`: Eq. (12) to (15): the move that is played.
- `search`: Algorithm 1, and the order of all verbs.
- `leak`: how far edges are from their children.
- `evaluators`: three evaluators that need no network.

`docs/paper.md` lists for every equation the file and the function.
"""

from anabranch.reference.batch import MiniBatch
from anabranch.reference.board import canonical_text, ending, is_threat, legal_moves, move_code, satisfies
from anabranch.reference.explore import branch_depth, branch_edge
from anabranch.reference.formulas import (
    c_puct,
    clip,
    q_delta,
    q_phi,
    running_mean,
    softmax_priors,
    to_f16,
    to_f32,
    u_value,
    v_star,
)
from anabranch.reference.graph import Edge, MergeKey, Node, State
from anabranch.reference.gumbel import HalvingPlan, draw_gumbel, halvings, largest, visits_of_phase
from anabranch.reference.improved import (
    Prospect,
    improved_logits,
    improved_policy,
    improved_root,
    least_served,
    mixed_value,
    prospect_of,
    sigma,
)
from anabranch.reference.leak import edge_leak, node_leak
from anabranch.reference.mates import MateAnswer, MateSearch, read_proof
from anabranch.reference.path import End, Trajectory, Walk
from anabranch.reference.policy import (
    lcb_policy,
    linear_policy,
    pi_corr,
    q_gap,
    q_value_policy,
    secure_policy,
    sharpen,
    visit_policy,
)
from anabranch.reference.proof_numbers import INFINITE, numbers_of_edge, numbers_of_node, proof_terms, refresh
from anabranch.reference.random import Random
from anabranch.reference.search import ReferenceEvaluator, Search
from anabranch.reference.select import edge_value, select_edge, unvisited_value
from anabranch.reference.settings import PRESETS, Constraint, ReferenceSettings
from anabranch.reference.solver import inform_trajectory, solve
from anabranch.reference.ucb import Below, exploration, select_ucb

__all__ = [
    "INFINITE",
    "PRESETS",
    "Below",
    "Constraint",
    "Edge",
    "End",
    "HalvingPlan",
    "MateAnswer",
    "MateSearch",
    "MergeKey",
    "MiniBatch",
    "Node",
    "Prospect",
    "Random",
    "ReferenceEvaluator",
    "ReferenceSettings",
    "Search",
    "State",
    "Trajectory",
    "Walk",
    "branch_depth",
    "branch_edge",
    "c_puct",
    "canonical_text",
    "clip",
    "draw_gumbel",
    "edge_leak",
    "edge_value",
    "ending",
    "exploration",
    "halvings",
    "improved_logits",
    "improved_policy",
    "improved_root",
    "inform_trajectory",
    "is_threat",
    "largest",
    "lcb_policy",
    "least_served",
    "legal_moves",
    "linear_policy",
    "mixed_value",
    "move_code",
    "node_leak",
    "numbers_of_edge",
    "numbers_of_node",
    "pi_corr",
    "proof_terms",
    "prospect_of",
    "q_delta",
    "q_gap",
    "q_phi",
    "q_value_policy",
    "read_proof",
    "refresh",
    "running_mean",
    "satisfies",
    "secure_policy",
    "select_edge",
    "select_ucb",
    "sharpen",
    "sigma",
    "softmax_priors",
    "solve",
    "to_f16",
    "to_f32",
    "u_value",
    "unvisited_value",
    "v_star",
    "visit_policy",
    "visits_of_phase",
]
