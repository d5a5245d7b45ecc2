// Sounds without files: a short tone for a move, a lower one for a capture, two for the end of a game.
let context: AudioContext | null = null;

export function playSound(kind: 'move' | 'capture' | 'end'): void {
  context ??= new AudioContext();
  const pitches = { move: [420], capture: [260], end: [420, 315] }[kind];
  pitches.forEach((pitch, index) => tone(pitch, index * 0.16));
}

function tone(pitch: number, delay: number): void {
  if (!context) return;
  const begin = context.currentTime + delay;
  const source = context.createOscillator();
  const volume = context.createGain();
  source.type = 'triangle';
  source.frequency.setValueAtTime(pitch, begin);
  source.frequency.exponentialRampToValueAtTime(pitch / 2, begin + 0.09);
  volume.gain.setValueAtTime(0.25, begin);
  volume.gain.exponentialRampToValueAtTime(0.001, begin + 0.12);
  source.connect(volume).connect(context.destination);
  source.start(begin);
  source.stop(begin + 0.13);
}
