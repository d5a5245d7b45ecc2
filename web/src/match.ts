// A game against the engine: the engine's moves, hints, clocks and the end of the game.
import type { App } from './app';
import { stopSearch, update } from './app';
import { outOfTime, stopClock, timeLeft, newClock, pressClock } from './clock';
import { canMove, clearSelection, currentNode, gameSoFar, outcomeAt } from './current';
import { configFor } from './machine';
import type { Level } from './protocol';
import type { Color, Outcome } from './rules';
import { positionOf, randomStart, spoken, START, turnOf } from './rules';
import type { MatchForm, State, Strength } from './state';
import { DEFAULT_CONFIG } from './state';
import { addMove, newGame, nodeOf, pathTo, remove, ROOT } from './tree';

const HINT_SECONDS = 1;

export function opponentOf(side: Color): Color {
  return side === 'white' ? 'black' : 'white';
}

/** Start a match with the settings of the form. */
export function startMatch(app: App, form: MatchForm): void {
  const { state } = app;
  stopSearch(app);
  state.analysis.running = false;
  const { variant, chess960 } = form;
  if (form.fromHere) {
    const { fen } = currentNode(state);
    state.game = newGame(state.game.variant, fen, state.game.chess960);
  } else {
    const fen = chess960 ? randomStart(variant) : START[variant];
    state.game = newGame(variant, fen, chess960);
  }
  state.current = ROOT;
  clearSelection(state);
  const human = form.colour === 'random' ? (Math.random() < 0.5 ? 'white' : 'black') : form.colour;
  state.match = {
    human,
    tip: ROOT,
    strength: { ...form.strength },
    network: form.network ?? null,
    clock: form.clocks ? newClock(form.minutes, form.increment) : null,
    outcome: null,
  };
  state.orientation = human;
  state.isResigning = false;
  const name = `Anabranch (${strengthText(form.strength)})`;
  state.game.headers = human === 'white' ? { White: 'You', Black: name } : { White: name, Black: 'You' };
  state.game.headers['Date'] = new Date().toISOString().slice(0, 10).replaceAll('-', '.');
  requestMove(app);
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
    case 'human':
      return `like people of ${strength.rating ?? 0}`;
  }
}

/** Called after a move of either side. */
export function onMove(app: App): void {
  const { state } = app;
  const { match } = state;
  if (state.mode !== 'play' || !match || match.outcome) return;
  match.tip = state.current;
  const by = opponentOf(turnOf(currentNode(state).fen));
  if (match.clock) {
    match.clock = pressClock(match.clock, by, app.now());
    currentNode(state).comments = [`[%clk ${clockCommand(match.clock.left[by])}]`];
  }
  const end = outcomeAt(state);
  if (end) endMatch(app, end);
  else requestMove(app);
}

/** A clock as PGN has it, h:mm:ss. */
function clockCommand(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [minutes, rest] = [Math.floor(whole / 60) % 60, whole % 60].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${Math.floor(whole / 3600)}:${minutes ?? ''}:${rest ?? ''}`;
}

/** Request the engine's move, if it is to move and no request is running. */
export function requestMove(app: App): void {
  const { state } = app;
  const { match } = state;
  if (state.mode !== 'play' || !match || match.outcome || state.connection !== 'open') return;
  const { tip } = match;
  const { fen } = nodeOf(state.game, tip);
  if (turnOf(fen) === match.human || state.request?.purpose === 'move' || outcomeAt(state, tip)) return;
  const side = opponentOf(match.human);
  const clock = match.clock
    ? { by: 'clock' as const, left: timeLeft(match.clock, side, app.now()), increment: match.clock.increment }
    : null;
  const id = app.nextId();
  state.request = { id, purpose: 'move' };
  app.send({
    type: 'play',
    id,
    game: gameSoFar(state, tip),
    config: configFor(state, { ...DEFAULT_CONFIG, network: match.network ?? null }),
    machine: state.machine,
    level: levelOf(match.strength, state),
    clock,
  });
}

function levelOf(strength: Strength, state: State): Level {
  const [lowest, highest] = state.hello?.elo ?? [strength.elo, strength.elo];
  switch (strength.by) {
    case 'elo':
      return { by: 'elo', elo: Math.min(highest, Math.max(lowest, strength.elo)) };
    case 'evaluations':
      return { by: 'evaluations', evaluations: strength.evaluations };
    case 'seconds':
      return { by: 'seconds', seconds: strength.seconds };
    case 'human':
      return { by: 'human', rating: strength.rating ?? 0 };
  }
}

export function requestHint(app: App): void {
  const { state } = app;
  if (state.request || !canMove(state)) return;
  const id = app.nextId();
  state.request = { id, purpose: 'hint' };
  app.send({
    type: 'play',
    id,
    game: gameSoFar(state),
    config: DEFAULT_CONFIG,
    machine: state.machine,
    level: { by: 'seconds', seconds: HINT_SECONDS },
    clock: null,
  });
  app.redraw();
}

export function onHint(app: App, move: string): void {
  const { state } = app;
  state.request = null;
  state.hint = move;
  const trial = newGame(state.game.variant, currentNode(state).fen, state.game.chess960);
  const node = addMove(trial, ROOT, move);
  state.announcement = node ? `Hint: ${spoken(node.san)}.` : '';
  app.redraw();
}

/** Take back the last move of the user, and the engine's reply to it. */
export function takeBack(app: App): void {
  const { state } = app;
  const { match } = state;
  if (!match) return;
  stopSearch(app);
  let { tip } = match;
  do tip = remove(state.game, tip);
  while (tip !== ROOT && turnOf(nodeOf(state.game, tip).fen) !== match.human);
  state.current = tip;
  match.tip = tip;
  match.outcome = null;
  if (match.clock)
    match.clock = { ...stopClock(match.clock, app.now()), running: match.human, since: app.now() };
  clearSelection(state);
  requestMove(app);
  app.resetBoard();
  app.redraw();
}

const DRAW_VALUE = 0.03;
const DRAW_PLIES = 20;

/** Offer a draw. The engine takes it when its last search was not better than that, after the opening. */
export function offerDraw(app: App): void {
  const { state } = app;
  const { match } = state;
  if (!match || match.outcome) return;
  const plies = pathTo(state.game, match.tip).length - 1;
  if (plies >= DRAW_PLIES && match.engineValue !== undefined && match.engineValue <= DRAW_VALUE)
    endMatch(app, { winner: null, reason: 'agreement' });
  else update(app, { notice: 'Anabranch declines the draw.' });
}

export function resign(app: App): void {
  app.state.isResigning = false;
  const { match } = app.state;
  if (match && !match.outcome) endMatch(app, { winner: opponentOf(match.human), reason: 'resignation' });
}

export function endMatch(app: App, outcome: Outcome): void {
  const { state } = app;
  const { match } = state;
  if (!match) return;
  stopSearch(app);
  match.outcome = outcome;
  if (match.clock) match.clock = stopClock(match.clock, app.now());
  state.announcement = `${outcomeText(outcome)}.`;
  app.sound('end');
  app.redraw();
}

export function outcomeText(outcome: Outcome): string {
  if (!outcome.winner) return `Draw by ${outcome.reason}`;
  const winner = outcome.winner === 'white' ? 'White' : 'Black';
  return `${winner} wins by ${outcome.reason}`;
}

/** End the match if a clock has run out. Called many times a second while a clock runs. */
export function checkClock(app: App): void {
  const { state } = app;
  const clock = state.match?.clock;
  if (!clock || state.match?.outcome) return;
  const loser = outOfTime(clock, app.now());
  if (!loser) return;
  const winner = opponentOf(loser);
  const board = positionOf(state.game.variant, nodeOf(state.game, state.match?.tip ?? ROOT).fen);
  const canWin = !board.hasInsufficientMaterial(winner);
  endMatch(app, { winner: canWin ? winner : null, reason: canWin ? 'time' : 'time against a lone king' });
}

/** Show the match again after analysis, unless its moves were deleted. */
export function returnToMatch(app: App): void {
  const { state } = app;
  if (!state.match) return;
  if (!state.game.nodes[state.match.tip]) state.match = null;
  else state.current = state.match.tip;
}

/** Abandon the match, because another game is opened. */
export function leaveMatch(app: App): void {
  stopSearch(app);
  app.state.match = null;
}

/** Restart the clock after a reload; it runs only while the page is open. */
export function resumeClock(state: State, now: number): void {
  const clock = state.match?.clock;
  if (clock) clock.since = now;
}
