// The choice of a configuration: a preset and the settings that differ from it.
import * as analysis from '../analysis';
import type { App } from '../app';
import { networksFor, ownEvaluator } from '../machine';
import type { SettingRow } from '../protocol';
import type { Variant } from '../rules';
import type { VNode } from './dom';
import { button, check, h, number, select } from './dom';

export function presetSelect(app: App, side: 0 | 1, isHidden = false): VNode {
  const { state } = app;
  const names = Object.keys(state.hello?.presets ?? { default: {} });
  const label = state.analysis.compare ? `Preset ${side ? 'B' : 'A'}` : 'Preset';
  return select(
    label,
    names,
    state.analysis.configs[side].preset,
    (preset) => analysis.setPreset(app, side, preset),
    isHidden,
  );
}

/** The network, where there is a choice. */
export function networkSelect(
  app: App,
  variant: Variant,
  chosen: string | null | undefined,
  choose: (network: string | null) => void,
): VNode | null {
  const names = networksFor(app.state, variant).map((row) => row.name);
  if (!names.length) return null;
  const own = ownEvaluator(app.state, variant);
  return select('Network', [own, ...names], chosen && names.includes(chosen) ? chosen : own, (name) =>
    choose(name === own ? null : name),
  );
}

export function enhancements(app: App, side: 0 | 1): VNode {
  const { state } = app;
  const config = state.analysis.configs[side];
  const changed = Object.keys(config.changes).length;
  return h('details.enhancements', { key: `enhancements-${side}` }, [
    h('summary', ['Enhancements', changed ? h('span.badge', `${changed} changed`) : null]),
    h(
      'div.settings',
      (state.hello?.settings ?? []).map((row) => setting(app, side, row)),
    ),
    changed
      ? button('Reset to the preset', () => analysis.setPreset(app, side, config.preset), { kind: 'quiet' })
      : null,
  ]);
}

function setting(app: App, side: 0 | 1, row: SettingRow): VNode {
  const config = app.state.analysis.configs[side];
  const value = config.changes[row.name] ?? analysis.presetSettings(app.state, config.preset)[row.name];
  const label = row.name.replaceAll('_', ' ');
  const set = (given: boolean | number | string): void => analysis.setSetting(app, side, row.name, given);
  const field =
    typeof value === 'boolean'
      ? check(label, value, set)
      : typeof value === 'number'
        ? number(label, value, { min: row.minimum ?? 0, max: row.maximum ?? 1e9, step: 0.001 }, set)
        : select(label, row.choices, value ?? '', set);
  const tip = `tip-${side}-${row.name}`;
  return h(
    'div.setting',
    {
      key: row.name,
      class: { changed: row.name in config.changes },
      attrs: { role: 'group', 'aria-label': label, 'aria-describedby': tip },
    },
    [field, h('span.tip', { attrs: { id: tip, role: 'tooltip' } }, row.meaning)],
  );
}
