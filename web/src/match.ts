// A game against the engine: whose turn it is, asking for moves, clocks, and how it ends.
import type { App } from './app';
import { fallen, halt, leftOn, newClock, press } from './clock';
import { canMove, clearSelection, currentNode, gameSoFar, outcomeAt } from './current';
import type { Level, Recipe } from './protocol';
import type { Color, Outcome } from './rules';
import { chess960Start, positionOf, spoken, START, turnOf } from './rules';
import type { MatchForm, State, Strength } from './state';
import { PLAIN } from './state';
import { addMove, newGame, nodeOf, remove, ROOT } from './tree';

const HINT_SECONDS = 1;

export function other(side: Color): Color {
  return side === 'white' ? 'black' : 'white';
}

/** Begin a match as the form says. */
export function begin(app: App, form: MatchForm): void {
  const { state } = app;
  stopOrder(app);
  state.analysis.running = false;
  const { variant, chess960 } = form;
  if (form.fromHere) {
    const { fen } = currentNode(state);
    state.game = newGame(state.game.variant, fen, state.game.chess960);
  } else {
    const fen = chess960 ? chess960Start(Math.floor(Math.random() * 960), variant) : START[variant];
    state.game = newGame(variant, fen, chess960);
  }
  state.current = ROOT;
  clearSelection(state);
  const human = form.colour === 'random' ? (Math.random() < 0.5 ? 'white' : 'black') : form.colour;
  state.match = {
    human,
    tip: ROOT,
    strength: { ...form.strength },
    clock: form.clocks ? newClock(form.minutes, form.increment) : null,
    outcome: null,
  };
  state.orientation = human;
  const name = `Anabranch (${strengthText(form.strength)})`;
  state.game.headers = human === 'white' ? { White: 'You', Black: name } : { White: name, Black: 'You' };
  state.game.headers['Date'] = new Date().toISOString().slice(0, 10).replaceAll('-', '.');
  askIfDue(app);
  app.redraw();
}

export function strengthText(strength: Strength): string {
  switch (strength.by) {
    case 'elo':
      return `Elo ${strength.elo}`;
    case 'evaluations':
      return `${strength.evaluations} evaluations`;
    case 'seconds':
      return `${strength.seconds} s a move`;
  }
}

/** A move was made by anybody. */
export function moved(app: App): void {
  const { state } = app;
  const { match } = state;
  if (state.mode !== 'play' || !match || match.outcome) return;
  match.tip = state.current;
  const by = other(turnOf(currentNode(state).fen));
  if (match.clock) match.clock = press(match.clock, by, app.now());
  const end = outcomeAt(state);
  if (end) finish(app, end);
  else askIfDue(app);
}

/** Ask the engine for its move, if it is its turn and nobody asked yet. */
export function askIfDue(app: App): void {
  const { state } = app;
  const { match } = state;
  if (state.mode !== 'play' || !match || match.outcome || state.line !== 'open') return;
  const { tip } = match;
  const { fen } = nodeOf(state.game, tip);
  if (turnOf(fen) === match.human || state.order?.purpose === 'move' || outcomeAt(state, tip)) return;
  const side = other(match.human);
  const clock = match.clock
    ? { by: 'clock' as const, left: leftOn(match.clock, side, app.now()), increment: match.clock.increment }
    : null;
  const id = app.nextId();
  state.order = { id, purpose: 'move' };
  const recipe: Recipe = PLAIN;
  app.say({
    type: 'play',
    id,
    game: gameSoFar(state, tip),
    recipe,
    level: levelOf(match.strength, state),
    clock,
  });
}

function levelOf(strength: Strength, state: State): Level {
  const [lowest, highest] = state.hello?.elo ?? [500, 2100];
  switch (strength.by) {
    case 'elo':
      return { by: 'elo', elo: Math.min(highest, Math.max(lowest, strength.elo)) };
    case 'evaluations':
      return { by: 'evaluations', evaluations: strength.evaluations };
    case 'seconds':
      return { by: 'seconds', seconds: strength.seconds };
  }
}

export function askHint(app: App): void {
  const { state } = app;
  if (state.order || !canMove(state)) return;
  const id = app.nextId();
  state.order = { id, purpose: 'hint' };
  app.say({
    type: 'play',
    id,
    game: gameSoFar(state),
    recipe: PLAIN,
    level: { by: 'seconds', seconds: HINT_SECONDS },
    clock: null,
  });
  app.redraw();
}

export function hinted(app: App, move: string): void {
  const { state } = app;
  state.order = null;
  state.hint = move;
  const trial = newGame(state.game.variant, currentNode(state).fen, state.game.chess960);
  const node = addMove(trial, ROOT, move);
  state.announcement = node ? `Hint: ${spoken(node.san)}.` : '';
  app.redraw();
}

/** Take the last move of the person back, and the answer to it. */
export function takeBack(app: App): void {
  const { state } = app;
  const { match } = state;
  if (!match) return;
  stopOrder(app);
  let { tip } = match;
  do tip = remove(state.game, tip);
  while (tip !== ROOT && turnOf(nodeOf(state.game, tip).fen) !== match.human);
  state.current = tip;
  match.tip = tip;
  match.outcome = null;
  if (match.clock) match.clock = { ...halt(match.clock, app.now()), running: match.human, since: app.now() };
  clearSelection(state);
  askIfDue(app);
  app.resetBoard();
  app.redraw();
}

export function resign(app: App): void {
  const { match } = app.state;
  if (match && !match.outcome) finish(app, { winner: other(match.human), reason: 'resignation' });
}

/** A threefold repetition or fifty moves end a game by themselves; this is for those who agree without. */
export function finish(app: App, outcome: Outcome): void {
  const { state } = app;
  const { match } = state;
  if (!match) return;
  stopOrder(app);
  match.outcome = outcome;
  if (match.clock) match.clock = halt(match.clock, app.now());
  state.announcement = `${outcomeText(outcome)}.`;
  app.sound('end');
  app.redraw();
}

export function outcomeText(outcome: Outcome): string {
  if (!outcome.winner) return `Draw by ${outcome.reason}`;
  const winner = outcome.winner === 'white' ? 'White' : 'Black';
  return `${winner} wins by ${outcome.reason}`;
}

/** Called many times a second while a clock runs. */
export function tick(app: App): void {
  const { state } = app;
  const clock = state.match?.clock;
  if (!clock || state.match?.outcome) return;
  const loser = fallen(clock, app.now());
  if (!loser) return;
  const winner = other(loser);
  const board = positionOf(state.game.variant, nodeOf(state.game, state.match?.tip ?? ROOT).fen);
  const canWin = !board.hasInsufficientMaterial(winner);
  finish(app, { winner: canWin ? winner : null, reason: canWin ? 'time' : 'time against a lone king' });
}

/** Back from analysis: the board shows the match again, unless its moves were deleted. */
export function comeBack(app: App): void {
  const { state } = app;
  if (!state.match) return;
  if (!state.game.nodes[state.match.tip]) state.match = null;
  else state.current = state.match.tip;
}

/** The match is over because another game is opened. */
export function leave(app: App): void {
  stopOrder(app);
  app.state.match = null;
}

export function stopOrder(app: App): void {
  if (app.state.order) app.say({ type: 'stop' });
  app.state.order = null;
}

/** Go on after a reload: clocks ran only while the page was open. */
export function resume(state: State, now: number): void {
  const clock = state.match?.clock;
  if (clock) clock.since = now;
}
