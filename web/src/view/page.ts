// The whole page as a function of the state.
import type { App } from '../app';
import { update } from '../app';
import { analysisPanel } from './analysisPanel';
import { boardArea } from './boardArea';
import { dialog } from './dialogs';
import type { VNode } from './dom';
import { button, h } from './dom';
import { graphPanel, nodeCard, searchCard } from './graphPanel';
import { gridColumn, gridPanel } from './gridPanel';
import { header } from './header';
import { playPanel } from './playPanel';

const PANELS = { play: playPanel, analyse: analysisPanel, graph: graphPanel, games: gridPanel };

export function page(app: App): VNode {
  const { state } = app;
  return h(
    'div#app',
    { class: { [`mode-${state.mode}`]: true, house: state.game.variant === 'crazyhouse' } },
    [
      header(app),
      h('main', [
        state.mode === 'games'
          ? gridColumn(app)
          : h('div.board-column', { key: 'board-column' }, [
              boardArea(app),
              ...(state.mode === 'graph' ? [nodeCard(app), searchCard(app)] : []),
            ]),
        PANELS[state.mode](app),
      ]),
      state.notice ? notice(app) : null,
      h('p#announcer.sr-only', { attrs: { 'aria-live': 'polite' } }, state.announcement),
      dialog(app),
    ],
  );
}

function notice(app: App): VNode {
  return h('div.notice', { attrs: { role: 'alert' } }, [
    h('span', app.state.notice),
    button('Dismiss', () => update(app, { notice: '' }), { icon: 'close' }),
  ]);
}
