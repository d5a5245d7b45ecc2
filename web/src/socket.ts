// The WebSocket to the server. It reconnects when it is closed. Knows nothing of the messages.
import type { ServerMessage, ClientMessage } from './protocol';

export type ConnectionState = 'connecting' | 'open' | 'closed';

export interface Connection {
  send(message: ClientMessage): void;
}

const SERVER_FULL = 1013;
const FAILURES_BEFORE_NOTICE = 3;

export function connect(
  receive: (news: ServerMessage) => void,
  onChange: (state: ConnectionState, reason: string) => void,
): Connection {
  let socket: WebSocket | null = null;
  let pause = 500;
  let failures = 0;
  const open = (): void => {
    onChange('connecting', '');
    const address = new URL('ws', location.href);
    address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    address.search = '';
    address.hash = '';
    const opened = new WebSocket(address);
    socket = opened;
    opened.onopen = () => {
      pause = 500;
      failures = 0;
      onChange('open', '');
    };
    opened.onmessage = (event: MessageEvent<string>) => receive(JSON.parse(event.data) as ServerMessage);
    opened.onclose = (event) => {
      if (socket === opened) socket = null;
      failures += 1;
      const reason =
        failures === FAILURES_BEFORE_NOTICE
          ? 'The server does not answer. If it was restarted, open the address that it printed.'
          : '';
      onChange('closed', event.reason ? `The server closed the connection: ${event.reason}.` : reason);
      pause = Math.min(event.code === SERVER_FULL ? 5000 : pause * 1.6, 8000);
      setTimeout(open, pause);
    };
  };
  open();
  return {
    send: (message) => {
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
  };
}
