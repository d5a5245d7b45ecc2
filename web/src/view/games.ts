// The dialog with the games of an opened file.
import type { App } from '../app';
import { update } from '../app';
import { refusal, wholeText } from '../collection';
import { chooseGame, closeCollection } from '../files';
import type { PgnEntry } from '../pgnFile';
import type { VNode } from './dom';
import { button, h } from './dom';

const MAX_SHOWN = 400;

export function gamesList(app: App): VNode[] {
  const { collection: present, gamesFilter } = app.state;
  if (!present) return [h('p.empty', 'No file is open.')];
  const words = gamesFilter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = present.entries
    .map((entry, index) => ({ entry, index }))
    .filter(({ entry }) => {
      const text = Object.values(entry.headers).join(' ').toLowerCase();
      return words.every((word) => text.includes(word));
    });
  return [
    h('input', {
      attrs: {
        type: 'text',
        placeholder: 'Player, event, year…',
        'aria-label': 'Find games',
        spellcheck: 'false',
      },
      props: { value: gamesFilter },
      on: { input: (event: Event) => update(app, { gamesFilter: (event.target as HTMLInputElement).value }) },
    }),
    h(
      'p.empty',
      { attrs: { role: 'status' } },
      `${found.length} of ${present.entries.length} games` +
        (found.length > MAX_SHOWN ? `; the first ${MAX_SHOWN} are shown` : ''),
    ),
    h(
      'ol.games',
      { attrs: { tabindex: 0, 'aria-label': 'Games' } },
      found.slice(0, MAX_SHOWN).map(({ entry, index }) => row(app, entry, index, index === present.index)),
    ),
    h('div.buttons', [
      button('Download all', () => download('games.pgn', wholeText(app.state)), {
        kind: 'quiet',
        icon: 'save',
        showsText: true,
        id: 'download-all',
      }),
      button('Close the file', () => closeCollection(app), { kind: 'quiet', id: 'close-file' }),
    ]),
  ];
}

function row(app: App, entry: PgnEntry, index: number, isCurrent: boolean): VNode {
  const refused = refusal(entry);
  const { Event: event, Date: date, Result: result } = entry.headers;
  return h('li', { key: index }, [
    h(
      'button.quiet',
      {
        attrs: {
          type: 'button',
          disabled: !!refused,
          ...(refused ? { title: refused } : {}),
          ...(isCurrent ? { 'aria-current': 'true' } : {}),
        },
        class: { current: isCurrent },
        on: { click: () => chooseGame(app, index) },
      },
      [
        h('span', `${index + 1}. ${players(entry.headers)}`),
        h('b', result ?? '*'),
        h(
          'small',
          [shown(event), shown(date), entry.headers['Variant']].filter(Boolean).join(' · ') || '\u00a0',
        ),
      ],
    ),
  ]);
}

export function players(headers: Record<string, string>): string {
  const name = (side: 'White' | 'Black'): string => {
    const elo = headers[`${side}Elo`];
    return `${shown(headers[side]) || side}${elo && elo !== '?' ? ` (${elo})` : ''}`;
  };
  return `${name('White')} – ${name('Black')}`;
}

/** A header that is known; PGN writes `?` for what is not. */
export function shown(value: string | undefined): string {
  return value && !/^[?.\-\s]*$/.test(value) ? value.replace(/\\(["\\])/g, '$1') : '';
}

/** Save a text as a file. */
export function download(name: string, content: string | Blob, type = 'application/x-chess-pgn'): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
