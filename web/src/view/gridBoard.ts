// The board of a game on a grid, as SVG: pieces, the last move, and the values of the engine's moves.
import type { App } from '../app';
import type { Cell, GridPosition } from '../grid';
import { baseName, cellsOf, cellsOfMove, centreOf, columnName, lastCells, moveOf, sizeOf } from '../grid';
import { sideToMove } from '../grid';
import * as gridGame from '../gridGame';
import { signed } from '../numbers';
import type { MoveRow } from '../protocol';
import type { VNode } from './dom';
import { h } from './dom';

const MARGIN = 0.62;
const MIN_SHARE = 0.01;
const HEXAGON = [30, 90, 150, 210, 270, 330].map((angle) => (angle * Math.PI) / 180);

export function gridBoard(app: App): VNode {
  const { state } = app;
  const { position, game } = state.grid;
  if (!position) return h('div.grid-board', [h('p.empty', 'The position is not known yet.')]);
  const text = state.selected?.fen ?? position.position;
  const cells = cellsOf(game, text);
  const base = baseName(game);
  const columns = cells[0]?.length ?? 1;
  const { width, height } = sizeOf(game, cells.length, columns);
  const box = `${-MARGIN} ${-MARGIN} ${width + 2 * MARGIN} ${height + 2 * MARGIN}`;
  const isHex = base === 'hex';
  return h('div.grid-board', { class: { [base]: true } }, [
    h(
      'svg',
      {
        attrs: {
          viewBox: box,
          role: 'group',
          'aria-label': `${base} board, ${sideToMove(text)} to move`,
        },
      },
      [
        isHex ? edges(game, cells) : h('rect.ground', { attrs: { width, height, rx: 0.1 } }),
        ...(base === 'go' ? lines(cells.length, columns) : []),
        ...labels(game, cells),
        ...cells.flat().map((cell) => drawCell(app, position, cell)),
        ...values(app, position),
      ],
    ),
  ]);
}

/** The edges of Hex: those of x at the top and at the bottom, those of o at the sides. */
function edges(game: string, cells: Cell[][]): VNode {
  const rows = cells.length;
  const columns = cells[0]?.length ?? 1;
  const at = (row: number, column: number, dx: number, dy: number): string => {
    const { x, y } = centreOf(game, { row, column });
    return `${x + dx},${y + dy}`;
  };
  const corners = {
    topLeft: at(0, 0, -1.08, -0.75),
    topRight: at(0, columns - 1, 0.22, -0.75),
    bottomLeft: at(rows - 1, 0, -0.22, 0.75),
    bottomRight: at(rows - 1, columns - 1, 1.08, 0.75),
  };
  const middle = at((rows - 1) / 2, (columns - 1) / 2, 0, 0);
  const { topLeft, topRight, bottomLeft, bottomRight } = corners;
  return h('g.edges', [
    h('polygon.x', { attrs: { points: `${topLeft} ${topRight} ${middle}` } }),
    h('polygon.x', { attrs: { points: `${bottomLeft} ${bottomRight} ${middle}` } }),
    h('polygon.o', { attrs: { points: `${topLeft} ${bottomLeft} ${middle}` } }),
    h('polygon.o', { attrs: { points: `${topRight} ${bottomRight} ${middle}` } }),
  ]);
}

function lines(rows: number, columns: number): VNode[] {
  const across = Array.from({ length: rows }, (_, row) =>
    h('line.go-line', { attrs: { x1: 0.5, x2: columns - 0.5, y1: row + 0.5, y2: row + 0.5 } }),
  );
  const down = Array.from({ length: columns }, (_, column) =>
    h('line.go-line', { attrs: { y1: 0.5, y2: rows - 0.5, x1: column + 0.5, x2: column + 0.5 } }),
  );
  return [...across, ...down];
}

function labels(game: string, cells: Cell[][]): VNode[] {
  const base = baseName(game);
  const rows = cells.length;
  const shown = cells.map((row) => row[0]?.name.replace(/^[a-z]/, '') ?? '');
  const names = (cells[0] ?? []).map((_, column) =>
    base === 'connect-four' ? String(column + 1) : columnName(base, column),
  );
  return [
    ...names.map((name, column) => {
      const { x, y } = centreOf(game, { row: rows - 1, column });
      return label(base === 'hex' ? x + 0.5 : x, y + (base === 'hex' ? 0.97 : 0.8), name);
    }),
    ...(base === 'connect-four'
      ? []
      : shown.map((name, row) => {
          const { x, y } = centreOf(game, { row, column: 0 });
          return label(x - (base === 'hex' ? 1 : 0.8), y, name);
        })),
  ];
}

function label(x: number, y: number, text: string): VNode {
  return h('text.label', { attrs: { x, y } }, text);
}

function drawCell(app: App, position: GridPosition, cell: Cell): VNode {
  const { grid, selected } = app.state;
  const base = baseName(grid.game);
  const { x, y } = centreOf(grid.game, cell);
  const move = moveOf(position, cell, grid.from);
  const isSource =
    base === 'breakthrough' && position.legal.some((legal) => legal.startsWith(cell.name) && legal !== move);
  const isActive = gridGame.mayMove(app) && (move !== null || isSource);
  const last = grid.moves[grid.at - 1];
  const isLast =
    !selected &&
    last !== undefined &&
    lastCells(grid.game, position.position, last).some(
      (other) => other.row === cell.row && other.column === cell.column,
    );
  const act = (): void => gridGame.onCell(app, cell);
  return h(
    'g.cell',
    {
      key: `${cell.row}-${cell.column}`,
      class: {
        active: isActive,
        last: isLast,
        chosen: grid.from === cell.name,
        target: base === 'breakthrough' && move !== null,
        odd: (cell.row + cell.column) % 2 === 1,
      },
      attrs: {
        'data-cell': cell.name,
        ...(isActive
          ? { role: 'button', tabindex: 0, 'aria-label': `${cell.name}, ${cell.piece ?? 'empty'}` }
          : {}),
      },
      on: isActive
        ? {
            click: act,
            keydown: (event: KeyboardEvent) => {
              if (event.key !== 'Enter' && event.key !== ' ') return;
              event.preventDefault();
              act();
            },
          }
        : {},
    },
    [ground(base, x, y), ...piece(base, cell, x, y)],
  );
}

function ground(base: string, x: number, y: number): VNode {
  if (base === 'hex') {
    const points = HEXAGON.map((angle) => `${x + 0.577 * Math.cos(angle)},${y + 0.577 * Math.sin(angle)}`);
    return h('polygon.field', { attrs: { points: points.join(' ') } });
  }
  if (base === 'connect-four')
    return h('g', [
      h('rect.frame', { attrs: { x: x - 0.5, y: y - 0.5, width: 1, height: 1 } }),
      h('circle.field', { attrs: { cx: x, cy: y, r: 0.42 } }),
    ]);
  return h('rect.field', { attrs: { x: x - 0.5, y: y - 0.5, width: 1, height: 1 } });
}

function piece(base: string, cell: Cell, x: number, y: number): VNode[] {
  if (!cell.piece) return [];
  if (base === 'tic-tac-toe')
    return [
      cell.piece === 'x'
        ? h('path.stroke.x', {
            attrs: { d: `M${x - 0.28} ${y - 0.28}l.56 .56M${x + 0.28} ${y - 0.28}l-.56 .56` },
          })
        : h('circle.stroke.o', { attrs: { cx: x, cy: y, r: 0.3 } }),
    ];
  return [h(`circle.piece.${cell.piece}`, { attrs: { cx: x, cy: y, r: base === 'hex' ? 0.4 : 0.42 } })];
}

/** The values of the most visited moves where they go, the best one marked. */
function values(app: App, position: GridPosition): VNode[] {
  const { state } = app;
  const report = state.analysis.reports[0];
  if (!report || !state.arrows || state.selected || report.fen !== position.position) return [];
  const total = Math.max(
    1,
    report.moves.reduce((sum, row) => sum + row.visits, 0),
  );
  const sign = sideToMove(position.position) === 'x' ? 1 : -1;
  const seen = new Set<string>();
  return report.moves
    .filter((row) => row.q !== null && (row.visits / total >= MIN_SHARE || row.state !== 'unknown'))
    .flatMap((row) => value(state.grid.game, position.position, row, sign, row.move === report.best, seen));
}

function value(
  game: string,
  position: string,
  row: MoveRow,
  sign: number,
  isBest: boolean,
  seen: Set<string>,
): VNode[] {
  const target = cellsOfMove(game, position, row.move);
  const to = target.at(-1);
  const from = target.length > 1 ? target[0] : undefined;
  if (!to) return [];
  const key = `${to.row}-${to.column}`;
  if (seen.has(key) && !isBest) return [];
  seen.add(key);
  const { x, y } = centreOf(game, to);
  const start = from && centreOf(game, from);
  return [
    start && isBest
      ? h('line.arrow', { key: `a${row.move}`, attrs: { x1: start.x, y1: start.y, x2: x, y2: y } })
      : null,
    h('g.value', { key: `v${row.move}`, class: { best: isBest } }, [
      h('circle', { attrs: { cx: x, cy: y, r: 0.36 } }),
      h('text', { attrs: { x, y } }, signed(sign * (row.q ?? 0), 2)),
    ]),
  ].filter((node): node is VNode => node !== null);
}
