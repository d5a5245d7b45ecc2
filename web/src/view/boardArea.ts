// The board and its surroundings: evaluation bar, players, clocks, pockets, promotion and buttons.
import type { App } from '../app';
import { update } from '../app';
import { Board } from '../board';
import { timeLeft } from '../clock';
import { readComments, scoreOf, valueOf } from '../comments';
import { canMove, canPremove, currentNode, outcomeAt } from '../current';
import { editorOf } from '../editor';
import * as game from '../game';
import { onBoard, onWheel } from '../keyboard';
import * as match from '../match';
import { clockText, percent, score } from '../numbers';
import type { Color, Role } from '../rules';
import { positionOf, turnOf, VARIANT_NAMES } from '../rules';
import { pathTo } from '../tree';
import type { VNode } from './dom';
import { button, h } from './dom';
import { shown } from './games';

const POCKET: Role[] = ['pawn', 'knight', 'bishop', 'rook', 'queen'];
const PROMOTIONS: Role[] = ['queen', 'knight', 'rook', 'bishop'];

let board: Board | null = null;

export function syncBoard(): void {
  board?.update();
}

export function resetBoard(): void {
  board?.reset();
}

export function boardArea(app: App): VNode {
  const { state } = app;
  const far = match.opponentOf(state.orientation);
  const hasBar = state.mode !== 'play';
  return h('section.board-area', { attrs: { 'aria-label': 'Board' } }, [
    strip(app, far),
    h('div.board-row', [
      hasBar ? bar(app) : null,
      h('div.board-frame', [
        h('div.board', {
          key: 'board',
          attrs: {
            tabindex: 0,
            role: 'application',
            'aria-label': boardName(app),
            'aria-describedby': 'board-help',
          },
          hook: {
            insert: (vnode) => {
              board = new Board(vnode.elm as HTMLElement, app);
            },
            destroy: () => {
              board?.destroy();
              board = null;
            },
          },
          on: {
            keydown: (event: KeyboardEvent) => onBoard(app, event),
            wheel: (event: WheelEvent) => onWheel(app, event),
            blur: () => update(app, { cursor: null }),
          },
        }),
        promotion(app),
        state.selected ? preview(app) : null,
      ]),
    ]),
    strip(app, state.orientation),
    controls(app),
    h(
      'p#board-help.sr-only',
      'Arrow keys move a cursor, Enter selects a piece and its square, Escape deselects. ' +
        'In crazyhouse the letters p, n, b, r and q choose a piece to drop. ' +
        'Moves can also be typed in the field below.',
    ),
  ]);
}

function boardName(app: App): string {
  const { state } = app;
  return `${VARIANT_NAMES[state.game.variant]} board, ${turnOf(currentNode(state).fen)} to move`;
}

/** One side: name, clock, pocket. */
function strip(app: App, side: Color): VNode {
  const { state } = app;
  const fen = state.selected?.fen ?? currentNode(state).fen;
  const isTurn = turnOf(fen) === side;
  const current = state.mode === 'play' ? state.match : null;
  const name = current
    ? current.human === side
      ? 'You'
      : `Anabranch · ${match.strengthText(current.strength)}`
    : playerName(state.game.headers, side);
  const isThinking = current && current.human !== side && state.request?.purpose === 'move';
  return h('div.strip', { key: `strip-${side}`, class: { turn: isTurn } }, [
    h('span.player', [
      h(`i.disc.${side}`),
      h('span', name),
      isThinking ? h('span.dots', { attrs: { role: 'status' } }, 'thinking') : null,
    ]),
    state.game.variant === 'crazyhouse' ? pocket(app, side, fen) : null,
    current?.clock ? clock(app, side) : recordedClock(app, side),
  ]);
}

function playerName(headers: Record<string, string>, side: Color): string {
  const colour = side === 'white' ? 'White' : 'Black';
  const elo = headers[`${colour}Elo`];
  return `${shown(headers[colour]) || colour}${elo && shown(elo) ? ` (${elo})` : ''}`;
}

/** The clock of a side in a game that came with clocks: what it had left after its last move. */
function recordedClock(app: App, side: Color): VNode | null {
  const { state } = app;
  if (state.match && state.mode === 'play') return null;
  const left = pathTo(state.game, state.current)
    .filter((node) => node.parent !== null && turnOf(node.fen) !== side)
    .map((node) => readComments(node.comments).clock)
    .findLast((clock) => clock !== undefined);
  return left === undefined
    ? null
    : h(
        'span.clock.recorded',
        { attrs: { 'aria-label': `Clock of ${side}`, role: 'timer' } },
        clockText(left),
      );
}

function clock(app: App, side: Color): VNode {
  const running = app.state.match?.clock;
  if (!running) return h('span');
  const left = timeLeft(running, side, app.now());
  return h(
    'span.clock',
    {
      class: { running: running.running === side, low: left < 20 },
      attrs: { role: 'timer', 'aria-label': `Clock of ${side}` },
    },
    clockText(left),
  );
}

function pocket(app: App, side: Color, fen: string): VNode {
  const { state } = app;
  const material = positionOf('crazyhouse', fen).pockets?.[side];
  const isOwn = canMove(state) && turnOf(fen) === side;
  const mayPlan = canPremove(state) && state.match?.human === side;
  return h(
    'div.pocket',
    { attrs: { role: 'group', 'aria-label': `Pocket of ${side}` } },
    POCKET.map((role) => {
      const count = material?.[role] ?? 0;
      const drag = (event: MouseEvent | TouchEvent): void => {
        if (count && (isOwn || mayPlan)) board?.dragFromPocket(side, role, event);
      };
      const choose = (): void => {
        if (!count || !(isOwn || mayPlan)) return;
        update(app, { dropRole: state.dropRole === role ? null : role });
      };
      return h(
        'button.pocket-piece.cg-wrap',
        {
          key: role,
          class: { empty: !count },
          attrs: {
            type: 'button',
            disabled: !count || !(isOwn || mayPlan),
            'aria-label': `${count} ${role}${count === 1 ? '' : 's'} to drop`,
            'aria-pressed': String((isOwn || mayPlan) && state.dropRole === role),
            'data-role': role,
            'data-count': count,
          },
          on: {
            mousedown: drag,
            touchstart: drag,
            touchend: (event: TouchEvent) => {
              // A finger that did not leave the piece is a tap; there is no click after a drag.
              const touch = event.changedTouches[0];
              const under = touch && document.elementFromPoint(touch.clientX, touch.clientY);
              if (under?.closest('button') !== event.currentTarget) return;
              event.preventDefault();
              choose();
            },
            click: choose,
          },
        },
        [h(`piece.${side}.${role}`), count ? h('span.count', String(count)) : null],
      );
    }),
  );
}

function bar(app: App): VNode {
  const { state } = app;
  const judgement = scoreOf(currentNode(state));
  const end = outcomeAt(state);
  const value = end
    ? end.winner === 'white'
      ? 1
      : end.winner === 'black'
        ? -1
        : 0
    : (valueOf(currentNode(state)) ?? 0);
  const share = (1 + Math.max(-1, Math.min(1, value))) / 2;
  const text = judgement && !end ? score(judgement.cp, judgement.mate) : '';
  return h(
    'div.bar',
    {
      key: 'bar',
      class: { flipped: state.orientation === 'black', unknown: !judgement && !end },
      attrs: { role: 'img', 'aria-label': text ? `Evaluation ${text} for White` : 'No evaluation yet' },
    },
    [
      h('span.white', { style: { height: percent(share) } }),
      text ? h('span.number', { class: { low: share < 0.5 } }, barText(judgement)) : null,
    ],
  );
}

/** A score for the narrow bar: without its sign, which the bar shows. */
function barText(found: { cp: number; mate: number | null } | undefined): string {
  if (!found) return '';
  return found.mate === null ? (Math.abs(found.cp) / 100).toFixed(1) : `#${Math.abs(found.mate)}`;
}

function promotion(app: App): VNode | null {
  const chosen = app.state.promotion;
  if (!chosen) return null;
  const file = chosen.to.charCodeAt(0) - 97;
  const column = app.state.orientation === 'white' ? file : 7 - file;
  const isTop = app.state.orientation === chosen.colour;
  return h(
    'div.promotion',
    {
      attrs: { role: 'dialog', 'aria-label': 'Promote to' },
      on: { click: () => game.choosePromotion(app, null) },
    },
    [
      h(
        'div.choices',
        { style: { left: `${column * 12.5}%` }, class: { bottom: !isTop } },
        PROMOTIONS.map((role, index) =>
          h(
            'button.cg-wrap',
            {
              key: role,
              attrs: { type: 'button', 'aria-label': role, 'data-role': role },
              hook: index ? {} : { insert: (vnode) => (vnode.elm as HTMLElement).focus() },
              on: {
                click: (event: Event) => {
                  event.stopPropagation();
                  game.choosePromotion(app, role);
                },
              },
            },
            [h(`piece.${chosen.colour}.${role}`)],
          ),
        ),
      ),
    ],
  );
}

function preview(app: App): VNode {
  return h('div.preview', { key: 'preview' }, [
    h('span', 'A position of the graph'),
    button('Back to the game', () => update(app, { selected: null }), { icon: 'close' }),
  ]);
}

function controls(app: App): VNode {
  const { state } = app;
  return h('div.controls', [
    h('div.keys', { attrs: { role: 'group', 'aria-label': 'Go through the game' } }, [
      button('First position', () => game.toStart(app), { icon: 'first' }),
      button('Back', () => game.back(app), { icon: 'back' }),
      button('Forward', () => game.forward(app), { icon: 'forward' }),
      button('Last position', () => game.toEnd(app), { icon: 'last' }),
    ]),
    h(
      'form.typed',
      {
        on: {
          submit: (event: Event) => {
            event.preventDefault();
            if (game.play(app, state.typed)) {
              state.typed = '';
              (event.target as HTMLFormElement).reset(); // the next redraw may be too late
            } else state.announcement = `${state.typed || 'Nothing'} is not a legal move here.`;
            state.notice = state.typed ? state.announcement : '';
            app.redraw();
          },
        },
      },
      [
        h('input', {
          attrs: {
            type: 'text',
            placeholder: 'Move…',
            'aria-label': 'Type a move',
            autocomplete: 'off',
            spellcheck: 'false',
            maxlength: 12,
          },
          props: { value: state.typed },
          on: {
            input: (event: Event) => update(app, { typed: (event.target as HTMLInputElement).value }),
          },
        }),
      ],
    ),
    h('div.keys', [
      button('Flip the board', () => game.flip(app), { icon: 'flip' }),
      button('Paste FEN or PGN', () => update(app, { dialog: 'import', importError: '' }), { icon: 'paste' }),
      button(
        'Board editor',
        () => update(app, { dialog: 'editor', editor: editorOf(state.game.variant, currentNode(state).fen) }),
        { icon: 'edit', id: 'editor' },
      ),
      button('Openings', () => game.openOpenings(app), { icon: 'book' }),
    ]),
  ]);
}
