// Comments of PGN: clocks, evaluations and shapes are commands inside the text, `[%clk 0:03:00]`. They are
// shown as what they are; the text that came in is never rewritten, but for an evaluation that is replaced.
import { parseComment } from 'chessops/pgn';
import type { CommentShape } from 'chessops/pgn';
import type { Judgement, TreeNode } from './tree';

export interface ReadComment {
  text: string;
  clock?: number;
  /** Pawns or a mate, for White. */
  evaluation?: { cp: number; mate: number | null };
  shapes: CommentShape[];
}

const known = new WeakMap<string[], ReadComment>();

/** What the comments after a move contain. */
export function readComments(comments: string[] | undefined): ReadComment {
  if (!comments) return { text: '', shapes: [] };
  const cached = known.get(comments);
  if (cached) return cached;
  const read: ReadComment = { text: '', shapes: [] };
  for (const comment of comments) {
    const { text, clock, evaluation, shapes } = parseComment(comment);
    read.text = [read.text, text.replace(/\s+/g, ' ')].filter(Boolean).join(' ');
    if (clock !== undefined) read.clock = clock;
    if (evaluation)
      read.evaluation =
        'mate' in evaluation
          ? { cp: evaluation.mate > 0 ? 10_000 : -10_000, mate: evaluation.mate }
          : { cp: Math.round(100 * evaluation.pawns), mate: null };
    read.shapes.push(...shapes);
  }
  known.set(comments, read);
  return read;
}

/** The score of a node, for White: what was searched here, else the evaluation in its comment. */
export function scoreOf(node: TreeNode): { cp: number; mate: number | null } | undefined {
  return node.judgement ?? readComments(node.comments).evaluation;
}

/** The expected score of a node for White on [-1, 1]; from an evaluation in a comment, by a usual scale. */
export function valueOf(node: TreeNode): number | undefined {
  if (node.judgement) return node.judgement.value;
  const given = readComments(node.comments).evaluation;
  if (!given) return undefined;
  return given.mate === null ? 2 / (1 + Math.exp(-0.00368208 * given.cp)) - 1 : Math.sign(given.cp);
}

const EVALUATION = /\[%eval\s[^\]]*\]/;

/** The comments with an evaluation put in, in place of one that is there. */
export function withEvaluation(comments: string[] | undefined, judgement: Judgement | undefined): string[] {
  const present = comments ?? [];
  if (!judgement) return present;
  const command = `[%eval ${evaluationText(judgement)}]`;
  const at = present.findIndex((comment) => EVALUATION.test(comment));
  if (at >= 0)
    return present.map((comment, index) => (index === at ? comment.replace(EVALUATION, command) : comment));
  const [first, ...others] = present;
  return first === undefined ? [command] : [`${command} ${first}`, ...others];
}

function evaluationText({ cp, mate }: Judgement): string {
  return mate === null ? (cp / 100).toFixed(2) : `#${mate}`;
}

/** The text of a comment changed; its commands stay. */
export function withText(comments: string[] | undefined, text: string): string[] | undefined {
  const commands = (comments ?? []).flatMap((comment) => comment.match(/\[%[^\]]*\]/g) ?? []);
  const joined = [...commands, text.replace(/[{}]/g, '').trim()].filter(Boolean).join(' ');
  return joined ? [joined] : undefined;
}

const GLYPHS: Record<number, string> = {
  1: '!',
  2: '?',
  3: '!!',
  4: '??',
  5: '!?',
  6: '?!',
  7: '□',
  10: '=',
  13: '∞',
  14: '⩲',
  15: '⩱',
  16: '±',
  17: '∓',
  18: '+−',
  19: '−+',
  22: '⨀',
  23: '⨀',
  36: '↑',
  37: '↑',
  40: '→',
  41: '→',
  44: '=∞',
  132: '⇆',
  133: '⇆',
  138: '⊕',
  139: '⊕',
  140: '∆',
  146: 'N',
};

/** The glyphs that judge a move: !, ?, !!, ??, !? and ?!. */
export function isJudgement(nag: number): boolean {
  return nag >= 1 && nag <= 6;
}

export function glyph(nag: number): string {
  return GLYPHS[nag] ?? `$${nag}`;
}
