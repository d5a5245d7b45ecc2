// Puts the page together: state, connection, drawing. Passes each message of the server to its module.
import 'chessground/assets/chessground.base.css';
import 'chessground/assets/chessground.cburnett.css';
import './style/main.css';
import * as analysis from './analysis';
import type { App } from './app';
import { gamePgn, loadCollection } from './collection';
import { chooseGame, openFile } from './files';
import { onPage } from './keyboard';
import * as game from './game';
import * as gridGame from './gridGame';
import * as judge from './judge';
import * as match from './match';
import * as proof from './proof';
import { throttle } from './throttle';
import type { ServerMessage } from './protocol';
import { connect } from './socket';
import { playSound } from './sound';
import { load, save } from './state';
import { resetBoard, syncBoard } from './view/boardArea';
import type { VNode } from './view/dom';
import { patch } from './view/dom';
import { isDarkTheme, graphCanvas, syncGraph } from './view/graphPanel';
import { page } from './view/page';

history.replaceState(null, '', location.pathname); // remove the token from the address

const state = load();
state.collection = loadCollection();
const root = document.getElementById('app');
if (!root) throw new Error('the page has no place for the board');
let drawn: VNode | HTMLElement = root;
let pending = 0;
let lastId = 0;
let saving: ReturnType<typeof setTimeout> | undefined;
const SAVE_MS = 400;

const app: App = {
  state,
  send: throttle((message) => connection.send(message), {
    now: () => performance.now(),
    later: (act, ms) => void setTimeout(act, ms),
  }),
  redraw: () => {
    if (!pending) pending = requestAnimationFrame(draw);
  },
  nextId: () => ++lastId,
  now: () => performance.now() / 1000,
  resetBoard,
  sound: (kind) => {
    if (state.sound) playSound(kind);
  },
};

function draw(): void {
  pending = 0;
  Object.assign(document.documentElement.dataset, {
    theme: isDarkTheme(app) ? 'dark' : 'light',
    board: state.board.colours,
    pieces: state.board.pieces,
  });
  drawn = patch(drawn, page(app));
  syncBoard();
  syncGraph(app);
  if (!saving) saving = setTimeout(saveState, SAVE_MS);
}

function saveState(): void {
  clearTimeout(saving);
  saving = undefined;
  save(state);
}

function receive(message: ServerMessage): void {
  if (message.type === 'hello') {
    state.hello = message;
    state.connection = 'open';
    app.send({ type: 'networks' });
    match.requestMove(app);
    if (state.mode === 'games') gridGame.lookUp(app);
    else analysis.requestAnalysis(app);
    app.redraw();
    return;
  }
  if (message.type === 'openings') {
    state.openings[message.variant] = message.positions;
    app.redraw();
    return;
  }
  if (message.type === 'networks') {
    state.networks = message.networks;
    app.redraw();
    return;
  }
  if (message.type === 'grid-position') {
    gridGame.onPosition(app, message.id, message);
    return;
  }
  if (message.type === 'error' && message.id === null) {
    state.notice = sentence(message.message);
    app.redraw();
    return;
  }
  if (message.id !== state.request?.id) {
    // Of an earlier request: only what a search found that was stopped is still of use.
    if (message.id !== state.analysis.stopped) return;
    if (message.type === 'report') analysis.onReport(app, message);
    if (message.type === 'graph') analysis.onGraph(app, message.side, message);
    if (message.type === 'done') state.analysis.stopped = null;
    return;
  }
  const { purpose } = state.request;
  switch (message.type) {
    case 'report':
      analysis.onReport(app, message);
      break;
    case 'graph':
      analysis.onGraph(app, message.side, message);
      break;
    case 'proof':
      proof.onProof(app, message);
      break;
    case 'judging':
      judge.onJudging(app, message.ply, message);
      break;
    case 'judged':
      judge.onJudged(app, message);
      break;
    case 'done':
      analysis.onDone(app, message.finish);
      break;
    case 'move':
      if (purpose === 'grid-move') gridGame.onEngineMove(app, message.move);
      else if (purpose === 'hint') match.onHint(app, message.move);
      else {
        if (state.match) state.match.engineValue = message.report?.value;
        game.playEngineMove(app, message.move);
      }
      break;
    case 'error':
      state.notice = sentence(message.message);
      state.request = null;
      state.analysis.running = false;
      state.analysis.sweep = [];
      app.redraw();
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}

match.resumeClock(state, app.now());
const connection = connect(receive, (status, reason) => {
  if (status !== 'open') state.connection = status; // the server is ready when it has sent its first message
  state.connectionReason = reason;
  if (status === 'closed') state.request = null;
  if (reason && status === 'closed') state.notice = reason;
  app.redraw();
});

document.addEventListener('keydown', (event) => onPage(app, event));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => app.redraw());
setInterval(() => {
  if (!state.match?.clock?.running) return;
  match.checkClock(app);
  app.redraw();
}, 100);
window.addEventListener('pagehide', () => {
  if (state.match?.clock) state.match.clock = { ...state.match.clock, ...elapsedClock() };
  saveState();
});

/** The clock with the elapsed time subtracted, for saving. */
function elapsedClock(): { left: Record<'white' | 'black', number>; since: number } {
  const clock = state.match?.clock;
  const now = app.now();
  const left = { white: 0, black: 0, ...clock?.left };
  if (clock?.running) left[clock.running] -= Math.max(0, now - clock.since);
  return { left, since: now };
}

document.addEventListener('dragover', (event) => {
  if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
});
document.addEventListener('drop', (event) => {
  const file = event.dataTransfer?.files[0];
  if (!file) return;
  event.preventDefault();
  void openFile(app, file);
});

// For tests of the page in a real browser.
const games = { choose: (index: number) => chooseGame(app, index), pgn: () => gamePgn(state) };
Object.assign(window, { anabranch: { state, graph: graphCanvas, games } });
draw();
