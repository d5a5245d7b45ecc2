// The colours of the graph: light is good for White, as on the board. Used by the canvas and by SVG files.
export interface Palette {
  ground: string;
  ink: string;
  faint: string;
  edge: string;
  line: string;
  transposition: string;
  win: string;
  loss: string;
  draw: string;
}

export const LIGHT: Palette = {
  ground: '#f7f8f9',
  ink: '#1c242b',
  faint: '#5d6a75',
  edge: '#b3bec7',
  line: '#0c7489',
  transposition: '#e8590c',
  win: '#2b8a3e',
  loss: '#c92a2a',
  draw: '#5f6b76',
};

export const DARK: Palette = {
  ground: '#12171b',
  ink: '#e8ecef',
  faint: '#93a1ad',
  edge: '#3d4953',
  line: '#3bc9db',
  transposition: '#ff922b',
  win: '#51cf66',
  loss: '#ff6b6b',
  draw: '#adb5bd',
};

/** The colour of a value for White from -1 to 1. */
export function shade(white: number): string {
  const strength = Math.min(1, Math.abs(white)) ** 0.45; // more contrast near 0, where most values are
  const end = white < 0 ? [16, 32, 58] : [255, 240, 196];
  const [red, green, blue] = [148, 160, 170].map((middle, part) =>
    Math.round(middle + ((end[part] ?? 0) - middle) * strength),
  );
  return `rgb(${red ?? 0}, ${green ?? 0}, ${blue ?? 0})`;
}
