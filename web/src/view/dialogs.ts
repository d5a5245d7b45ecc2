// Dialogs: text to paste, and openings to start from.
import type { App } from '../app';
import { update } from '../app';
import { importText, openFile } from '../files';
import * as game from '../game';
import { OPENINGS } from '../openings';
import { randomStart, VARIANT_NAMES } from '../rules';
import type { VNode } from './dom';
import { button, h, number, segments } from './dom';
import { editorForm } from './editorDialog';
import { gamesList } from './games';
import { settingsForm } from './settingsDialog';

export function dialog(app: App): VNode | null {
  const { state } = app;
  if (state.dialog === 'import') return frame(app, 'Paste FEN or PGN', importForm(app));
  if (state.dialog === 'games')
    return frame(app, state.collection ? `Games: ${state.collection.name}` : 'Games', gamesList(app));
  if (state.dialog === 'editor') return frame(app, 'Board editor', editorForm(app));
  if (state.dialog === 'settings') return frame(app, 'Settings', settingsForm(app));
  if (state.dialog === 'openings') return frame(app, 'Openings', openings(app));
  return null;
}

function close(app: App): void {
  update(app, { dialog: null });
}

function frame(app: App, title: string, content: VNode[]): VNode {
  return h(
    'dialog.dialog',
    {
      key: title,
      attrs: { 'aria-label': title },
      hook: { insert: (vnode) => (vnode.elm as HTMLDialogElement).showModal() },
      on: {
        cancel: () => close(app),
        click: (event: MouseEvent) => {
          if (event.target === event.currentTarget) close(app);
        },
      },
    },
    [
      h('div.dialog-body', [
        h('div.card-head', [h('h2', title), button('Close', () => close(app), { icon: 'close' })]),
        ...content,
      ]),
    ],
  );
}

function importForm(app: App): VNode[] {
  const { state } = app;
  return [
    h('textarea', {
      attrs: {
        rows: 9,
        'aria-label': 'FEN or PGN',
        placeholder:
          'A FEN, or games as PGN. A FEN with pockets, …[Qn], is crazyhouse. Files can be dropped here.',
        spellcheck: 'false',
      },
      props: { value: state.importText },
      on: {
        input: (event: Event) => update(app, { importText: (event.target as HTMLTextAreaElement).value }),
      },
    }),
    state.importError ? h('p.error', { attrs: { role: 'alert' } }, state.importError) : h('span'),
    h('div.buttons', [
      button('Load', () => importText(app), { kind: 'primary', id: 'import' }),
      fileButton(app, 'Open a PGN file', 'open-file'),
    ]),
  ];
}

function fileButton(app: App, text: string, id: string): VNode {
  return h('label.file', [
    h('span', text),
    h('input', {
      attrs: { type: 'file', accept: '.pgn,.txt,application/x-chess-pgn', 'data-id': id },
      on: {
        change: (event: Event) => {
          const file = (event.target as HTMLInputElement).files?.[0];
          if (file) void openFile(app, file);
        },
      },
    }),
  ]);
}

/** The openings of matches. */
function matchOpenings(app: App): VNode {
  const { state } = app;
  const size = state.openings[state.game.variant]?.length ?? 0;
  return h('div.match-openings', [
    number(
      size ? `Opening of matches, 1 to ${size}` : 'Opening of matches',
      state.openingNumber,
      { min: 1, max: Math.max(1, size) },
      (chosen) => update(app, { openingNumber: Math.round(chosen) }),
    ),
    button('Start here', () => game.startFromMatchOpening(app, state.openingNumber), {
      disabled: !size,
      id: 'opening',
    }),
    button('Random', () => game.startFromMatchOpening(app, 1 + Math.floor(Math.random() * size)), {
      disabled: !size,
      id: 'opening-lot',
    }),
  ]);
}

function openings(app: App): VNode[] {
  const { state } = app;
  const { variant } = state.game;
  return [
    segments('Variant', VARIANT_NAMES, variant, (chosen) => {
      game.restart(app, chosen);
      game.openOpenings(app);
    }),
    matchOpenings(app),
    h('div.buttons', [fileButton(app, 'A PGN file as book', 'open-book')]),
    h('ul.openings', { attrs: { tabindex: 0, 'aria-label': 'Openings' } }, [
      h('li', { key: 'start' }, [
        button('Initial position', () => game.restart(app, variant), { kind: 'quiet' }),
      ]),
      h('li', { key: '960' }, [
        button('Chess960, random position', () => game.restart(app, variant, randomStart(variant), true), {
          kind: 'quiet',
        }),
      ]),
      ...OPENINGS[variant].map((opening) =>
        h('li', { key: opening.name }, [
          h(
            'button.quiet',
            { attrs: { type: 'button' }, on: { click: () => game.startFromOpening(app, opening) } },
            [h('span', opening.name), h('small', opening.moves)],
          ),
        ]),
      ),
    ]),
  ];
}
