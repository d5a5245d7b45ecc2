// The state of the page, its initial value, and its storage in the browser. Everything on the screen is a
// function of the state.
import type { Clock } from './clock';
import type { Graph } from './graph/model';
import type { Editor } from './editor';
import type { GridPosition, Side } from './grid';
import type { PgnEntry } from './pgnFile';
import type { Hello, Machine, NetworkRow, Proof, SearchConfig, Report, View } from './protocol';
import type { Color, Outcome, Role, SquareName, Variant } from './rules';
import type { ConnectionState } from './socket';
import type { Game } from './tree';
import { newGame, ROOT } from './tree';

export type Mode = 'play' | 'analyse' | 'graph' | 'games';
export type Theme = 'system' | 'light' | 'dark';
export type Dialog = 'import' | 'openings' | 'games' | 'editor' | 'settings' | null;
export type BoardColours = 'slate' | 'brown' | 'green' | 'blue' | 'grey';
export type PieceSet = 'cburnett' | 'letters';

export interface Strength {
  by: 'elo' | 'evaluations' | 'seconds' | 'human';
  elo: number;
  evaluations: number;
  seconds: number;
  /** Of the people to imitate. */
  rating?: number;
}

export interface Match {
  human: Color;
  /** The node of the last move of the match; moves beyond it were tried in analysis. */
  tip: number;
  strength: Strength;
  /** An installed network; none for the evaluator of the server. */
  network?: string | null;
  clock: Clock | null;
  /** The value of the engine's last search for the engine, if it searched. */
  engineValue?: number | undefined;
  outcome: Outcome | null;
}

/** The form of a new match. */
export interface MatchForm {
  variant: Variant;
  chess960: boolean;
  fromHere: boolean;
  colour: Color | 'random';
  strength: Strength;
  network?: string | null;
  clocks: boolean;
  minutes: number;
  increment: number;
}

/** The result of one configuration, for comparison with others. */
export interface Trial {
  label: string;
  move: string;
  cp: number;
  visits: number;
  depth: number;
  transpositions: number;
  solved: number;
  leak: number;
}

export interface Analysis {
  running: boolean;
  compare: boolean;
  lines: number;
  configs: [SearchConfig, SearchConfig];
  reports: [Report | null, Report | null];
  graphs: [Graph | null, Graph | null];
  /** Earlier graphs of this search, thinned out; and the one that is shown, null for the newest. */
  history: [Graph[], Graph[]];
  shownMoment: number | null;
  /** The request that was stopped: its last report and graph are still to come. */
  stopped: number | null;
  finish: string | null;
  trials: { fen: string; rows: Trial[] };
  /** Nodes of the game that are being judged, and those of them that are still to come. */
  judging: number[];
  sweep: number[];
  /** Seconds for each position of a game that is judged. */
  judgeSeconds: number;
}

export interface GridLevel {
  by: 'evaluations' | 'seconds';
  evaluations: number;
  seconds: number;
}

/** The form of a new game on a grid. */
export interface GridForm {
  name: string;
  parameters: Record<string, string>;
  human: Side;
  level: GridLevel;
}

export interface GridMatch {
  human: Side;
  level: GridLevel;
}

/** The game on a grid: its moves, and how many of them are played on the board. */
export interface GridState {
  form: GridForm;
  /** With its parameters, `hex:size=7`. */
  game: string;
  moves: string[];
  at: number;
  match: GridMatch | null;
  /** What the server said about the position; it may be that of the move before. */
  position: GridPosition | null;
  lookId: number;
  /** The piece that was chosen to move. */
  from: string | null;
}

/** The games of an opened file. */
export interface Collection {
  name: string;
  entries: PgnEntry[];
  /** The game on the board, if it is one of these. */
  index: number | null;
  /** The PGN of that game as it was opened. */
  opened: string;
}

export interface State {
  mode: Mode;
  game: Game;
  current: number;
  orientation: Color;
  connection: ConnectionState;
  connectionReason: string;
  hello: Hello | null;
  match: Match | null;
  form: MatchForm;
  /** The running request: its id and purpose. */
  request: { id: number; purpose: 'move' | 'hint' | 'analysis' | 'sweep' | 'proof' | 'grid-move' } | null;
  machine: Machine;
  /** The installed networks of the server. */
  networks: NetworkRow[];
  board: { colours: BoardColours; pieces: PieceSet };
  /** The last proof, and the moves from the position on the board to where it begins. */
  proof: (Proof & { path: string[] }) | null;
  hint: string | null;
  /** The user was asked whether to resign. */
  isResigning: boolean;
  analysis: Analysis;
  view: View;
  viewSide: 0 | 1;
  /** The node of the graph that is shown on the board. */
  selected: { key: string; fen: string; path: string[] } | null;
  arrows: boolean;
  theme: Theme;
  sound: boolean;
  dialog: Dialog;
  /** The openings that the server has sent: name and FEN. */
  openings: Partial<Record<Variant, [string, string][]>>;
  openingNumber: number;
  grid: GridState;
  editor: Editor | null;
  collection: Collection | null;
  gamesFilter: string;
  importText: string;
  importError: string;
  promotion: { from: SquareName; to: SquareName; colour: Color } | null;
  dropRole: Role | null;
  cursor: SquareName | null;
  keyboardFrom: SquareName | null;
  typed: string;
  /** The text for screen readers. */
  announcement: string;
  notice: string;
}

export const DEFAULT_CONFIG: SearchConfig = { preset: 'default', changes: {} };

export function initialState(): State {
  return {
    mode: 'play',
    game: newGame('chess'),
    current: ROOT,
    orientation: 'white',
    connection: 'connecting',
    connectionReason: '',
    hello: null,
    match: null,
    form: {
      variant: 'chess',
      chess960: false,
      fromHere: false,
      colour: 'white',
      strength: { by: 'elo', elo: 1500, evaluations: 800, seconds: 1 },
      clocks: false,
      minutes: 5,
      increment: 3,
    },
    request: null,
    machine: { threads: null, memory: null, tablebases: true },
    networks: [],
    board: { colours: 'slate', pieces: 'cburnett' },
    proof: null,
    hint: null,
    isResigning: false,
    analysis: {
      running: false,
      compare: false,
      lines: 3,
      configs: [DEFAULT_CONFIG, { preset: 'alphazero', changes: {} }],
      reports: [null, null],
      graphs: [null, null],
      history: [[], []],
      shownMoment: null,
      stopped: null,
      finish: null,
      trials: { fen: '', rows: [] },
      judging: [],
      sweep: [],
      judgeSeconds: 0.5,
    },
    view: { nodes: 300, depth: 12, visits: 1 },
    viewSide: 0,
    selected: null,
    arrows: true,
    theme: 'system',
    sound: false,
    dialog: null,
    openings: {},
    openingNumber: 1,
    grid: {
      form: {
        name: 'connect-four',
        parameters: {},
        human: 'x',
        level: { by: 'evaluations', evaluations: 5000, seconds: 1 },
      },
      game: 'connect-four',
      moves: [],
      at: 0,
      match: null,
      position: null,
      lookId: 0,
      from: null,
    },
    editor: null,
    collection: null,
    gamesFilter: '',
    importText: '',
    importError: '',
    promotion: null,
    dropRole: null,
    cursor: null,
    keyboardFrom: null,
    typed: '',
    announcement: '',
    notice: '',
  };
}

const SAVED_KEYS = [
  'mode',
  'game',
  'current',
  'orientation',
  'match',
  'form',
  'grid',
  'view',
  'arrows',
  'theme',
  'board',
  'machine',
  'sound',
] as const;
const VERSION = 2;
const STORAGE_KEY = 'anabranch';

/** The part of the state that is saved in the browser, as JSON. */
export function serialize(state: State): string {
  const values = Object.fromEntries(SAVED_KEYS.map((key) => [key, state[key]]));
  const { compare, lines, configs, judgeSeconds } = state.analysis;
  return JSON.stringify({ version: VERSION, ...values, analysis: { compare, lines, configs, judgeSeconds } });
}

/** The state from saved JSON; the initial state if it cannot be read. */
export function deserialize(text: string | null): State {
  const state = initialState();
  try {
    const values = JSON.parse(text ?? 'null') as (Partial<State> & { version?: number }) | null;
    if (values?.version !== VERSION || !values.game?.nodes[values.current ?? ROOT]) return state;
    for (const key of SAVED_KEYS) if (values[key] !== undefined) Object.assign(state, { [key]: values[key] });
    Object.assign(state.analysis, values.analysis);
  } catch {
    return initialState();
  }
  return state;
}

export function save(state: State): void {
  try {
    localStorage.setItem(STORAGE_KEY, serialize(state));
  } catch {
    state.notice = 'This browser does not allow storage, so a reload loses the game.';
  }
}

export function load(): State {
  try {
    return deserialize(localStorage.getItem(STORAGE_KEY));
  } catch {
    return initialState();
  }
}
