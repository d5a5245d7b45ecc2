// The head of the page: name, modes, connection, sound and theme.
import * as analysis from '../analysis';
import type { App } from '../app';
import { update } from '../app';
import * as gridGame from '../gridGame';
import * as match from '../match';
import type { Mode, Theme } from '../state';
import type { IconName, VNode } from './dom';
import { button, h } from './dom';

const MODES: [Mode, string][] = [
  ['play', 'Play'],
  ['analyse', 'Analyse'],
  ['graph', 'Graph'],
  ['games', 'Games'],
];
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };
const THEME_ICONS: Record<Theme, IconName> = { system: 'auto', light: 'sun', dark: 'moon' };

export function header(app: App): VNode {
  const { state } = app;
  return h('header.top', [
    h('h1.brand', [logo(), h('span', 'Anabranch')]),
    h(
      'nav',
      { attrs: { 'aria-label': 'Mode' } },
      MODES.map(([mode, text]) =>
        h(
          'button',
          {
            attrs: {
              type: 'button',
              ...(state.mode === mode ? { 'aria-current': 'page' } : {}),
              'data-id': `mode-${mode}`,
            },
            on: { click: () => setMode(app, mode) },
          },
          text,
        ),
      ),
    ),
    h('div.tools', [
      connection(app),
      button(
        state.sound ? 'Sound is on' : 'Sound is off',
        () => {
          state.sound = !state.sound;
          app.sound('move');
          app.redraw();
        },
        { icon: state.sound ? 'sound' : 'silent', id: 'sound', pressed: state.sound },
      ),
      button('Settings', () => update(app, { dialog: 'settings' }), { icon: 'sliders', id: 'settings' }),
      button(`Theme: ${state.theme}`, () => update(app, { theme: NEXT[state.theme] }), {
        icon: THEME_ICONS[state.theme],
        id: 'theme',
      }),
    ]),
  ]);
}

export function setMode(app: App, mode: Mode): void {
  const before = app.state.mode;
  app.state.mode = mode;
  analysis.onModeChange(app, before);
  if (mode === 'play' && before !== 'play') match.returnToMatch(app);
  match.requestMove(app);
  if (mode === 'games' && before !== 'games') gridGame.lookUp(app);
  app.redraw();
}

function connection(app: App): VNode {
  const status = app.state.connection;
  const text = { open: 'Engine ready', connecting: 'Connecting', closed: 'No engine' }[status];
  return h(
    'span.connection',
    { class: { [status]: true }, attrs: { role: 'status', title: app.state.connectionReason } },
    text,
  );
}

function logo(): VNode {
  return h('svg.logo', { attrs: { viewBox: '0 0 32 32', 'aria-hidden': 'true' } }, [
    h('path', { attrs: { d: 'M16 4c0 6-7 6-7 12s7 6 7 12M16 4c0 6 7 6 7 12s-7 6-7 12' } }),
    h('circle', { attrs: { cx: 16, cy: 4, r: 3 } }),
    h('circle.joint', { attrs: { cx: 16, cy: 28, r: 3 } }),
  ]);
}
