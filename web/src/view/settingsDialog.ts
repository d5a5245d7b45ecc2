// The settings of the page: what searches use of the machine, and how the board looks.
import { setMachine } from '../analysis';
import type { App } from '../app';
import { update } from '../app';
import { networksFor, ownEvaluator } from '../machine';
import { VARIANT_NAMES } from '../rules';
import type { Variant } from '../rules';
import type { BoardColours, PieceSet } from '../state';
import type { VNode } from './dom';
import { check, figures, h, segments, slider } from './dom';

const COLOURS: Record<BoardColours, string> = {
  slate: 'Slate',
  brown: 'Brown',
  green: 'Green',
  blue: 'Blue',
  grey: 'Grey',
};
const PIECES: Record<PieceSet, string> = { cburnett: 'Figures', letters: 'Letters' };

export function settingsForm(app: App): VNode[] {
  const { state } = app;
  const { board } = state;
  return [
    h('section.settings-group', { attrs: { 'aria-label': 'Board' } }, [
      h('h3', 'Board'),
      segments('Colours', COLOURS, board.colours, (colours) => update(app, { board: { ...board, colours } })),
      segments('Pieces', PIECES, board.pieces, (pieces) => update(app, { board: { ...board, pieces } })),
      h('div.sample', { attrs: { 'aria-hidden': 'true' } }, [
        ...(['white king', 'black queen', 'white knight', 'black pawn'] as const).map((piece) =>
          h('span.cg-wrap', { key: piece }, [h(`piece.${piece.replace(' ', '.')}`)]),
        ),
      ]),
      check('Sound', state.sound, (sound) => update(app, { sound })),
    ]),
    h('section.settings-group', { attrs: { 'aria-label': 'Engine' } }, [h('h3', 'Engine'), ...engine(app)]),
  ];
}

function engine(app: App): VNode[] {
  const { hello, machine } = app.state;
  if (!hello) return [h('p.empty', 'The engine is not connected.')];
  const { threads: most, memory, tablebases } = hello.machine;
  const [least, largest] = memory;
  const threads = Math.min(machine.threads ?? most, most);
  const megabytes = Math.min(machine.memory ?? largest, largest);
  return [
    slider('Threads', threads, { min: 1, max: most }, `${threads} of ${most}`, (given) =>
      setMachine(app, { threads: given === most ? null : given }),
    ),
    slider(
      'Memory of the graphs',
      megabytes,
      { min: least, max: largest, step: Math.max(1, Math.min(16, largest - least)) },
      `${megabytes} MB of ${largest}`,
      (given) => setMachine(app, { memory: given >= largest ? null : given }),
    ),
    tablebases
      ? check(
          `Tablebases: Syzygy, up to ${tablebases.men} pieces, ${tablebases.files} files`,
          machine.tablebases,
          (given) => setMachine(app, { tablebases: given }),
        )
      : h('p.empty', [
          'No tablebases. ',
          h('code', 'anabranch tablebases fetch'),
          ' installs them, ',
          h('code', '--tablebases'),
          ' names a folder.',
        ]),
    h('h4', 'Networks'),
    figures((Object.keys(VARIANT_NAMES) as Variant[]).map((variant) => networkRow(app, variant))),
    h('p.empty', [
      'Choose one under ',
      h('b', 'Network'),
      ' where you play or analyse. ',
      h('code', 'anabranch network install'),
      ' adds more.',
    ]),
  ];
}

function networkRow(app: App, variant: Variant): [string, string] {
  const names = networksFor(app.state, variant).map((row) => row.name);
  return [VARIANT_NAMES[variant], [ownEvaluator(app.state, variant), ...names].join(', ')];
}
