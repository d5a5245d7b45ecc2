// The messages between page and server, as in `anabranch/web/messages.py`, `report.py` and `server.py`.
import type { GridPosition } from './grid';
import type { Variant } from './rules';

export type Verdict = 'unknown' | 'win' | 'draw' | 'loss' | 'tb-win' | 'tb-draw' | 'tb-loss';
export type Setting = boolean | number | string;

export interface GameSoFar {
  variant: Variant;
  chess960: boolean;
  fen: string;
  moves: string[];
}

/** A game on a grid up to a position; its name has the parameters. */
export interface GridSoFar {
  name: string;
  moves: string[];
}

export interface SearchConfig {
  preset: string;
  /** An installed network by its name; none for the evaluator of the server. */
  network?: string | null;
  changes: Record<string, Setting>;
}

/** What a search uses of the machine; null for all that the server allows. */
export interface Machine {
  threads: number | null;
  /** MB. */
  memory: number | null;
  tablebases: boolean;
}

export interface View {
  nodes: number;
  depth: number;
  visits: number;
}

export interface ClockLeft {
  by: 'clock';
  left: number;
  increment: number;
}

export type Level =
  | { by: 'elo'; elo: number }
  | { by: 'evaluations'; evaluations: number }
  | { by: 'seconds'; seconds: number }
  | { by: 'human'; rating: number }
  | ClockLeft;

export type ClientMessage =
  | {
      type: 'analyse';
      id: number;
      game: GameSoFar;
      configs: SearchConfig[];
      machine: Machine;
      lines: number;
      seconds?: number;
      view: View | null;
    }
  | {
      type: 'play';
      id: number;
      game: GameSoFar;
      config: SearchConfig;
      machine: Machine;
      level: Level;
      clock: ClockLeft | null;
    }
  | {
      type: 'judge';
      id: number;
      game: GameSoFar;
      config: SearchConfig;
      machine: Machine;
      seconds: number;
    }
  | { type: 'prove'; id: number; game: GameSoFar; seconds: number }
  | {
      type: 'grid-analyse';
      id: number;
      game: GridSoFar;
      configs: SearchConfig[];
      machine: Machine;
      lines: number;
      view: View | null;
    }
  | {
      type: 'grid-play';
      id: number;
      game: GridSoFar;
      config: SearchConfig;
      machine: Machine;
      level: Level;
    }
  | { type: 'grid-prove'; id: number; game: GridSoFar; seconds: number }
  | { type: 'grid-position'; id: number; game: GridSoFar }
  | { type: 'watch'; view: View | null }
  | { type: 'openings'; variant: Variant }
  | { type: 'networks' }
  | { type: 'stop' };

export interface SettingRow {
  name: string;
  meaning: string;
  choices: string[];
  minimum: number | null;
  maximum: number | null;
}

/** A game on a grid. */
export interface GameRow {
  name: string;
  rules: string;
  moves: string;
  parameters: { name: string; default: string; takes: string; meaning: string }[];
}

export interface Hello {
  type: 'hello';
  version: string;
  /** The settings of each preset, by variant. */
  presets: Record<string, Record<Variant, Record<string, Setting>>>;
  settings: SettingRow[];
  games: GameRow[];
  elo: [number, number];
  /** Above this Elo the scale is extrapolated. */
  measured_elo: number;
  seconds: number;
  nodes: number;
  machine: {
    threads: number;
    /** MB, the least and the most. */
    memory: [number, number];
    tablebases: { men: number; files: number } | null;
    /** The evaluator of each variant: `bundled`, or the name of what was given to the server. */
    evaluators: Record<Variant, string>;
  };
}

/** An installed network. */
export interface NetworkRow {
  name: string;
  variant: Variant;
  architecture: string | null;
  /** The rating of the players that it imitates. */
  human: number | null;
}

/** Values are for the side to move. */
export interface Line {
  moves: string[];
  value: number;
  /** Games on a grid have none. */
  cp: number | null;
  mate: number | null;
  visits: number;
  state: Verdict;
  plies: number | null;
  wdl: [number, number, number];
}

export interface MoveRow {
  move: string;
  visits: number;
  q: number | null;
  prior: number;
  policy: number;
  child: number | null;
  state: Verdict;
  plies: number | null;
}

export interface Statistics {
  visits: number;
  nodes: number;
  edges: number;
  transpositions: number;
  corrections: number;
  solved: number;
  leak: number;
  mean_depth: number;
  max_depth: number;
  bytes: number;
  tablebase_hits: number;
}

export interface Report {
  side: 0 | 1;
  elapsed: number;
  speed?: number;
  fen: string;
  best: string;
  value: number;
  /** Games on a grid have none. */
  cp: number | null;
  solved: { state: Verdict; plies: number | null; mate: number | null } | null;
  lines: Line[];
  moves: MoveRow[];
  statistics: Statistics;
}

/** A part of the graph, in columns: one array for each field. */
export interface GraphColumns {
  nodes: {
    position: string[];
    depth: number[];
    visits: number[];
    value: number[];
    raw: number[];
    state: Verdict[];
    plies: (number | null)[];
    transposition: boolean[];
    legal: number[];
  };
  edges: {
    source: number[];
    target: number[];
    move: string[];
    visits: number[];
    q: number[];
    prior: number[];
    child_value: number[];
    pruned: boolean[];
  };
}

/** What sharing does to the moves of the root; values are for the side to move there. */
export interface Sharing {
  best: string | null;
  best_alone: string | null;
  lead: number;
  decides: boolean;
  moves: { move: string; visits: number; shared: number; alone: number }[];
  nodes: {
    position: string;
    depth: number;
    visits: number;
    lines: string[][];
    parents: number;
    gains: Record<string, number>;
    decides: boolean;
  }[];
}

/** A forced win or loss of the side to move, and the tree of its proof in columns. */
export interface Proof {
  fen: string;
  result: 'win' | 'loss' | null;
  mate: number | null;
  plies: number | null;
  no_win: boolean;
  positions: number;
  proof: number;
  seconds: number;
  tree: {
    parent: (number | null)[];
    move: string[];
    plies: number[];
    /** The node of the tree that has the same position, if there is one before. */
    same: (number | null)[];
    /** Moves that are left out. */
    hidden: number[];
  };
}

/** An evaluation for White. */
export interface Evaluation {
  value: number;
  cp: number;
  mate: number | null;
  visits: number;
}

/** How one player did. */
export interface Summary {
  moves: number;
  accuracy: number | null;
  mean_loss: number | null;
  inaccuracies: number;
  mistakes: number;
  blunders: number;
}

export interface JudgedMove {
  loss: number;
  name: string | null;
  /** It is the engine's choice. */
  best: boolean;
  nags: number[];
  /** A mate that was missed, in words. */
  missed: string | null;
  /** Better lines. */
  lines: string[][];
}

export interface Judged {
  /** Of the first position, and of the one after every move. */
  evaluations: Evaluation[];
  moves: JudgedMove[];
  white: Summary;
  black: Summary;
}

export type ServerMessage =
  | Hello
  | ({ type: 'report'; id: number } & Report)
  | ({ type: 'graph'; id: number; side: 0 | 1; sharing: Sharing } & GraphColumns)
  | ({ type: 'proof'; id: number } & Proof)
  | ({ type: 'judging'; id: number; ply: number } & Evaluation)
  | ({ type: 'judged'; id: number } & Judged)
  | ({ type: 'grid-position'; id: number } & GridPosition)
  | { type: 'move'; id: number; move: string; report: Report | null }
  | { type: 'openings'; variant: Variant; positions: [string, string][] }
  | { type: 'networks'; networks: NetworkRow[] }
  | { type: 'done'; id: number; finish: string }
  | { type: 'error'; id: number | null; message: string };
