import { setTimeout as sleep } from 'node:timers/promises';

const users = 6;
const turnsPerChat = 6;
const tellEveryMs = 15_000;

/** Long and shared, as real system prompts are: cache-aware placement has something to find. */
const assistants = [
  { model: 'sim-model', system: 'You work in the control room of a railway yard. You answer briefly and name track, signal and switch. '.repeat(20) },
  { model: 'sim-model', system: 'You plan the shifts of the shunting crews. Rest times come first, then seniority, then wishes. '.repeat(15) },
  { model: 'sim-coder', system: 'You maintain the interlocking software. You propose the smallest patch and the test that would have caught it. '.repeat(30) },
];
/** Of a hundred clients, those that leave before their answer is complete. */
const impatientPercent = 6;
const questions = ['Which track is free?', 'When does the next train leave?', 'Why is the signal red?', 'Who has set switch 4?', 'What is on track 7?', 'And after that?'];

/** Keeps a few chats going until `signal` aborts; every turn sends the whole chat so far. */
export function startChats({ api, key, signal, tell }) {
  const counts = { answered: 0, failed: 0, lastFailure: '' };
  for (let user = 0; user < users; user += 1) void keepChatting({ api, key, signal, counts, user });
  const timer = setInterval(() => {
    tell(`${counts.answered} answers, ${counts.failed} failures${counts.lastFailure === '' ? '' : ` (last: ${counts.lastFailure})`}`);
    counts.lastFailure = '';
  }, tellEveryMs);
  signal.addEventListener('abort', () => clearInterval(timer));
}

async function keepChatting({ api, key, signal, counts, user }) {
  const { model, system } = assistants[user % assistants.length];
  for (let chat = 0; !signal.aborted; chat += 1) {
    const messages = [{ role: 'system', content: system }];
    for (let turn = 0; turn < turnsPerChat; turn += 1) {
      try {
        await sleep(500 + Math.random() * 1500, undefined, { signal });
        messages.push({ role: 'user', content: `(user ${user}, chat ${chat}) ${questions[turn % questions.length]}` });
        const patience = Math.random() * 100 < impatientPercent ? AbortSignal.timeout(200 + Math.floor(Math.random() * 1000)) : null;
        const content = await ask({ api, key, model, messages, signal, patience });
        if (content === null) break;
        messages.push({ role: 'assistant', content });
        counts.answered += 1;
      } catch (error) {
        if (signal.aborted) return;
        counts.failed += 1;
        counts.lastFailure = error instanceof Error ? error.message : String(error);
        break;
      }
    }
  }
}

/** The text of the answer; `null` when patience ended first. */
async function ask({ api, key, model, messages, signal, patience }) {
  try {
    const answer = await fetch(`${api}/v1/chat/completions`, {
      method: 'POST',
      signal: patience === null ? signal : AbortSignal.any([signal, patience]),
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, stream: true, stream_options: { include_usage: true }, max_tokens: 64, messages }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} ${text.slice(0, 200)}`);
    const events = text.split('\n').filter((line) => line.startsWith('data: {'));
    return events.map((line) => JSON.parse(line.slice('data: '.length)).choices?.[0]?.delta?.content ?? '').join('');
  } catch (error) {
    if (patience?.aborted && !signal.aborted) return null;
    throw error;
  }
}
