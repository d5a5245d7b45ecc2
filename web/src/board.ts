// The board on the screen, over chessground: shows the state, and reports moves of the user.
import { Chessground } from 'chessground';
import type { Api } from 'chessground/api';
import type { Config } from 'chessground/config';
import type { DrawBrushes, DrawShape } from 'chessground/draw';
import type { Key } from 'chessground/types';
import { makeSquare } from 'chessops/util';
import type { App } from './app';
import { update } from './app';
import { readComments } from './comments';
import { canMove, canPremove, currentNode, currentPosition } from './current';
import * as game from './game';
import { destinations, dropSquares, NULL_UCI, positionOf, turnOf } from './rules';
import type { Color, Role, SquareName } from './rules';

const MAX_ARROWS = 3;

export class Board {
  private readonly ground: Api;
  private shown = '';
  private shapes = '';

  constructor(
    element: HTMLElement,
    private readonly app: App,
  ) {
    this.ground = Chessground(element, this.config());
    this.shown = this.key();
  }

  /** Show the state. The pieces are set only when they have changed, so that a drag is not interrupted. */
  update(): void {
    const key = this.key();
    if (key !== this.shown) {
      this.shown = key;
      this.ground.set(this.config());
      if (canMove(this.app.state)) this.playPremove();
      else if (!canPremove(this.app.state)) this.cancelPremove();
    }
    const shapes = this.autoShapes();
    const text = JSON.stringify(shapes);
    if (text !== this.shapes) {
      this.shapes = text;
      this.ground.setAutoShapes(shapes);
    }
  }

  reset(): void {
    this.shown = '';
  }

  resize(): void {
    this.ground.redrawAll();
  }

  dragFromPocket(colour: Color, role: Role, event: MouseEvent | TouchEvent): void {
    this.ground.dragNewPiece({ color: colour, role }, event, false);
  }

  destroy(): void {
    this.ground.destroy();
  }

  /** Play the move or drop that was entered while the engine was thinking. */
  private playPremove(): void {
    setTimeout(() => {
      this.ground.playPremove();
      this.ground.playPredrop((drop) => {
        const pos = currentPosition(this.app.state);
        return dropSquares(pos, drop.role).includes(drop.key as SquareName);
      });
    }, 1);
  }

  /** Plan a drop for when it is the user's turn, as a drag from the pocket does. */
  private planDrop(role: Role, square: Key): void {
    setTimeout(() => {
      this.ground.cancelPremove();
      this.ground.state.predroppable.current = { role, key: square };
      this.ground.state.dom.redraw();
    }, 1); // after the board has handled the click, which removes an older plan
    update(this.app, { dropRole: null });
  }

  private cancelPremove(): void {
    this.ground.cancelPremove();
    this.ground.cancelPredrop();
  }

  /** Everything that the pieces and moves on the board depend on. */
  private key(): string {
    const { state } = this.app;
    return [
      state.selected?.fen ?? currentNode(state).fen,
      state.current,
      state.orientation,
      state.mode,
      state.dropRole,
      state.cursor,
      state.keyboardFrom,
      state.match?.human,
      !!state.match?.outcome,
      state.promotion?.to,
      state.game.variant,
      state.game.chess960,
    ].join('|');
  }

  private config(): Config {
    const { state } = this.app;
    const fen = state.selected?.fen ?? currentNode(state).fen;
    const position = positionOf(state.game.variant, fen);
    const turn = turnOf(fen);
    const mayMove = canMove(state);
    const mayPremove = canPremove(state);
    return {
      // A promoting pawn stays on its square until the piece is chosen.
      fen: state.promotion ? undefined : fen,
      orientation: state.orientation,
      turnColor: turn,
      check: position.isCheck() ? turn : false,
      lastMove: state.selected ? undefined : lastMove(currentNode(state).uci),
      coordinates: true,
      autoCastle: true,
      addDimensionsCssVarsTo: document.documentElement,
      animation: { enabled: !matchMedia('(prefers-reduced-motion: reduce)').matches, duration: 180 },
      highlight: { lastMove: true, check: true, custom: this.highlights() },
      movable: {
        free: false,
        color: mayMove ? turn : mayPremove ? state.match?.human : undefined,
        dests: mayMove ? destinations(position, state.game.chess960) : new Map(),
        showDests: true,
        rookCastle: true,
        events: {
          after: (from, to, metadata) =>
            game.moveOnBoard(this.app, from as SquareName, to as SquareName, metadata.premove),
          afterNewPiece: (role, square) => game.dropOnBoard(this.app, role, square as SquareName),
        },
      },
      premovable: { enabled: mayPremove, showDests: true, castle: true },
      predroppable: { enabled: mayPremove && state.game.variant === 'crazyhouse' },
      draggable: { enabled: true, showGhost: true },
      drawable: { enabled: true, eraseOnClick: true, brushes: BRUSHES },
      events: {
        select: (square) => {
          const role = this.app.state.dropRole;
          if (role && canPremove(this.app.state)) this.planDrop(role, square);
          else if (role) game.dropOnBoard(this.app, role, square as SquareName);
        },
      },
    };
  }

  private highlights(): Map<Key, string> {
    const { state } = this.app;
    const squares = new Map<Key, string>();
    if (state.dropRole && canMove(state)) {
      for (const square of dropSquares(currentPosition(state), state.dropRole))
        squares.set(square, 'drop-dest');
    }
    if (state.keyboardFrom) {
      squares.set(state.keyboardFrom, 'selected');
      const position = currentPosition(state);
      for (const square of destinations(position, state.game.chess960).get(state.keyboardFrom) ?? []) {
        squares.set(square, 'drop-dest');
      }
    }
    if (state.cursor) squares.set(state.cursor, `${squares.get(state.cursor) ?? ''} cursor`.trim());
    return squares;
  }

  private autoShapes(): DrawShape[] {
    const { state } = this.app;
    const shapes: DrawShape[] = [];
    if (state.selected) return shapes;
    for (const { color, from, to } of readComments(currentNode(state).comments).shapes)
      shapes.push({ orig: makeSquare(from), dest: from === to ? undefined : makeSquare(to), brush: color });
    if (state.hint) shapes.push(arrow(state.hint, 'hint', 1));
    if (state.mode === 'play' || !state.arrows) return shapes;
    const turn = turnOf(currentNode(state).fen);
    const [first, second] = state.analysis.reports;
    if (first && first.fen.split(' ')[0] === currentNode(state).fen.split(' ')[0]) {
      const total = Math.max(1, first.statistics.visits);
      first.lines.slice(0, MAX_ARROWS).forEach((line, index) => {
        const move = line.moves[0];
        if (move) shapes.push(arrow(move, index ? 'other' : 'best', line.visits / total, turn));
      });
    }
    const rival = state.analysis.compare ? second?.best : undefined;
    if (rival && rival !== first?.best) shapes.push(arrow(rival, 'rival', 1, turn));
    return shapes;
  }
}

const WIDTHS = { best: 10, other: 6, hint: 10, rival: 8 };

/** The brushes of the user, and those of the engine. */
const BRUSHES: DrawBrushes = {
  green: { key: 'g', color: '#15781b', opacity: 1, lineWidth: 10 },
  red: { key: 'r', color: '#882020', opacity: 1, lineWidth: 10 },
  blue: { key: 'b', color: '#003088', opacity: 1, lineWidth: 10 },
  yellow: { key: 'y', color: '#e68f00', opacity: 1, lineWidth: 10 },
  best: { key: 'best', color: '#0a6678', opacity: 1, lineWidth: 10 },
  other: { key: 'other', color: '#3f4d57', opacity: 0.6, lineWidth: 6 },
  hint: { key: 'hint', color: '#15781b', opacity: 1, lineWidth: 10 },
  rival: { key: 'rival', color: '#d9480f', opacity: 0.9, lineWidth: 8 },
};

function arrow(move: string, kind: keyof typeof WIDTHS, share: number, colour: Color = 'white'): DrawShape {
  const lineWidth = Math.round(Math.max(3, WIDTHS[kind] * Math.min(1, 0.4 + share)));
  if (move[1] === '@') {
    const role =
      ({ P: 'pawn', N: 'knight', B: 'bishop', R: 'rook', Q: 'queen' } as const)[move[0] ?? ''] ?? 'pawn';
    return { orig: move.slice(2) as Key, piece: { role, color: colour, scale: 0.7 }, brush: kind };
  }
  return {
    orig: move.slice(0, 2) as Key,
    dest: move.slice(2, 4) as Key,
    brush: kind,
    modifiers: { lineWidth },
  };
}

function lastMove(uci: string): Key[] | undefined {
  if (!uci || uci === NULL_UCI) return undefined;
  return uci[1] === '@' ? [uci.slice(2) as Key] : [uci.slice(0, 2) as Key, uci.slice(2, 4) as Key];
}
