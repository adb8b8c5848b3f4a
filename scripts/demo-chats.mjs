import { setTimeout as sleep } from 'node:timers/promises';

const users = 4;
const turnsPerChat = 6;
const tellEveryMs = 15_000;

/** Long and shared, as real system prompts are: cache-aware placement has something to find. */
const systemPrompt = 'You work in the control room of a railway yard. You answer briefly and name track, signal and switch. '.repeat(20);
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
  for (let chat = 0; !signal.aborted; chat += 1) {
    const messages = [{ role: 'system', content: systemPrompt }];
    for (let turn = 0; turn < turnsPerChat; turn += 1) {
      try {
        await sleep(500 + Math.random() * 1500, undefined, { signal });
        messages.push({ role: 'user', content: `(user ${user}, chat ${chat}) ${questions[turn % questions.length]}` });
        messages.push({ role: 'assistant', content: await ask({ api, key, signal, messages }) });
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

async function ask({ api, key, signal, messages }) {
  const answer = await fetch(`${api}/v1/chat/completions`, {
    method: 'POST',
    signal,
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model: 'sim-model', stream: true, max_tokens: 64, messages }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text.slice(0, 200)}`);
  const events = text.split('\n').filter((line) => line.startsWith('data: {'));
  return events.map((line) => JSON.parse(line.slice('data: '.length)).choices?.[0]?.delta?.content ?? '').join('');
}
