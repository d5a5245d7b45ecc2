// The boards of the games on a grid: rows and cells of a position, their names, and the moves that a click on
// a cell can mean. The rules are the server's. Knows nothing of the page.

export type Side = 'x' | 'o';

/** A position as the server describes it. */
export interface GridPosition {
  game: string;
  moves: string[];
  /** Rows from the top with `/` between them, then the side to move. */
  position: string;
  legal: string[];
  /** For the first player, once the game is over. */
  result: number | null;
}

export interface Cell {
  row: number;
  column: number;
  /** As moves name it, `c2`. */
  name: string;
  piece: Side | null;
}

export const PASS = 'pass';

/** The name of a game without its parameters. */
export function baseName(game: string): string {
  return game.split(':')[0] ?? game;
}

export function sideToMove(position: string): Side {
  return position.split(' ')[1] === 'o' ? 'o' : 'x';
}

/** Whether a text is a position of a game on a grid, and not a FEN. */
export function isGridPosition(position: string): boolean {
  return /^[.xo/]+ [xo](?: |$)/.test(position);
}

/** The cells of a position, row by row from the top. */
export function cellsOf(game: string, position: string): Cell[][] {
  const rows = (position.split(' ')[0] ?? '').split('/');
  const base = baseName(game);
  const isFromBelow = base === 'breakthrough' || base === 'go';
  return rows.map((text, row) =>
    Array.from(text, (sign, column): Cell => {
      const number = isFromBelow ? rows.length - row : row + 1;
      const name = base === 'connect-four' ? String(column + 1) : columnName(base, column) + String(number);
      return { row, column, name, piece: sign === 'x' || sign === 'o' ? sign : null };
    }),
  );
}

/** Columns have letters; those of Go leave out the i. */
export function columnName(base: string, column: number): string {
  return String.fromCharCode(97 + column + (base === 'go' && column >= 8 ? 1 : 0));
}

/** The move that a click on a cell makes, with the cell that was chosen before; null if there is none. */
export function moveOf(position: GridPosition, cell: Cell, from: string | null): string | null {
  const move = baseName(position.game) === 'breakthrough' ? `${from ?? ''}${cell.name}` : cell.name;
  return position.legal.includes(move) ? move : null;
}

/** The cells of a move: where it goes, and before that where it comes from. */
export function cellsOfMove(game: string, position: string, move: string): Cell[] {
  if (move === PASS) return [];
  const all = cellsOf(game, position).flat();
  if (baseName(game) === 'connect-four') {
    const column = all.filter((cell) => cell.name === move);
    const landing = column.findLast((cell) => !cell.piece);
    return landing ? [landing] : [];
  }
  const names = move.match(/[a-z]\d+/g) ?? [];
  return names.flatMap((name) => all.filter((cell) => cell.name === name));
}

/** The cell of the last move, in the position after it. */
export function lastCells(game: string, position: string, move: string): Cell[] {
  const all = cellsOf(game, position).flat();
  if (baseName(game) === 'connect-four') {
    const top = all.find((cell) => cell.name === move && cell.piece);
    return top ? [top] : [];
  }
  return cellsOfMove(game, position, move);
}

/** The middle of a cell on the board, in units of a cell; rows of Hex are shifted. */
export function centreOf(game: string, cell: { row: number; column: number }): { x: number; y: number } {
  const x = cell.column + 0.5;
  const y = cell.row + 0.5;
  if (baseName(game) !== 'hex') return { x, y };
  return { x: x + cell.row / 2, y: 0.577 + cell.row * 0.866 };
}

/** The size of the board in units of a cell. */
export function sizeOf(game: string, rows: number, columns: number): { width: number; height: number } {
  if (baseName(game) !== 'hex') return { width: columns, height: rows };
  return { width: columns + (rows - 1) / 2, height: 1.155 + (rows - 1) * 0.866 };
}
