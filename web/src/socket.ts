// The line to the server: opens itself again when it breaks. Knows nothing of what is said.
import type { News, Order } from './protocol';

export type LineState = 'connecting' | 'open' | 'closed';

export interface Line {
  say(order: Order): void;
}

const FULL = 1013;
const TELL_AFTER = 3;

export function connect(
  hear: (news: News) => void,
  changed: (state: LineState, reason: string) => void,
): Line {
  let socket: WebSocket | null = null;
  let pause = 500;
  let failures = 0;
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
      failures = 0;
      changed('open', '');
    };
    line.onmessage = (event: MessageEvent<string>) => hear(JSON.parse(event.data) as News);
    line.onclose = (event) => {
      if (socket === line) socket = null;
      failures += 1;
      const reason =
        failures === TELL_AFTER
          ? 'The server does not answer. If it was started again, open the address that it printed.'
          : '';
      changed('closed', event.reason ? `The server says: ${event.reason}.` : reason);
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
