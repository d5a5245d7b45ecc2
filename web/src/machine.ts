// What a search may use of the machine: threads, memory, tablebases, and the networks that the server offers.
import type { NetworkRow, SearchConfig } from './protocol';
import type { Variant } from './rules';
import type { State } from './state';

/** The installed networks for a variant. */
export function networksFor(state: State, variant: Variant): NetworkRow[] {
  return state.networks.filter((row) => row.variant === variant);
}

/** The evaluator of the server for a variant, as a name. */
export function ownEvaluator(state: State, variant: Variant): string {
  return state.hello?.machine.evaluators[variant] ?? 'bundled';
}

/** The ratings of the people that installed networks imitate. */
export function humanRatings(state: State): number[] {
  return state.networks.flatMap((row) => (row.human === null ? [] : [row.human])).sort((a, b) => a - b);
}

/** A configuration as it can be used now: its network must be there, and for the variant on the board. */
export function configFor(state: State, config: SearchConfig): SearchConfig {
  const isThere = networksFor(state, state.game.variant).some((row) => row.name === config.network);
  return { ...config, network: isThere ? (config.network ?? null) : null };
}
