// The position that is being set up in the board editor, and its FEN. Any arrangement of pieces is possible
// here; whether it can be used is for the rules to say.
import type { Variant } from './rules';

export interface Editor {
  variant: Variant;
  /** Pieces as FEN has them, row by row from a8; empty texts are empty squares. */
  squares: string[];
  turn: 'w' | 'b';
  castling: string;
  /** The pieces in the pockets, as FEN has them. */
  pocket: string;
  /** What a click puts on the board; an empty text erases. */
  tool: string;
}

export const PIECES = 'KQRBNPkqrbnp';
export const RIGHTS = 'KQkq';

/** An editor that begins with a position. */
export function editorOf(variant: Variant, fen: string): Editor {
  const [placement = '', turn, castling = '-'] = fen.split(' ');
  const [board = '', pocket = ''] = placement.replace(']', '').split('[');
  const squares = board
    .replaceAll('/', '')
    .replaceAll('~', '')
    .replace(/\d/g, (count) => '.'.repeat(Number(count)))
    .split('')
    .map((sign) => (sign === '.' ? '' : sign));
  return {
    variant,
    squares: Array.from({ length: 64 }, (_, index) => squares[index] ?? ''),
    turn: turn === 'b' ? 'b' : 'w',
    castling: RIGHTS.split('')
      .filter((right) => castling.includes(right))
      .join(''),
    pocket,
    tool: 'P',
  };
}

export function fenOfEditor(editor: Editor): string {
  const rows = Array.from({ length: 8 }, (_, row) =>
    editor.squares
      .slice(8 * row, 8 * row + 8)
      .map((piece) => piece || '.')
      .join('')
      .replace(/\.+/g, (empty) => String(empty.length)),
  );
  const pocket = editor.variant === 'crazyhouse' ? `[${editor.pocket}]` : '';
  return `${rows.join('/')}${pocket} ${editor.turn} ${editor.castling || '-'} - 0 1`;
}

/** The pocket with one piece more or less. */
export function changePocket(pocket: string, piece: string, isMore: boolean): string {
  return isMore ? pocket + piece : pocket.replace(piece, '');
}

export function countInPocket(pocket: string, piece: string): number {
  return pocket.split(piece).length - 1;
}

/** The castling rights with one of them switched. */
export function switchRight(castling: string, right: string): string {
  return RIGHTS.split('')
    .filter((one) => (one === right ? !castling.includes(one) : castling.includes(one)))
    .join('');
}

export function squareName(index: number): string {
  return String.fromCharCode(97 + (index % 8)) + String(8 - Math.floor(index / 8));
}
