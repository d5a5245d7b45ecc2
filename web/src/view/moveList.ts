// The moves of the game with their variations, and the actions on the whole game.
import type { App } from '../app';
import { update } from '../app';
import { currentNode, outcomeAt } from '../current';
import * as game from '../game';
import { moveNumber, score } from '../numbers';
import { outcomeText } from '../match';
import { VARIANT_NAMES } from '../rules';
import type { TreeNode } from '../tree';
import { nodeOf, pathTo, plyOf, ROOT } from '../tree';
import type { VNode } from './dom';
import { button, h } from './dom';

export function moveList(app: App): VNode {
  const { state } = app;
  const inVariation = isVariation(app, state.current);
  const end = state.match?.outcome ?? outcomeAt(state);
  return h('section.card.moves', { key: 'moves', attrs: { 'aria-label': 'Moves' } }, [
    h('div.card-head', [
      h(
        'h2',
        state.game.headers['Opening'] ??
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
        button('Copy PGN', () => copy(app, game.pgn(state), 'The PGN'), { kind: 'quiet', id: 'copy-pgn' }),
      ]),
    ]),
    h(
      'div.move-text',
      { attrs: { tabindex: 0, role: 'group', 'aria-label': 'Move list' } },
      nodeOf(state.game, ROOT).children.length ? lineFrom(app, ROOT, true) : [h('p.empty', 'No moves yet.')],
    ),
    end ? h('p.outcome', outcomeText(end)) : null,
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
    if (first.comment) {
      written.push(h('span.comment', first.comment));
      needsNumber = true;
    }
    for (const other of others) {
      written.push(
        h('span.variation', { key: `v${other.id}` }, [
          moveNode(app, node, other, true),
          ...lineFrom(app, other.id, false),
        ]),
      );
      needsNumber = true;
    }
    node = first;
  }
  return written;
}

function moveNode(app: App, before: TreeNode, node: TreeNode, needsNumber: boolean): VNode {
  const number = moveNumber(plyOf(before.fen), needsNumber);
  const isCurrent = node.id === app.state.current;
  const judged =
    app.state.mode !== 'play' && node.judgement ? score(node.judgement.cp, node.judgement.mate) : '';
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
            if (isCurrent) intoView(vnode.elm as HTMLElement);
          },
        },
      },
      node.san,
    ),
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
