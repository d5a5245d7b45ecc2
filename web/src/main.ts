// Puts the page together: state, line to the server, drawing. What is heard is handed to those it concerns.
import 'chessground/assets/chessground.base.css';
import 'chessground/assets/chessground.cburnett.css';
import './style/main.css';
import * as analysis from './analysis';
import type { App } from './app';
import { onPage } from './keyboard';
import * as game from './game';
import * as match from './match';
import { paced } from './pace';
import type { News } from './protocol';
import { connect } from './socket';
import { knock } from './sound';
import { load, save } from './state';
import { resetBoard, syncBoard } from './view/boardArea';
import type { VNode } from './view/dom';
import { patch } from './view/dom';
import { darkNow, graphCanvas, syncGraph } from './view/graphPanel';
import { page } from './view/page';

history.replaceState(null, '', location.pathname); // the token has done its work

const state = load();
const root = document.getElementById('app');
if (!root) throw new Error('the page has no place for the board');
let drawn: VNode | HTMLElement = root;
let pending = 0;
let lastId = 0;
let saving: ReturnType<typeof setTimeout> | undefined;
const SAVE_MS = 400;

const app: App = {
  state,
  say: paced((order) => line.say(order), {
    now: () => performance.now(),
    later: (act, ms) => void setTimeout(act, ms),
  }),
  redraw: () => {
    if (!pending) pending = requestAnimationFrame(drawNow);
  },
  nextId: () => ++lastId,
  now: () => performance.now() / 1000,
  resetBoard,
  sound: (kind) => {
    if (state.sound) knock(kind);
  },
};

function drawNow(): void {
  pending = 0;
  document.documentElement.dataset['theme'] = darkNow(app) ? 'dark' : 'light';
  drawn = patch(drawn, page(app));
  syncBoard();
  syncGraph(app);
  if (!saving) saving = setTimeout(saveNow, SAVE_MS);
}

function saveNow(): void {
  clearTimeout(saving);
  saving = undefined;
  save(state);
}

function hear(news: News): void {
  if (news.type === 'hello') {
    state.hello = news;
    app.redraw();
    return;
  }
  if (news.type === 'openings') {
    state.suites[news.variant] = news.positions;
    app.redraw();
    return;
  }
  if (news.type === 'error' && news.id === null) {
    state.notice = sentence(news.message);
    app.redraw();
    return;
  }
  if (news.id !== state.order?.id) return; // of an order that is no more
  const { purpose } = state.order;
  switch (news.type) {
    case 'report':
      analysis.reported(app, news);
      break;
    case 'graph':
      analysis.charted(app, news.side, news);
      break;
    case 'done':
      analysis.done(app, news.finish);
      break;
    case 'move':
      if (purpose === 'hint') match.hinted(app, news.move);
      else game.playEngineMove(app, news.move);
      break;
    case 'error':
      state.notice = sentence(news.message);
      state.order = null;
      state.analysis.running = false;
      state.analysis.sweep = [];
      app.redraw();
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}

match.resume(state, app.now());
const line = connect(hear, (now, reason) => {
  state.line = now;
  state.lineReason = reason;
  if (now === 'closed') state.order = null;
  if (reason && now === 'closed') state.notice = reason;
  if (now === 'open') {
    match.askIfDue(app);
    analysis.order(app);
  }
  app.redraw();
});

document.addEventListener('keydown', (event) => onPage(app, event));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => app.redraw());
setInterval(() => {
  if (!state.match?.clock?.running) return;
  match.tick(app);
  app.redraw();
}, 100);
window.addEventListener('pagehide', () => {
  if (state.match?.clock) state.match.clock = { ...state.match.clock, ...bookTime() };
  saveNow();
});

/** What is left on the clock when the page goes. */
function bookTime(): { left: Record<'white' | 'black', number>; since: number } {
  const clock = state.match?.clock;
  const now = app.now();
  const left = { white: 0, black: 0, ...clock?.left };
  if (clock?.running) left[clock.running] -= Math.max(0, now - clock.since);
  return { left, since: now };
}

// For tests of the page in a real browser.
Object.assign(window, { anabranch: { state, graph: graphCanvas } });
drawNow();
