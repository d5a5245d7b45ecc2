// The one state of the page, what it is at first, and how it outlives a reload. Everything on the screen is a
// function of it.
import type { Clock } from './clock';
import type { Graph } from './graph/model';
import type { Hello, Recipe, Report, View } from './protocol';
import type { Color, Outcome, Role, SquareName, Variant } from './rules';
import type { LineState } from './socket';
import type { Game } from './tree';
import { newGame, ROOT } from './tree';

export type Mode = 'play' | 'analyse' | 'graph';
export type Theme = 'system' | 'light' | 'dark';
export type Dialog = 'import' | 'openings' | null;

export interface Strength {
  by: 'elo' | 'evaluations' | 'seconds';
  elo: number;
  evaluations: number;
  seconds: number;
}

export interface Match {
  human: Color;
  /** The node of the last move played; what is tried beyond it in analysis is no part of the match. */
  tip: number;
  strength: Strength;
  clock: Clock | null;
  outcome: Outcome | null;
}

/** The form from which a match is made. */
export interface MatchForm {
  variant: Variant;
  chess960: boolean;
  fromHere: boolean;
  colour: Color | 'random';
  strength: Strength;
  clocks: boolean;
  minutes: number;
  increment: number;
}

/** What was found with a recipe, for comparing it with others. */
export interface Run {
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
  recipes: [Recipe, Recipe];
  reports: [Report | null, Report | null];
  graphs: [Graph | null, Graph | null];
  finish: string | null;
  runs: { fen: string; rows: Run[] };
  /** Nodes of the game that wait to be judged. */
  sweep: number[];
}

export interface State {
  mode: Mode;
  game: Game;
  current: number;
  orientation: Color;
  line: LineState;
  lineReason: string;
  hello: Hello | null;
  match: Match | null;
  form: MatchForm;
  /** The order under way: its number and what for. */
  order: { id: number; purpose: 'move' | 'hint' | 'analysis' | 'sweep' } | null;
  hint: string | null;
  analysis: Analysis;
  view: View;
  viewSide: 0 | 1;
  /** The node of the graph that is shown on the board. */
  selected: { key: string; fen: string; way: string[] } | null;
  arrows: boolean;
  theme: Theme;
  sound: boolean;
  dialog: Dialog;
  /** The opening suites that were asked for: name and FEN. */
  suites: Partial<Record<Variant, [string, string][]>>;
  suiteNumber: number;
  importText: string;
  importError: string;
  promotion: { from: SquareName; to: SquareName; colour: Color } | null;
  dropRole: Role | null;
  cursor: SquareName | null;
  keyboardFrom: SquareName | null;
  typed: string;
  /** What is said to screen readers. */
  announcement: string;
  notice: string;
  isMore: boolean;
}

export const PLAIN: Recipe = { preset: 'default', changes: {} };

export function firstState(): State {
  return {
    mode: 'play',
    game: newGame('chess'),
    current: ROOT,
    orientation: 'white',
    line: 'connecting',
    lineReason: '',
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
    order: null,
    hint: null,
    analysis: {
      running: false,
      compare: false,
      lines: 3,
      recipes: [PLAIN, { preset: 'alphazero', changes: {} }],
      reports: [null, null],
      graphs: [null, null],
      finish: null,
      runs: { fen: '', rows: [] },
      sweep: [],
    },
    view: { nodes: 300, depth: 12, visits: 1 },
    viewSide: 0,
    selected: null,
    arrows: true,
    theme: 'system',
    sound: false,
    dialog: null,
    suites: {},
    suiteNumber: 1,
    importText: '',
    importError: '',
    promotion: null,
    dropRole: null,
    cursor: null,
    keyboardFrom: null,
    typed: '',
    announcement: '',
    notice: '',
    isMore: false,
  };
}

const KEPT = [
  'mode',
  'game',
  'current',
  'orientation',
  'match',
  'form',
  'view',
  'arrows',
  'theme',
  'sound',
] as const;
const VERSION = 1;
const NAME = 'anabranch';

/** What of the state is kept in the browser. */
export function kept(state: State): string {
  const values = Object.fromEntries(KEPT.map((key) => [key, state[key]]));
  const { compare, lines, recipes } = state.analysis;
  return JSON.stringify({ version: VERSION, ...values, analysis: { compare, lines, recipes } });
}

/** The state from what was kept; the first one where that cannot be read. */
export function restored(text: string | null): State {
  const state = firstState();
  try {
    const values = JSON.parse(text ?? 'null') as (Partial<State> & { version?: number }) | null;
    if (values?.version !== VERSION || !values.game?.nodes[values.current ?? ROOT]) return state;
    for (const key of KEPT) if (values[key] !== undefined) Object.assign(state, { [key]: values[key] });
    Object.assign(state.analysis, values.analysis);
  } catch {
    return firstState();
  }
  return state;
}

export function save(state: State): void {
  try {
    localStorage.setItem(NAME, kept(state));
  } catch {
    state.notice = 'This browser keeps nothing, so a reload will lose the game.';
  }
}

export function load(): State {
  try {
    return restored(localStorage.getItem(NAME));
  } catch {
    return firstState();
  }
}
