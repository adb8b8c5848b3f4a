/** `node ping-forever.mjs HOST:PORT IDENTITY JSON EVERY_MS`: an engine's pinging socket in a process of its own, which a test may stop or kill. */
import { pack } from 'msgpackr';
import { Dealer } from 'zeromq';

const [discovery, identity, map, everyMs] = process.argv.slice(2);
const socket = new Dealer({ linger: 0, routingId: identity });
socket.connect(`tcp://${discovery}`);
const message = pack(JSON.parse(map));
for (;;) {
  await socket.send(message);
  await new Promise((resolve) => setTimeout(resolve, Number(everyMs)));
}
