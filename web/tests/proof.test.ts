import { expect, test } from 'vitest';
import { treeOf, verdict } from '../src/proof';
import type { Proof } from '../src/protocol';

/** A mate in two: Rb7, and then Ra8 after each of two king moves. */
const PROOF: Proof = {
  fen: '6k1/8/8/8/8/8/R7/1R5K w - - 0 1',
  result: 'win',
  mate: 2,
  plies: 3,
  no_win: false,
  positions: 12,
  proof: 5,
  seconds: 0.01,
  tree: {
    parent: [null, 0, 1, 1, 2],
    move: ['', 'b1b7', 'g8f8', 'g8h8', 'a2a8'],
    plies: [3, 2, 1, 1, 0],
    same: [null, null, null, 2, null],
    hidden: [0, 0, 0, 0, 0],
  },
};

test('the longest line runs along the first row, other defences below it', () => {
  const tree = treeOf(PROOF, { variant: 'chess', chess960: false });
  expect(tree.nodes.map((node) => [node.depth, node.row])).toEqual([
    [0, 0],
    [1, 0],
    [2, 0],
    [2, 1],
    [3, 0],
  ]);
  expect([tree.rows, tree.depth]).toEqual([2, 3]);
});

test('moves are written as players do, and belong to the winner or to the defence', () => {
  const tree = treeOf(PROOF, { variant: 'chess', chess960: false });
  expect(tree.nodes.slice(1).map((node) => node.san)).toEqual(['Rb7', 'Kf8', 'Kh8', 'Ra8#']);
  expect(tree.nodes.slice(1).map((node) => node.isWinner)).toEqual([true, false, false, true]);
  expect(tree.nodes[4]?.path).toEqual(['b1b7', 'g8f8', 'a2a8']);
  expect(tree.nodes[3]?.same).toBe(2);
  const lost = treeOf({ ...PROOF, result: 'loss' }, null);
  expect(lost.nodes[1]?.isWinner).toBe(false);
});

test('the verdict is a sentence', () => {
  expect(verdict(PROOF)).toBe('The side to move wins in 2.');
  expect(verdict({ ...PROOF, result: null })).toContain('Nothing is proven');
  expect(verdict({ ...PROOF, result: null, no_win: true })).toContain('no forced win');
});
