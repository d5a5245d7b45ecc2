// A game as a tree of moves: the main line and variations. Knows nothing of the page.
import type { Summary } from './protocol';
import type { Color, Played, Variant } from './rules';
import { fenOf, playOn, positionOf, START } from './rules';

/** The engine's score of a position, for White. */
export interface Judgement {
  cp: number;
  mate: number | null;
  value: number;
  visits: number;
}

export interface TreeNode {
  id: number;
  parent: number | null;
  children: number[];
  uci: string;
  san: string;
  fen: string;
  /** Comments after the move, as PGN has them. */
  comments?: string[];
  /** Comments before the first move of a variation. */
  startingComments?: string[];
  nags?: number[];
  judgement?: Judgement;
  /** The game was judged; its evaluation is written to PGN. */
  isJudged?: boolean;
  /** The glyph among `nags` that the judgement has set. */
  mark?: number | undefined;
  /** The move was the engine's choice. */
  isBest?: boolean;
}

/** A game. The root is node 0; the first child of a node is the main line. */
export interface Game {
  variant: Variant;
  chess960: boolean;
  headers: Record<string, string>;
  /** It came as PGN; its headers stay as they are. */
  isImported?: boolean;
  /** How the players did, if the game was judged. */
  summary?: Record<Color, Summary>;
  nodes: Record<number, TreeNode>;
  nextId: number;
}

export const ROOT = 0;

export function newGame(variant: Variant, fen: string = START[variant], chess960 = false): Game {
  const normal = fenOf(positionOf(variant, fen));
  const root: TreeNode = { id: ROOT, parent: null, children: [], uci: '', san: '', fen: normal };
  return { variant, chess960, headers: {}, nodes: { [ROOT]: root }, nextId: 1 };
}

export function nodeOf(game: Game, id: number): TreeNode {
  const node = game.nodes[id];
  if (!node) throw new Error(`there is no node ${id}`);
  return node;
}

/** Add a move (UCI or SAN) below a node, or find it there. Returns undefined if the move is illegal. */
export function addMove(game: Game, at: number, text: string): TreeNode | undefined {
  const parent = nodeOf(game, at);
  const played = playOn(game.variant, game.chess960, parent.fen, text);
  if (!played) return undefined;
  const known = parent.children.map((id) => nodeOf(game, id)).find((child) => child.uci === played.uci);
  return known ?? attach(game, parent, played);
}

/** Add a move even if it is there: a PGN may have a variation that begins with the same move. */
export function attach(game: Game, parent: TreeNode, played: Played): TreeNode {
  const node: TreeNode = { id: game.nextId++, parent: parent.id, children: [], ...played };
  game.nodes[node.id] = node;
  parent.children.push(node.id);
  return node;
}

/** Store an evaluation with its node, unless it has a deeper one: a mate, or more visits. */
export function storeJudgement(node: TreeNode, found: Judgement): void {
  const known = node.judgement;
  if (known && known.mate !== null && found.mate === null) return;
  if (known && (known.mate === null) === (found.mate === null) && known.visits > found.visits) return;
  node.judgement = { value: found.value, cp: found.cp, mate: found.mate, visits: found.visits };
}

/** The nodes from the root to a node, both included. */
export function pathTo(game: Game, id: number): TreeNode[] {
  const path: TreeNode[] = [];
  for (let at: number | null = id; at !== null; at = nodeOf(game, at).parent) path.push(nodeOf(game, at));
  return path.reverse();
}

export function movesTo(game: Game, id: number): string[] {
  return pathTo(game, id)
    .slice(1)
    .map((node) => node.uci);
}

/** The last node of the main line below a node. */
export function endOfLine(game: Game, id: number): number {
  let node = nodeOf(game, id);
  for (let next = node.children[0]; next !== undefined; next = node.children[0]) node = nodeOf(game, next);
  return node.id;
}

/** The line through a node: from the root to the end of the node's main line. */
export function lineThrough(game: Game, id: number): TreeNode[] {
  return pathTo(game, endOfLine(game, id));
}

/** Make the line to a node the main line. */
export function promote(game: Game, id: number): void {
  for (const node of pathTo(game, id)) {
    if (node.parent === null) continue;
    const siblings = nodeOf(game, node.parent).children;
    siblings.splice(siblings.indexOf(node.id), 1);
    siblings.unshift(node.id);
  }
}

/** Remove a node and all below it. Returns its parent. */
export function remove(game: Game, id: number): number {
  const node = nodeOf(game, id);
  if (node.parent === null) return id;
  const siblings = nodeOf(game, node.parent).children;
  siblings.splice(siblings.indexOf(id), 1);
  const dropped = [id];
  for (let next = dropped.pop(); next !== undefined; next = dropped.pop()) {
    dropped.push(...nodeOf(game, next).children);
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- the record is a table of nodes
    delete game.nodes[next];
  }
  return node.parent;
}

/** The ply of a position: 0 is White's first move. */
export function plyOf(fen: string): number {
  const fields = fen.split(' ');
  return 2 * (Number(fields[5] ?? '1') - 1) + (fields[1] === 'b' ? 1 : 0);
}
