// The moves of the game with their variations, and the actions on the whole game.
import type { App } from '../app';
import { update } from '../app';
import { currentNode, outcomeAt } from '../current';
import { gamePgn } from '../collection';
import { glyph, readComments, scoreOf } from '../comments';
import * as game from '../game';
import { clockText, moveNumber, score } from '../numbers';
import { outcomeText } from '../match';
import { nameOfPosition } from '../openings';
import { START, VARIANT_NAMES } from '../rules';
import type { TreeNode } from '../tree';
import { nodeOf, pathTo, plyOf, ROOT } from '../tree';
import type { VNode } from './dom';
import { button, h, select } from './dom';
import { download, players, shown } from './games';

export function moveList(app: App): VNode {
  const { state } = app;
  const inVariation = isVariation(app, state.current);
  const end = state.match?.outcome ?? outcomeAt(state);
  return h('section.card.moves', { key: 'moves', attrs: { 'aria-label': 'Moves' } }, [
    h('div.card-head', [
      h(
        'h2',
        state.game.headers['Opening'] ??
          openingName(app) ??
          (state.game.chess960 && state.game.variant === 'chess'
            ? 'Chess960'
            : VARIANT_NAMES[state.game.variant]),
      ),
      h('div.keys', [
        inVariation ? button('Make this the main line', () => game.promoteLine(app), { icon: 'up' }) : null,
        state.mode !== 'play' && state.current !== ROOT
          ? button('Delete from here on', () => game.removeLine(app), { icon: 'trash' })
          : null,
        button('Copy FEN', () => copy(app, state.selected?.fen ?? currentNode(state).fen, 'The FEN'), {
          icon: 'copy',
          showsText: false,
          id: 'copy-fen',
        }),
        state.collection
          ? button(
              `Games (${state.collection.entries.length})`,
              () => update(app, { dialog: 'games', gamesFilter: '' }),
              { kind: 'quiet', id: 'games' },
            )
          : null,
        button('Download PGN', () => download('anabranch.pgn', gamePgn(state)), {
          icon: 'save',
          id: 'download-pgn',
        }),
        button('Copy PGN', () => copy(app, gamePgn(state), 'The PGN'), { kind: 'quiet', id: 'copy-pgn' }),
      ]),
    ]),
    gameInfo(app),
    h('div.move-text', { attrs: { tabindex: 0, role: 'group', 'aria-label': 'Move list' } }, [
      ...commentsOf(nodeOf(state.game, ROOT).comments),
      ...(nodeOf(state.game, ROOT).children.length
        ? lineFrom(app, ROOT, true)
        : [h('p.empty', 'No moves yet.')]),
    ]),
    state.mode === 'analyse' ? annotation(app) : null,
    end ? h('p.outcome', outcomeText(end)) : null,
  ]);
}

/** The name of the last well-known opening on the way to the position on the board. */
function openingName(app: App): string | undefined {
  const { game: present, current } = app.state;
  if (nodeOf(present, ROOT).fen !== START[present.variant]) return undefined;
  return pathTo(present, current)
    .map((node) => nameOfPosition(present.variant, node.fen))
    .findLast((name) => name !== undefined);
}

const CHOICES: Record<string, number | null> = {
  '–': null,
  '!': 1,
  '?': 2,
  '!!': 3,
  '??': 4,
  '!?': 5,
  '?!': 6,
};

/** The glyph and the comment of the position on the board, to be changed. */
function annotation(app: App): VNode {
  const node = currentNode(app.state);
  const present = Object.entries(CHOICES).find(([, nag]) => nag !== null && node.nags?.includes(nag))?.[0];
  return h('div.annotation', { key: `annotation-${node.id}` }, [
    node.parent === null
      ? null
      : select(
          'Glyph',
          Object.keys(CHOICES),
          present ?? '–',
          (text) => game.setGlyph(app, CHOICES[text] ?? null),
          true,
        ),
    h('input', {
      attrs: { type: 'text', placeholder: 'Comment…', 'aria-label': 'Comment', maxlength: 2000 },
      props: { value: readComments(node.comments).text },
      on: { change: (event: Event) => game.setComment(app, (event.target as HTMLInputElement).value) },
    }),
  ]);
}

/** Players, event, date and result of a game that came as PGN. */
function gameInfo(app: App): VNode | null {
  const { headers, isImported } = app.state.game;
  if (!isImported || !Object.keys(headers).length) return null;
  const { Event: event, Site: site, Round: round, Date: date, Result: result, ECO: eco } = headers;
  const place = [shown(event), shown(round) && `round ${round ?? ''}`, shown(site), shown(date), eco];
  return h('details.game-info', { key: 'info', attrs: { 'data-id': 'game-info' } }, [
    h('summary', [
      h('strong', players(headers)),
      result && result !== '*' ? h('b', ` ${result}`) : null,
      h('small', place.filter(Boolean).join(' · ')),
    ]),
    h(
      'dl.headers',
      Object.entries(headers).map(([name, value]) =>
        h('div', { key: name }, [h('dt', name), h('dd', value)]),
      ),
    ),
  ]);
}

function isVariation(app: App, id: number): boolean {
  const path = pathTo(app.state.game, id);
  return path.some((node, index) => index > 0 && path[index - 1]?.children[0] !== node.id);
}

/** The main line below a node. Variations follow the move that they replace. */
function lineFrom(app: App, from: number, numbersFirst: boolean): VNode[] {
  const written: VNode[] = [];
  let needsNumber = numbersFirst;
  let node = nodeOf(app.state.game, from);
  while (node.children.length) {
    const [first, ...others] = node.children.map((id) => nodeOf(app.state.game, id));
    if (!first) break;
    written.push(moveNode(app, node, first, needsNumber));
    needsNumber = false;
    const comments = commentsOf(first.comments);
    written.push(...comments);
    if (comments.length) needsNumber = true;
    for (const other of others) {
      written.push(
        h('span.variation', { key: `v${other.id}` }, [
          ...commentsOf(other.startingComments),
          moveNode(app, node, other, true),
          ...commentsOf(other.comments),
          ...lineFrom(app, other.id, false),
        ]),
      );
      needsNumber = true;
    }
    node = first;
  }
  return written;
}

function commentsOf(comments: string[] | undefined): VNode[] {
  const { text } = readComments(comments);
  return text ? [h('span.comment', text)] : [];
}

function moveNode(app: App, before: TreeNode, node: TreeNode, needsNumber: boolean): VNode {
  const number = moveNumber(plyOf(before.fen), needsNumber);
  const isCurrent = node.id === app.state.current;
  const found = app.state.mode === 'play' ? undefined : scoreOf(node);
  const judged = found ? score(found.cp, found.mate) : '';
  const { clock } = readComments(node.comments);
  const glyphs = (node.nags ?? []).map((nag) =>
    h('span.glyph', { class: { [`nag-${nag}`]: true } }, glyph(nag)),
  );
  return h('span.ply', { key: node.id }, [
    number ? h('span.number', number) : null,
    h(
      'button.move',
      {
        class: { current: isCurrent },
        attrs: { type: 'button', ...(isCurrent ? { 'aria-current': 'true' } : {}) },
        on: { click: () => game.goTo(app, node.id) },
        hook: {
          update: (_, vnode) => {
            // Not before the moves and lines above it are drawn too.
            if (isCurrent) queueMicrotask(() => intoView(vnode.elm as HTMLElement));
          },
        },
      },
      [node.san, ...glyphs],
    ),
    node.isBest
      ? h('span.best', { attrs: { title: "The engine's choice", role: 'img', 'aria-label': 'best' } }, '★')
      : null,
    clock === undefined ? null : h('span.clk', { attrs: { title: 'Clock' } }, clockText(clock)),
    judged ? h('span.judged', judged) : null,
  ]);
}

/** Scroll the list only, never the page. */
function intoView(element: HTMLElement): void {
  const list = element.closest<HTMLElement>('.move-text');
  if (!list) return;
  const top = element.offsetTop - list.offsetTop;
  if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 28)
    list.scrollTop = top - list.clientHeight / 2;
}

export function copy(app: App, text: string, what: string): void {
  navigator.clipboard.writeText(text).then(
    () => update(app, { notice: `${what} is copied.` }),
    () => update(app, { notice: `${what} cannot be copied: the browser does not allow it.` }),
  );
}
