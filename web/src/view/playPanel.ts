// The panel of play: the form of a new match, or the actions of the current one.
import type { App } from '../app';
import { update } from '../app';
import { canMove } from '../current';
import { humanRatings } from '../machine';
import * as match from '../match';
import { outcomeText } from '../match';
import type { MatchForm } from '../state';
import { turnOf, VARIANT_NAMES } from '../rules';
import { nodeOf, ROOT } from '../tree';
import { setMode } from './header';
import type { VNode } from './dom';
import { button, check, h, number, segments, select, slider } from './dom';
import { moveList } from './moveList';
import { networkSelect } from './searchConfig';

export function playPanel(app: App): VNode {
  return h('div.side', { key: 'play' }, [app.state.match ? matchCard(app) : formCard(app), moveList(app)]);
}

function matchCard(app: App): VNode {
  const { state } = app;
  const current = state.match;
  if (!current) return h('span');
  const hasMoves = nodeOf(state.game, ROOT).children.length > 0;
  return h('section.card.match', { key: 'match', attrs: { 'aria-label': 'Match' } }, [
    h('p.status', { class: { over: !!current.outcome }, attrs: { 'aria-live': 'polite' } }, statusText(app)),
    h(
      'div.buttons',
      current.outcome
        ? [
            button(
              'Rematch',
              () => match.startMatch(app, { ...state.form, colour: match.opponentOf(current.human) }),
              {
                kind: 'primary',
                icon: 'flip',
                showsText: true,
              },
            ),
            button('New game', () => endMatch(app), { icon: 'plus', showsText: true }),
            button('Analyse', () => setMode(app, 'analyse'), {
              icon: 'arrows',
              showsText: true,
              id: 'analyse-game',
            }),
          ]
        : [
            button('Hint', () => match.requestHint(app), {
              icon: 'hint',
              showsText: true,
              disabled: !canMove(state) || !!state.request,
            }),
            button('Take back', () => match.takeBack(app), {
              icon: 'undo',
              showsText: true,
              disabled: !hasMoves,
            }),
            ...(state.isResigning
              ? [
                  button('Resign now', () => match.resign(app), {
                    icon: 'flag',
                    showsText: true,
                    kind: 'danger',
                    id: 'resign-now',
                  }),
                  button('Play on', () => update(app, { isResigning: false }), { id: 'play-on' }),
                ]
              : [
                  button('Offer a draw', () => match.offerDraw(app), { id: 'draw', disabled: !hasMoves }),
                  button('Resign', () => update(app, { isResigning: true }), {
                    icon: 'flag',
                    showsText: true,
                    kind: 'danger',
                  }),
                ]),
          ],
    ),
  ]);
}

function endMatch(app: App): void {
  match.leaveMatch(app);
  app.redraw();
}

function statusText(app: App): string {
  const { state } = app;
  const current = state.match;
  if (!current) return '';
  if (current.outcome) return outcomeText(current.outcome);
  if (state.connection !== 'open') return 'The engine is not connected. The game continues when it is.';
  const tip = nodeOf(state.game, current.tip);
  return turnOf(tip.fen) === current.human ? 'Your move.' : 'Anabranch is thinking.';
}

/** What the Elo means: it was measured in chess only. */
function eloText(app: App): string {
  const { form, hello } = app.state;
  if (form.variant !== 'chess')
    return `The scale is that of chess: in ${VARIANT_NAMES[form.variant].toLowerCase()} it is not measured.`;
  if (form.chess960) return 'Measured in chess; in Chess960 it is not measured.';
  const most = hello?.measured_elo ?? 0;
  return form.strength.elo > most
    ? `Measured against Stockfish up to ${most}; extrapolated above.`
    : "Measured against Stockfish's scale.";
}

function formCard(app: App): VNode {
  const { form, hello } = app.state;
  const [lowest, highest] = hello?.elo ?? [form.strength.elo, form.strength.elo];
  const change = (changes: Partial<MatchForm>): void => {
    Object.assign(form, changes);
    app.redraw();
  };
  const strength = (changes: Partial<MatchForm['strength']>): void =>
    change({ strength: { ...form.strength, ...changes } });
  const ratings = form.variant === 'chess' ? humanRatings(app.state) : [];
  const given = form.strength.rating ?? 0;
  const rating = ratings.includes(given) ? given : (ratings[Math.floor(ratings.length / 2)] ?? 0);
  const by = form.strength.by === 'human' && !ratings.length ? 'elo' : form.strength.by;
  return h('section.card.form', { key: 'form', attrs: { 'aria-label': 'New game' } }, [
    h('h2', 'New game'),
    segments('Variant', VARIANT_NAMES, form.variant, (variant) => change({ variant })),
    segments('Your colour', { white: 'White', random: 'Random', black: 'Black' }, form.colour, (colour) =>
      change({ colour }),
    ),
    h('div.group', [
      segments(
        'Strength by',
        {
          elo: 'Elo',
          evaluations: 'Evaluations',
          seconds: 'Seconds',
          ...(ratings.length ? { human: 'People' } : {}),
        },
        by,
        (chosen) => strength({ by: chosen, ...(chosen === 'human' ? { rating } : {}) }),
      ),
      by === 'human'
        ? select('Plays like people rated', ratings.map(String), String(rating), (given) =>
            strength({ rating: Number(given) }),
          )
        : by === 'elo'
          ? slider(
              'Strength',
              form.strength.elo,
              { min: lowest, max: highest, step: 50 },
              `Elo ${form.strength.elo}`,
              (elo) => strength({ elo }),
            )
          : by === 'evaluations'
            ? number(
                'Evaluations for a move',
                form.strength.evaluations,
                { min: 1, max: 1_000_000 },
                (evaluations) => strength({ evaluations: Math.round(evaluations) }),
              )
            : number(
                'Seconds for a move',
                form.strength.seconds,
                { min: 0.1, max: hello?.seconds ?? form.strength.seconds, step: 0.1 },
                (seconds) => strength({ seconds }),
              ),
    ]),
    by === 'elo' ? h('p.empty', eloText(app)) : null,
    by === 'human' ? h('p.empty', 'A move of a Maia network, without search.') : null,
    by === 'human' ? null : networkSelect(app, form.variant, form.network, (network) => change({ network })),
    h('div.group', [
      check('Play with clocks', form.clocks, (clocks) => change({ clocks })),
      form.clocks
        ? h('div.pair', [
            number('Minutes', form.minutes, { min: 0.5, max: 180, step: 0.5 }, (minutes) =>
              change({ minutes }),
            ),
            number('Seconds a move', form.increment, { min: 0, max: 60 }, (increment) =>
              change({ increment }),
            ),
          ])
        : null,
      check('Chess960, random position', form.chess960, (chess960) => change({ chess960, fromHere: false })),
      check('From the position on the board', form.fromHere, (fromHere) =>
        change({ fromHere, chess960: false }),
      ),
    ]),
    button('Play', () => match.startMatch(app, { ...form, strength: { ...form.strength, by, rating } }), {
      kind: 'primary',
      id: 'start-match',
    }),
  ]);
}
