// Proofs of forced wins and losses: requested from the server, and laid out as a tree. The longest line runs
// along the first row; each further defence has a row of its own.
import type { App } from './app';
import { stopSearch } from './app';
import { gameSoFar } from './current';
import type { Proof } from './protocol';
import { playOn } from './rules';
import type { State } from './state';

const SECONDS = 5;

/** Look for a proof in the position on the board, or in the selected node of the graph. */
export function prove(app: App): void {
  const { state } = app;
  stopSearch(app);
  state.analysis.running = false;
  state.proof = null;
  const path = state.selected?.path ?? [];
  const id = app.nextId();
  state.request = { id, purpose: 'proof' };
  proving = path;
  if (state.mode === 'games') {
    const { game: name, moves, at } = state.grid;
    app.send({
      type: 'grid-prove',
      id,
      game: { name, moves: [...moves.slice(0, at), ...path] },
      seconds: SECONDS,
    });
  } else {
    const game = gameSoFar(state);
    app.send({ type: 'prove', id, game: { ...game, moves: [...game.moves, ...path] }, seconds: SECONDS });
  }
  app.redraw();
}

let proving: string[] = [];

export function onProof(app: App, proof: Proof): void {
  const { state } = app;
  state.request = null;
  state.proof = { ...proof, path: proving };
  state.announcement = verdict(proof);
  app.redraw();
}

/** What was found, as a sentence. */
export function verdict(proof: Proof): string {
  if (!proof.result) {
    const tried = `${proof.positions.toLocaleString('en')} positions`;
    return proof.no_win
      ? `The side to move has no forced win (${tried}).`
      : `Nothing is proven after ${proof.seconds.toFixed(1)} s and ${tried}.`;
  }
  const length = proof.mate === null ? '' : ` in ${Math.abs(proof.mate)}`;
  return `The side to move ${proof.result === 'win' ? 'wins' : 'loses'}${length}.`;
}

export interface ProofNode {
  id: number;
  parent: number | null;
  /** The moves from the root of the proof. */
  path: string[];
  move: string;
  san: string;
  fen: string | null;
  depth: number;
  row: number;
  /** The move is the winner's. */
  isWinner: boolean;
  isEnd: boolean;
  same: number | null;
  hidden: number;
}

export interface ProofTree {
  nodes: ProofNode[];
  rows: number;
  depth: number;
}

/** The nodes of a proof with their places: depth from the left, and row. */
export function treeOf(proof: Proof, rules: Pick<State['game'], 'variant' | 'chess960'> | null): ProofTree {
  const { parent, move, plies, same, hidden } = proof.tree;
  const nodes: ProofNode[] = [];
  const children: number[][] = parent.map(() => []);
  parent.forEach((above, id) => {
    const from = above === null ? undefined : nodes[above];
    if (above !== null) children[above]?.push(id);
    const uci = move[id] ?? '';
    const played = rules && from?.fen ? playOn(rules.variant, rules.chess960, from.fen, uci) : undefined;
    const depth = from ? from.depth + 1 : 0;
    nodes.push({
      id,
      parent: above,
      path: from ? [...from.path, uci] : [],
      move: uci,
      san: played?.san ?? uci,
      fen: from ? (played?.fen ?? null) : rules ? proof.fen : null,
      depth,
      row: 0,
      isWinner: (depth % 2 === 1) === (proof.result === 'win'),
      isEnd: plies[id] === 0,
      same: same[id] ?? null,
      hidden: hidden[id] ?? 0,
    });
  });
  let rows = 0;
  const place = (id: number): void => {
    const node = nodes[id];
    if (!node) return;
    node.row = rows;
    const below = children[id] ?? [];
    if (!below.length) rows += 1;
    below.forEach(place);
  };
  if (nodes.length) place(0);
  return { nodes, rows, depth: Math.max(0, ...nodes.map((node) => node.depth)) };
}
