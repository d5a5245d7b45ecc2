// The games on a grid: the board with its players, the form of a new game, the moves, and the search with its
// graph beside them.
import type { App } from '../app';
import { update } from '../app';
import { PASS, sideToMove } from '../grid';
import type { Side } from '../grid';
import * as gridGame from '../gridGame';
import type { GridForm, State } from '../state';
import { lines, moveTable, startButton, statistics, verdictRow } from './analysisPanel';
import type { VNode } from './dom';
import { button, check, h, number, segments, select } from './dom';
import { graphPanel, nodeCard } from './graphPanel';
import { gridBoard } from './gridBoard';
import { presetSelect } from './searchConfig';

export function gridColumn(app: App): VNode {
  return h('div.board-column', { key: 'grid-column' }, [
    h('section.board-area', { attrs: { 'aria-label': 'Board' } }, [
      strip(app, 'x'),
      gridBoard(app),
      strip(app, 'o'),
      controls(app),
    ]),
    nodeCard(app),
  ]);
}

export function gridPanel(app: App): VNode {
  return h('div.side.grid-side', { key: 'games' }, [
    h('div.grid-pair', [
      h('div.column', [app.state.grid.match ? matchCard(app) : formCard(app), movesCard(app)]),
      searchCard(app),
    ]),
    graphPanel(app),
  ]);
}

function strip(app: App, side: Side): VNode {
  const { grid, request } = app.state;
  const { match, position } = grid;
  const isTurn = position?.result === null && sideToMove(position.position) === side;
  const name = !match ? side : match.human === side ? `You (${side})` : `Anabranch (${side})`;
  return h('div.strip', { key: `grid-${side}`, class: { turn: isTurn } }, [
    h('span.player', [
      h(`i.disc.${side}`),
      h('span', name),
      request?.purpose === 'grid-move' && match?.human !== side
        ? h('span.dots', { attrs: { role: 'status' } }, 'thinking')
        : null,
    ]),
  ]);
}

function controls(app: App): VNode {
  const { grid } = app.state;
  const canPass = gridGame.mayMove(app) && grid.position?.legal.includes(PASS);
  return h('div.controls', [
    h('div.keys', { attrs: { role: 'group', 'aria-label': 'Go through the game' } }, [
      button('First position', () => gridGame.goTo(app, 0), { icon: 'first' }),
      button('Back', () => gridGame.goTo(app, grid.at - 1), { icon: 'back' }),
      button('Forward', () => gridGame.goTo(app, grid.at + 1), { icon: 'forward' }),
      button('Last position', () => gridGame.goTo(app, grid.moves.length), { icon: 'last' }),
    ]),
    canPass ? button('Pass', () => gridGame.play(app, PASS), { id: 'pass' }) : null,
  ]);
}

function statusText(state: State): string {
  const { position, match } = state.grid;
  if (state.connection !== 'open') return 'The engine is not connected.';
  if (!position) return 'The position is being read.';
  if (position.result !== null) return gridGame.resultText(position.result);
  if (!match) return `${sideToMove(position.position)} to move.`;
  return sideToMove(position.position) === match.human ? 'Your move.' : 'Anabranch is thinking.';
}

function matchCard(app: App): VNode {
  const { grid } = app.state;
  return h('section.card.match', { key: 'grid-match', attrs: { 'aria-label': 'Match' } }, [
    h('p.status', { attrs: { 'aria-live': 'polite' } }, statusText(app.state)),
    h('div.buttons', [
      button('Take back', () => gridGame.takeBack(app), {
        icon: 'undo',
        showsText: true,
        disabled: !grid.moves.length,
      }),
      button('Analyse', () => gridGame.leaveMatch(app), {
        icon: 'arrows',
        showsText: true,
        id: 'grid-leave',
      }),
    ]),
  ]);
}

function formCard(app: App): VNode {
  const { state } = app;
  const { form } = state.grid;
  const games = state.hello?.games ?? [];
  const row = games.find((game) => game.name === form.name);
  const change = (changes: Partial<GridForm>): void => {
    Object.assign(form, changes);
    app.redraw();
  };
  const { level } = form;
  return h('section.card.form', { key: 'grid-form', attrs: { 'aria-label': 'New game' } }, [
    h('h2', 'Game'),
    select(
      'Game',
      games.map((game) => game.name),
      form.name,
      (name) => {
        change({ name, parameters: {} });
        gridGame.newGridGame(app, form, null);
      },
    ),
    row ? h('p.empty', `${row.rules} A move is ${row.moves}.`) : null,
    row?.parameters.length
      ? h(
          'div.pair',
          row.parameters.map((parameter) => parameterField(form, parameter, change)),
        )
      : null,
    segments('Your side', { x: 'x', o: 'o' }, form.human, (human) => change({ human })),
    segments('Strength by', { evaluations: 'Evaluations', seconds: 'Seconds' }, level.by, (by) =>
      change({ level: { ...level, by } }),
    ),
    level.by === 'evaluations'
      ? number('Evaluations for a move', level.evaluations, { min: 1, max: 1_000_000 }, (evaluations) =>
          change({ level: { ...level, evaluations: Math.round(evaluations) } }),
        )
      : number('Seconds for a move', level.seconds, { min: 0.1, max: 60, step: 0.1 }, (seconds) =>
          change({ level: { ...level, seconds } }),
        ),
    h('div.buttons', [
      button('Play', () => gridGame.newGridGame(app, form, form.human), { kind: 'primary', id: 'grid-play' }),
      button('Empty board', () => gridGame.newGridGame(app, form, null), { id: 'grid-new' }),
    ]),
  ]);
}

function parameterField(
  form: GridForm,
  parameter: { name: string; default: string; takes: string; meaning: string },
  change: (changes: Partial<GridForm>) => void,
): VNode {
  const value = form.parameters[parameter.name] ?? parameter.default;
  const choices = /^one of (.*)$/.exec(parameter.takes)?.[1]?.split(/, | or /);
  const set = (given: string): void =>
    change({ parameters: { ...form.parameters, [parameter.name]: given } });
  if (choices) return select(parameter.name, choices, value, set);
  return h('label.field', { key: parameter.name, attrs: { title: parameter.takes } }, [
    h('span', parameter.name),
    h('input', {
      attrs: { type: 'text', maxlength: 8, inputmode: 'decimal' },
      props: { value },
      on: { change: (event: Event) => set((event.target as HTMLInputElement).value.trim()) },
    }),
  ]);
}

function movesCard(app: App): VNode {
  const { grid } = app.state;
  return h('section.card.moves', { key: 'grid-moves', attrs: { 'aria-label': 'Moves' } }, [
    h('div.card-head', [h('h2', grid.game)]),
    h(
      'div.move-text',
      { attrs: { tabindex: 0, role: 'group', 'aria-label': 'Move list' } },
      grid.moves.length
        ? grid.moves.map((move, index) =>
            h('span.ply', { key: index }, [
              index % 2 ? null : h('span.number', `${index / 2 + 1}.`),
              h(
                'button.move',
                {
                  class: { current: grid.at === index + 1 },
                  attrs: {
                    type: 'button',
                    ...(grid.at === index + 1 ? { 'aria-current': 'true' } : {}),
                  },
                  on: { click: () => gridGame.goTo(app, index + 1) },
                },
                move,
              ),
            ]),
          )
        : [h('p.empty', 'No moves yet. Click a cell.')],
    ),
    grid.position && grid.position.result !== null
      ? h('p.outcome', gridGame.resultText(grid.position.result))
      : h('p.empty', statusText(app.state)),
  ]);
}

function searchCard(app: App): VNode {
  const { state } = app;
  const report = state.analysis.reports[0];
  return h('section.card.engine', { key: 'grid-search', attrs: { 'aria-label': 'Analysis' } }, [
    h('div.engine-head', [
      state.grid.match ? null : startButton(app),
      presetSelect(app, 0),
      check('Values on the board', state.arrows, (arrows) => update(app, { arrows })),
    ]),
    ...(report && !state.grid.match
      ? [
          h('div.side-view', [
            verdictRow(app, report),
            lines(app, report),
            moveTable(app, report),
            statistics(report),
          ]),
        ]
      : [h('p.empty', 'Start the analysis to see lines, values and visits. Values are for x.')]),
  ]);
}
