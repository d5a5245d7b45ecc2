// Well-known openings to start from, as moves from the initial position.
import { OPENING_NAMES } from './openingNames';
import type { Variant } from './rules';
import { fenOf, positionOf, readMove, samePositionKey, START } from './rules';

export interface Opening {
  name: string;
  moves: string;
}

export const OPENINGS: Record<Variant, readonly Opening[]> = {
  chess: [
    { name: 'Ruy Lopez', moves: 'e4 e5 Nf3 Nc6 Bb5' },
    { name: 'Italian Game', moves: 'e4 e5 Nf3 Nc6 Bc4' },
    { name: 'Scotch Game', moves: 'e4 e5 Nf3 Nc6 d4 exd4 Nxd4' },
    { name: 'Petroff Defence', moves: 'e4 e5 Nf3 Nf6' },
    { name: "King's Gambit", moves: 'e4 e5 f4' },
    { name: 'Sicilian, Najdorf', moves: 'e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6' },
    { name: 'Sicilian, Dragon', moves: 'e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6' },
    { name: 'Sicilian, Sveshnikov', moves: 'e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 Nf6 Nc3 e5' },
    { name: 'French Defence, Winawer', moves: 'e4 e6 d4 d5 Nc3 Bb4' },
    { name: 'Caro-Kann Defence, Advance', moves: 'e4 c6 d4 d5 e5' },
    { name: 'Scandinavian Defence', moves: 'e4 d5 exd5 Qxd5 Nc3' },
    { name: 'Pirc Defence', moves: 'e4 d6 d4 Nf6 Nc3 g6' },
    { name: "Queen's Gambit Declined", moves: 'd4 d5 c4 e6 Nc3 Nf6' },
    { name: "Queen's Gambit Accepted", moves: 'd4 d5 c4 dxc4' },
    { name: 'Slav Defence', moves: 'd4 d5 c4 c6' },
    { name: 'Nimzo-Indian Defence', moves: 'd4 Nf6 c4 e6 Nc3 Bb4' },
    { name: "King's Indian Defence", moves: 'd4 Nf6 c4 g6 Nc3 Bg7 e4 d6' },
    { name: 'Grünfeld Defence', moves: 'd4 Nf6 c4 g6 Nc3 d5' },
    { name: 'Benoni Defence', moves: 'd4 Nf6 c4 c5 d5 e6' },
    { name: 'London System', moves: 'd4 d5 Nf3 Nf6 Bf4' },
    { name: 'English Opening', moves: 'c4 e5 Nc3 Nf6' },
    { name: 'Réti Opening', moves: 'Nf3 d5 c4' },
  ],
  crazyhouse: [
    { name: 'Open game, knights out', moves: 'e4 e5 Nf3 Nc6 Bc4 Nf6' },
    { name: 'Scotch with pockets', moves: 'e4 e5 Nf3 Nc6 d4 exd4 Nxd4' },
    { name: 'Sicilian, open', moves: 'e4 c5 Nf3 d6 d4 cxd4 Nxd4' },
    { name: 'French, exchange', moves: 'e4 e6 d4 d5 exd5 exd5' },
    { name: 'Scandinavian, queen out', moves: 'e4 d5 exd5 Qxd5 Nc3' },
    { name: "Alekhine's Defence", moves: 'e4 Nf6 e5 Nd5' },
    { name: 'Four knights', moves: 'e4 Nc6 Nc3 Nf6 Nf3 d6' },
    { name: "Queen's pawn, knights", moves: 'd4 d5 Nf3 Nf6 Bf4 Nc6' },
  ],
};

/** Names of positions by how they can be reached; the names of the list to start from are among them. */
function namedLines(variant: Variant): Opening[] {
  if (variant !== 'chess') return [...OPENINGS[variant]];
  const lines = OPENING_NAMES.trim()
    .split('\n')
    .map((line): Opening => {
      const [name = '', moves = ''] = line.split(': ');
      return { name, moves };
    });
  return [...OPENINGS.chess, ...lines];
}

const names = new Map<Variant, Map<string, string>>();

/** The name of an opening that ends in a position, by whichever moves it was reached. */
export function nameOfPosition(variant: Variant, fen: string): string | undefined {
  let known = names.get(variant);
  if (!known) {
    known = new Map(
      namedLines(variant).map((opening) => {
        const position = positionOf(variant, START[variant]);
        for (const san of opening.moves.split(' ')) {
          const move = readMove(position, san);
          if (move) position.play(move);
        }
        return [samePositionKey(fenOf(position)), opening.name];
      }),
    );
    names.set(variant, known);
  }
  return known.get(samePositionKey(fen));
}
