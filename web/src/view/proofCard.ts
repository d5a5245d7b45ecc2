// The proof of a forced win or loss, drawn as a tree: the winner's move, then all defences, to the end.
import type { App } from '../app';
import { update } from '../app';
import { isOver } from '../current';
import { prove, treeOf, verdict } from '../proof';
import type { ProofNode, ProofTree } from '../proof';
import type { State } from '../state';
import type { VNode } from './dom';
import { button, h } from './dom';

const COLUMN = 76;
const ROW = 26;

export function proofCard(app: App): VNode {
  const { state } = app;
  const { proof } = state;
  const isProving = state.request?.purpose === 'proof';
  return h('section.card.proof', { attrs: { 'aria-label': 'Proof' } }, [
    h('div.card-head', [
      h('h2', 'Proof'),
      button(state.selected ? 'Prove the selected position' : 'Prove this position', () => prove(app), {
        id: 'prove',
        disabled: isProving || state.connection !== 'open' || (!state.selected && isOver(state)),
      }),
    ]),
    isProving
      ? h('p.empty', { attrs: { role: 'status' } }, 'Looking for a forced win or loss…')
      : proof
        ? h('p.proof-verdict', { attrs: { 'data-id': 'proof-verdict' } }, verdict(proof))
        : h('p.empty', 'A forced win or loss, with an answer to every defence.'),
    proof?.result ? drawn(app, proof) : null,
  ]);
}

let laidOut: { proof: State['proof']; tree: ProofTree } | null = null;

function drawn(app: App, proof: NonNullable<State['proof']>): VNode {
  if (laidOut?.proof !== proof)
    laidOut = { proof, tree: treeOf(proof, app.state.mode === 'games' ? null : app.state.game) };
  const { nodes, rows, depth } = laidOut.tree;
  const [width, height] = [(depth + 1) * COLUMN, rows * ROW];
  return h(
    'div.proof-frame',
    { attrs: { tabindex: 0, role: 'group', 'aria-label': 'The tree of the proof' } },
    [
      h('div.proof-tree', { style: { width: `${width}px`, height: `${height}px` } }, [
        h('svg', { attrs: { width, height, 'aria-hidden': 'true' } }, [
          h('path', { attrs: { d: nodes.map((node) => edgeOf(node, nodes)).join('') } }),
        ]),
        ...nodes.map((node) => step(app, proof, node)),
      ]),
    ],
  );
}

/** The edge to a node: down from its parent, and across. */
function edgeOf(node: ProofNode, nodes: readonly ProofNode[]): string {
  const parent = node.parent === null ? undefined : nodes[node.parent];
  if (!parent) return '';
  const [x, y, from] = [node.depth * COLUMN, (node.row + 0.5) * ROW, (parent.row + 0.5) * ROW];
  const start = parent.depth * COLUMN + COLUMN / 2;
  return from === y ? `M${start} ${y}H${x}` : `M${x - 12} ${from}V${y}H${x}`;
}

function step(app: App, proof: NonNullable<State['proof']>, node: ProofNode): VNode {
  const { state } = app;
  const text = node.parent === null ? 'Root' : node.san;
  const path = [...proof.path, ...node.path];
  const key = `proof ${path.join(' ')}`;
  const more = node.same !== null ? ' =' : node.hidden ? ' …' : '';
  const title =
    node.same !== null
      ? 'This position is elsewhere in the tree'
      : node.hidden
        ? `${node.hidden} more moves`
        : node.isEnd
          ? 'The end'
          : '';
  return h(
    'button.proof-step',
    {
      key: node.id,
      class: { winner: node.isWinner, end: node.isEnd, current: state.selected?.key === key },
      style: { left: `${node.depth * COLUMN}px`, top: `${node.row * ROW}px` },
      attrs: { type: 'button', disabled: !node.fen, title },
      on: {
        click: () => {
          if (node.fen) update(app, { selected: { key, fen: node.fen, path } });
        },
      },
    },
    `${text}${more}`,
  );
}
