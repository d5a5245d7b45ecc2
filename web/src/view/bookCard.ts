// The moves that were played from the position on the board in the games of the opened file.
import type { App } from '../app';
import { bookOf, movesIn, sanOf } from '../book';
import { currentNode } from '../current';
import * as game from '../game';
import { count } from '../numbers';
import type { VNode } from './dom';
import { h, scrolled, table } from './dom';

const MAX_ROWS = 10;

export function bookCard(app: App): VNode | null {
  const { collection, game: present } = app.state;
  if (!collection) return null;
  const book = bookOf(collection.entries, () => app.redraw());
  const { fen } = currentNode(app.state);
  const moves = movesIn(book, present.variant, fen);
  const rows = moves.slice(0, MAX_ROWS).map((row) => {
    const san = sanOf(present.variant, present.chess960, fen, row.uci);
    const known = Math.max(1, row.white + row.draws + row.black);
    const parts = [row.white, row.draws, row.black].map((part) => Math.round((100 * part) / known));
    return h('tr', { key: row.uci, attrs: { 'data-move': row.uci } }, [
      h('td', [
        h(
          'button.move',
          { attrs: { type: 'button' }, on: { click: () => void game.play(app, row.uci) } },
          san,
        ),
      ]),
      h('td', count(row.games)),
      h('td', [
        h(
          'div.wdl',
          {
            attrs: {
              role: 'img',
              'aria-label': `White won ${row.white}, ${row.draws} drawn, Black won ${row.black}`,
            },
          },
          (['white', 'draw', 'black'] as const).map((kind, index) =>
            h(
              `span.${kind}`,
              { style: { width: `${parts[index] ?? 0}%` } },
              (parts[index] ?? 0) >= 18 ? `${parts[index] ?? 0}%` : '',
            ),
          ),
        ),
      ]),
    ]);
  });
  const left = collection.entries.length - book.read;
  return h('section.card.book', { key: 'book', attrs: { 'aria-label': 'Moves played' } }, [
    h('h2', `Played in ${collection.name}`),
    rows.length
      ? scrolled('Moves played', table('table', ['Move', 'Games', 'Results'], rows))
      : h('p.empty', 'No game of this file was here.'),
    left > 0
      ? h('p.empty', `${count(book.read)} of ${count(collection.entries.length)} games are read.`)
      : null,
  ]);
}
