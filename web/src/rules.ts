// The rules, over chessops: positions, legal moves, notation and the end of a game. Knows nothing of the page
// or the engine. Moves are in the engine's UCI: castling is e1g1, in Chess960 e1h1.
import type { Position } from 'chessops/chess';
import { castlingSide, normalizeMove } from 'chessops/chess';
import { chessgroundDests } from 'chessops/compat';
import { INITIAL_FEN, makeFen, parseFen } from 'chessops/fen';
import { makeSan, parseSan } from 'chessops/san';
import type { Color, Move, Role, SquareName } from 'chessops/types';
import { isDrop } from 'chessops/types';
import { kingCastlesTo, makeSquare, makeUci, parseUci } from 'chessops/util';
import { setupPosition } from 'chessops/variant';

export type Variant = 'chess' | 'crazyhouse';
export type { Color, Role, SquareName };

export const VARIANT_NAMES: Record<Variant, string> = { chess: 'Chess', crazyhouse: 'Crazyhouse' };

export const START: Record<Variant, string> = {
  chess: INITIAL_FEN,
  crazyhouse: INITIAL_FEN.replace(' ', '[] '),
};

/** An error whose message is a sentence for the user. */
export class RulesError extends Error {}

const REASONS: Record<string, string> = {
  ERR_EMPTY: 'the board is empty',
  ERR_OPPOSITE_CHECK: 'the side that is not to move is in check',
  ERR_PAWNS_ON_BACKRANK: 'there are pawns on the first or last rank',
  ERR_KINGS: 'each side needs exactly one king',
  ERR_FEN: 'it is not a FEN',
  ERR_BOARD: 'the board cannot be read',
  ERR_POCKETS: 'the pockets cannot be read',
  ERR_TURN: 'the side to move cannot be read',
  ERR_CASTLING: 'the castling rights cannot be read',
  ERR_EP_SQUARE: 'the en-passant square cannot be read',
  ERR_HALFMOVES: 'the halfmove clock cannot be read',
  ERR_FULLMOVES: 'the move number cannot be read',
};

export function positionOf(variant: Variant, fen: string): Position {
  const result = parseFen(fen.trim()).chain((setup) => {
    if (variant === 'chess') setup.pockets = undefined;
    return setupPosition(variant, setup);
  });
  if (result.isErr) {
    const reason = REASONS[result.error.message] ?? result.error.message;
    throw new RulesError(`That position cannot be used: ${reason}.`);
  }
  return result.value;
}

export function fenOf(position: Position): string {
  return makeFen(position.toSetup());
}

/** The move in the engine's notation. */
function uciOf(position: Position, move: Move, chess960: boolean): string {
  if (!chess960 && !isDrop(move)) {
    const side = castlingSide(position, move);
    if (side) return makeSquare(move.from) + makeSquare(kingCastlesTo(position.turn, side));
  }
  return makeUci(move);
}

/** A legal move from UCI or SAN; undefined if it is not legal. */
export function readMove(position: Position, text: string): Move | undefined {
  const trimmed = text.trim();
  const uci = parseUci(trimmed.replace(/^([pnbrq])@/, (drop) => drop.toUpperCase()));
  if (uci) {
    const move = normalizeMove(position, uci);
    if (position.isLegal(move)) return move;
  }
  return parseSan(position, trimmed.replaceAll('0', 'O')) ?? parseSan(position, trimmed);
}

export interface Played {
  uci: string;
  san: string;
  fen: string;
}

const NULL_SAN = '--';
/** A null move, which PGN files of lessons contain. */
export const NULL_UCI = '0000';

/** The other side to move, unless that leaves a king in check. */
function playNull(position: Position): Played | undefined {
  if (position.isCheck()) return undefined;
  if (position.turn === 'black') position.fullmoves += 1;
  position.turn = position.turn === 'white' ? 'black' : 'white';
  position.epSquare = undefined;
  position.halfmoves += 1;
  return { uci: NULL_UCI, san: NULL_SAN, fen: fenOf(position) };
}

/** The result of a move (UCI or SAN); undefined if it is illegal. */
export function playOn(variant: Variant, chess960: boolean, fen: string, text: string): Played | undefined {
  return playFrom(positionOf(variant, fen), chess960, text);
}

/** The same from a position, which is changed by the move. */
export function playFrom(position: Position, chess960: boolean, text: string): Played | undefined {
  if (text === NULL_SAN) return playNull(position);
  const move = readMove(position, text);
  if (!move) return undefined;
  const uci = uciOf(position, move, chess960);
  const san = makeSan(position, move);
  position.play(move);
  return { uci, san, fen: fenOf(position) };
}

/** A line of moves as SAN, up to the first illegal one. */
export function sanLine(variant: Variant, fen: string, moves: readonly string[]): string[] {
  const position = positionOf(variant, fen);
  const sans: string[] = [];
  for (const text of moves) {
    const move = readMove(position, text);
    if (!move) break;
    sans.push(makeSan(position, move));
    position.play(move);
  }
  return sans;
}

export function destinations(position: Position, chess960: boolean): Map<SquareName, SquareName[]> {
  return chessgroundDests(position, { chess960 });
}

/** Squares where a piece of the pocket may be dropped. */
export function dropSquares(position: Position, role: Role): SquareName[] {
  return position.pockets && position.pockets[position.turn][role] > 0
    ? [...position.dropDests()].map(makeSquare).filter((square) => role !== 'pawn' || !/[18]/.test(square))
    : [];
}

export interface Outcome {
  winner: Color | null;
  reason: string;
}

/** The outcome of a game by the rules, or null. `earlier` are the FENs of the positions before. */
export function outcomeOf(position: Position, earlier: readonly string[]): Outcome | null {
  if (position.isCheckmate()) {
    return { winner: position.turn === 'white' ? 'black' : 'white', reason: 'checkmate' };
  }
  if (position.isStalemate()) return { winner: null, reason: 'stalemate' };
  if (position.isInsufficientMaterial()) return { winner: null, reason: 'insufficient material' };
  if (position.rules === 'chess' && position.halfmoves >= 100) return { winner: null, reason: 'fifty moves' };
  const now = samePositionKey(fenOf(position));
  if (earlier.filter((fen) => samePositionKey(fen) === now).length >= 2) {
    return { winner: null, reason: 'threefold repetition' };
  }
  return null;
}

/** The key of a position for the rule of repetition. */
export function samePositionKey(fen: string): string {
  return fen.split(' ').slice(0, 4).join(' ').replaceAll('~', '');
}

/** The side to move; in games on a grid x is the first and counts as White. */
export function turnOf(fen: string): Color {
  const side = fen.split(' ')[1];
  return side === 'b' || side === 'o' ? 'black' : 'white';
}

export function randomStart(variant: Variant): string {
  return chess960Start(Math.floor(Math.random() * 960), variant);
}

/** Start position number 0 to 959 of Chess960, by the usual numbering (518 is chess). */
export function chess960Start(number: number, variant: Variant): string {
  const row: string[] = Array.from({ length: 8 }, () => '');
  const free = (): number[] => row.flatMap((piece, file) => (piece ? [] : [file]));
  let rest = number;
  row[2 * (rest % 4) + 1] = 'b';
  rest = Math.floor(rest / 4);
  row[2 * (rest % 4)] = 'b';
  rest = Math.floor(rest / 4);
  row[free()[rest % 6] ?? 0] = 'q';
  rest = Math.floor(rest / 6);
  const pairs = [
    [0, 1],
    [0, 2],
    [0, 3],
    [0, 4],
    [1, 2],
    [1, 3],
    [1, 4],
    [2, 3],
    [2, 4],
    [3, 4],
  ];
  const [first = 0, second = 1] = pairs[rest] ?? [];
  const open = free();
  row[open[first] ?? 0] = 'n';
  row[open[second] ?? 0] = 'n';
  for (const piece of ['r', 'k', 'r']) row[free()[0] ?? 0] = piece;
  const pieces = row.join('');
  const pocket = variant === 'crazyhouse' ? '[]' : '';
  return `${pieces}/pppppppp/8/8/8/8/PPPPPPPP/${pieces.toUpperCase()}${pocket} w KQkq - 0 1`;
}

/** A move in words for a screen reader. */
export function spoken(san: string): string {
  const words: Record<string, string> = {
    N: 'knight ',
    B: 'bishop ',
    R: 'rook ',
    Q: 'queen ',
    K: 'king ',
    P: 'pawn ',
    x: 'takes ',
    '+': ' check',
    '#': ' checkmate',
    '=': ' promotes to ',
    '@': 'to ',
  };
  if (san.startsWith('O-O-O')) return `castles queenside${san.endsWith('+') ? ' check' : ''}`;
  if (san.startsWith('O-O')) return `castles kingside${san.endsWith('+') ? ' check' : ''}`;
  return san.replace(/[NBRQKPx+#=@]/g, (sign) => words[sign] ?? sign);
}
