// The elements of the views, over snabbdom: buttons, fields and icons, each with an accessible name.
import type { VNode, VNodeChildren, VNodeData } from 'snabbdom';
import {
  attributesModule,
  classModule,
  eventListenersModule,
  h,
  init,
  propsModule,
  styleModule,
} from 'snabbdom';

export { h };
export type { VNode, VNodeChildren, VNodeData };
export const patch = init([attributesModule, classModule, eventListenersModule, propsModule, styleModule]);

const ICONS = {
  first: 'M6 5v14M18 5l-9 7 9 7z',
  back: 'M15 5l-8 7 8 7z',
  forward: 'M9 5l8 7-8 7z',
  last: 'M18 5v14M6 5l9 7-9 7z',
  flip: 'M7 4v13m0 0-3-3m3 3 3-3M17 20V7m0 0-3 3m3-3 3 3',
  play: 'M8 5l11 7-11 7z',
  stop: 'M7 7h10v10H7z',
  sun:
    'M12 8a4 4 0 100 8 4 4 0 000-8zM12 3v2m0 14v2M3 12h2m14 0h2M5.6 5.6l1.5 1.5m9.8 9.8 1.5 1.5' +
    'm0-12.8-1.5 1.5M7.1 16.9l-1.5 1.5',
  moon: 'M19 14.5A7.5 7.5 0 019.5 5a7.5 7.5 0 109.5 9.5z',
  auto: 'M12 4a8 8 0 100 16zM12 4a8 8 0 010 16',
  sound: 'M5 9v6h4l5 4V5L9 9zM17 9a4 4 0 010 6M19.5 6.5a8 8 0 010 11',
  silent: 'M5 9v6h4l5 4V5L9 9zM17 9.5l5 5m0-5-5 5',
  sliders:
    'M4 7h9m5 0h2M4 17h2m5 0h9M15.5 4.5a2.5 2.5 0 100 5 2.5 2.5 0 000-5z' +
    'M8.5 14.5a2.5 2.5 0 100 5 2.5 2.5 0 000-5z',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  fit: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  hint: 'M9 18h6m-5 3h4M12 3a6 6 0 00-3.5 10.9c.5.4.8 1 .8 1.6v.5h5.4v-.5c0-.6.3-1.2.8-1.6A6 6 0 0012 3z',
  flag: 'M6 21V4m0 1h11l-2.5 4L17 13H6',
  undo: 'M8 8H15a5 5 0 010 10h-4M8 8l4-4M8 8l4 4',
  paste: 'M9 5H6v15h12V5h-3M9 3h6v4H9zM9 12h6m-6 4h6',
  book: 'M5 5c3-1.5 5-1 7 .5 2-1.5 4-2 7-.5v13c-3-1.5-5-1-7 .5-2-1.5-4-2-7-.5zM12 5.5v13',
  edit: 'M5 19l1-4L16 5l3 3L9 18zM14 7l3 3',
  copy: 'M8 8h11v12H8zM5 16V4h11',
  close: 'M6 6l12 12M18 6L6 18',
  up: 'M12 19V6m0 0-5 5m5-5 5 5',
  trash: 'M5 7h14M10 7V5h4v2M7 7l1 13h8l1-13',
  save: 'M12 4v11m0 0-4-4m4 4 4-4M5 19h14',
  arrows: 'M5 19L18 6m0 0h-7m7 0v7',
} as const;

export type IconName = keyof typeof ICONS;

export function icon(name: IconName): VNode {
  return h('svg.icon', { attrs: { viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' } }, [
    h('path', { attrs: { d: ICONS[name] } }),
  ]);
}

interface ButtonOptions {
  icon?: IconName;
  kind?: 'primary' | 'quiet' | 'danger';
  disabled?: boolean;
  pressed?: boolean;
  showsText?: boolean;
  id?: string;
}

/** A button. Where only the icon is shown, the text is its accessible name. */
export function button(text: string, act: () => void, options: ButtonOptions = {}): VNode {
  const shows = options.showsText ?? !options.icon;
  return h(
    `button${options.kind ? `.${options.kind}` : ''}${shows ? '' : '.bare'}`,
    {
      key: options.id ?? text,
      attrs: {
        type: 'button',
        disabled: options.disabled ?? false,
        ...(shows ? {} : { 'aria-label': text, title: text }),
        ...(options.pressed === undefined ? {} : { 'aria-pressed': String(options.pressed) }),
        ...(options.id ? { 'data-id': options.id } : {}),
      },
      on: { click: act },
    },
    [options.icon ? icon(options.icon) : null, shows ? h('span', text) : null],
  );
}

/** Buttons of which one is chosen. */
export function segments<T extends string>(
  label: string,
  options: Partial<Record<T, string>>,
  chosen: T,
  choose: (value: T) => void,
): VNode {
  return h(
    'div.segments',
    { attrs: { role: 'group', 'aria-label': label } },
    Object.entries<string | undefined>(options).map(([value, text]) =>
      h(
        'button',
        {
          key: value,
          attrs: { type: 'button', 'aria-pressed': String(value === chosen) },
          on: { click: () => choose(value as T) },
        },
        text ?? value,
      ),
    ),
  );
}

export function select(
  label: string,
  options: readonly string[],
  chosen: string,
  choose: (value: string) => void,
  isHidden = false,
): VNode {
  return h('label.field', { class: { compact: isHidden } }, [
    h('span', { class: { 'sr-only': isHidden } }, label),
    h(
      'select',
      {
        props: { value: chosen },
        on: { change: (event: Event) => choose((event.target as HTMLSelectElement).value) },
      },
      options.map((value) => h('option', { attrs: { value, selected: value === chosen } }, value)),
    ),
  ]);
}

export function number(
  label: string,
  value: number,
  bounds: { min: number; max: number; step?: number },
  choose: (value: number) => void,
): VNode {
  return h('label.field', [
    h('span', label),
    h('input', {
      attrs: { type: 'number', min: bounds.min, max: bounds.max, step: bounds.step ?? 1 },
      props: { value: String(value) },
      on: {
        change: (event: Event) => {
          const given = Number((event.target as HTMLInputElement).value);
          if (Number.isFinite(given)) choose(Math.min(bounds.max, Math.max(bounds.min, given)));
        },
      },
    }),
  ]);
}

export function slider(
  label: string,
  value: number,
  bounds: { min: number; max: number; step?: number },
  shown: string,
  choose: (value: number) => void,
): VNode {
  return h('label.field.slider', [
    h('span', [label, h('b', shown)]),
    h('input', {
      attrs: { type: 'range', min: bounds.min, max: bounds.max, step: bounds.step ?? 1 },
      props: { value: String(value) },
      on: { input: (event: Event) => choose(Number((event.target as HTMLInputElement).value)) },
    }),
  ]);
}

export function check(label: string, checked: boolean, choose: (value: boolean) => void): VNode {
  return h('label.check', [
    h('input', {
      attrs: { type: 'checkbox' },
      props: { checked },
      on: { change: (event: Event) => choose((event.target as HTMLInputElement).checked) },
    }),
    h('span', label),
  ]);
}

export function table(selector: string, names: readonly (string | VNode)[], rows: VNode[]): VNode {
  const head = names.map((name) => h('th', [name]));
  return h(selector, [h('thead', [h('tr', head)]), h('tbody', rows)]);
}

/** A wide element in a frame that scrolls. */
export function scrolled(label: string, content: VNode): VNode {
  return h('div.table', { attrs: { tabindex: 0, role: 'group', 'aria-label': label } }, [content]);
}

/** Names with their values, and a tooltip where the meaning is given. */
export function figures(rows: readonly (readonly [name: string, value: string, meaning?: string])[]): VNode {
  const row = (name: string, value: string, title: string): VNode =>
    h('div', { key: name, attrs: { title } }, [h('dt', name), h('dd', value)]);
  return h(
    'dl.statistics',
    rows.map(([name, value, meaning = '']) => row(name, value, meaning)),
  );
}
