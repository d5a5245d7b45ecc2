// The board editor: a piece is chosen and put on squares by clicks; side to move, castling rights, pockets.
import type { App } from '../app';
import { update } from '../app';
import type { Editor } from '../editor';
import {
  changePocket,
  countInPocket,
  editorOf,
  fenOfEditor,
  PIECES,
  RIGHTS,
  squareName,
  switchRight,
} from '../editor';
import * as game from '../game';
import { positionOf, RulesError, START, VARIANT_NAMES } from '../rules';
import type { VNode } from './dom';
import { button, check, h, segments } from './dom';

const ROLES: Record<string, string> = {
  p: 'pawn',
  n: 'knight',
  b: 'bishop',
  r: 'rook',
  q: 'queen',
  k: 'king',
};
const RIGHT_NAMES: Record<string, string> = {
  K: 'White O-O',
  Q: 'White O-O-O',
  k: 'Black O-O',
  q: 'Black O-O-O',
};

export function editorForm(app: App): VNode[] {
  const { editor } = app.state;
  if (!editor) return [];
  const change = (changes: Partial<Editor>): void => {
    Object.assign(editor, changes);
    app.redraw();
  };
  const fen = fenOfEditor(editor);
  const error = faultOf(editor, fen);
  return [
    segments('Variant', VARIANT_NAMES, editor.variant, (variant) => change({ variant })),
    h('div.editor-board', { attrs: { role: 'group', 'aria-label': 'Squares' } }, [
      ...editor.squares.map((piece, index) => square(editor, piece, index, change)),
    ]),
    palette(editor, change),
    h('div.editor-options', [
      segments('Side to move', { w: 'White to move', b: 'Black to move' }, editor.turn, (turn) =>
        change({ turn }),
      ),
      ...RIGHTS.split('').map((right) =>
        check(RIGHT_NAMES[right] ?? right, editor.castling.includes(right), () =>
          change({ castling: switchRight(editor.castling, right) }),
        ),
      ),
    ]),
    editor.variant === 'crazyhouse' ? pockets(editor, change) : h('span'),
    h('code.editor-fen', fen),
    error ? h('p.error', { attrs: { role: 'status' } }, error) : h('span'),
    h('div.buttons', [
      button(
        'Use this position',
        () => {
          game.restart(app, editor.variant, fen);
        },
        { kind: 'primary', id: 'editor-use', disabled: !!error },
      ),
      button('Empty board', () => change({ squares: editor.squares.map(() => ''), castling: '' }), {
        id: 'editor-empty',
      }),
      button(
        'Initial position',
        () => update(app, { editor: editorOf(editor.variant, START[editor.variant]) }),
        { id: 'editor-start' },
      ),
    ]),
  ];
}

function faultOf(editor: Editor, fen: string): string {
  try {
    positionOf(editor.variant, fen);
    return '';
  } catch (error) {
    if (!(error instanceof RulesError)) throw error;
    return error.message;
  }
}

function nameOf(piece: string): string {
  const role = ROLES[piece.toLowerCase()] ?? 'empty';
  return piece === piece.toUpperCase() ? `white ${role}` : `black ${role}`;
}

function drawn(piece: string): VNode[] {
  if (!piece) return [];
  return [h(`piece.${nameOf(piece).replace(' ', '.')}`)];
}

type Change = (changes: Partial<Editor>) => void;

function square(editor: Editor, piece: string, index: number, change: Change): VNode {
  const set = (sign: string): void => {
    const squares = [...editor.squares];
    squares[index] = squares[index] === sign ? '' : sign;
    change({ squares });
  };
  return h(
    'button.square.cg-wrap',
    {
      key: index,
      class: { dark: (index + Math.floor(index / 8)) % 2 === 1 },
      attrs: {
        type: 'button',
        'aria-label': `${squareName(index)}, ${piece ? nameOf(piece) : 'empty'}`,
        'data-square': squareName(index),
      },
      on: {
        click: () => set(editor.tool),
        contextmenu: (event: Event) => {
          event.preventDefault();
          set('');
        },
      },
    },
    drawn(piece),
  );
}

function palette(editor: Editor, change: Change): VNode {
  const tools = [...PIECES.split(''), ''];
  return h(
    'div.palette',
    { attrs: { role: 'group', 'aria-label': 'Piece to put on the board' } },
    tools.map((tool) =>
      h(
        'button.cg-wrap.pocket-piece',
        {
          key: tool,
          attrs: {
            type: 'button',
            'aria-label': tool ? nameOf(tool) : 'Erase',
            'aria-pressed': String(editor.tool === tool),
            'data-tool': tool || 'erase',
          },
          on: { click: () => change({ tool }) },
        },
        tool ? drawn(tool) : [h('span', '✕')],
      ),
    ),
  );
}

function pockets(editor: Editor, change: Change): VNode {
  return h(
    'div.palette',
    { attrs: { role: 'group', 'aria-label': 'Pockets' } },
    PIECES.split('')
      .filter((piece) => piece.toLowerCase() !== 'k')
      .map((piece) => {
        const count = countInPocket(editor.pocket, piece);
        const set = (isMore: boolean): void => change({ pocket: changePocket(editor.pocket, piece, isMore) });
        return h(
          'button.cg-wrap.pocket-piece',
          {
            key: piece,
            class: { empty: !count },
            attrs: {
              type: 'button',
              title: 'Click for one more, right click for one less',
              'aria-label': `${count} ${nameOf(piece)}s in the pocket`,
              'data-pocket': piece,
            },
            on: {
              click: (event: MouseEvent) => set(!event.shiftKey),
              contextmenu: (event: Event) => {
                event.preventDefault();
                set(false);
              },
            },
          },
          [...drawn(piece), ...(count ? [h('span.count', String(count))] : [])],
        );
      }),
  );
}
