// The line to the server: opens itself again when it breaks. Knows nothing of what is said.
import type { News, Order } from './protocol';

export type LineState = 'connecting' | 'open' | 'closed';

export interface Line {
  say(order: Order): void;
}

const FULL = 1013;

export function connect(hear: (news: News) => void, changed: (state: LineState, reason: string) => void): Line {
  let socket: WebSocket | null = null;
  let pause = 500;
  const open = (): void => {
    changed('connecting', '');
    const address = new URL('ws', location.href);
    address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    address.search = '';
    address.hash = '';
    const line = new WebSocket(address);
    socket = line;
    line.onopen = () => {
      pause = 500;
      changed('open', '');
    };
    line.onmessage = (event: MessageEvent<string>) => hear(JSON.parse(event.data) as News);
    line.onclose = (event) => {
      if (socket === line) socket = null;
      changed('closed', event.reason);
      pause = Math.min(event.code === FULL ? 5000 : pause * 1.6, 8000);
      setTimeout(open, pause);
    };
  };
  open();
  return {
    say: (order) => {
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(order));
    },
  };
}
