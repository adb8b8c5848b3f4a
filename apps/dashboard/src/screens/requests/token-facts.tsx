import type { ReceiptView } from '@switchyard/core/contracts';
import { type JSX } from 'react';

import { count } from '../../parts/format.js';
import styles from './receipt.module.css';
import { predictionSentence } from './receipt-words.js';

/** What the engine counted, beside what was predicted of its cache. */
export function TokenFacts({ receipt }: { readonly receipt: ReceiptView }): JSX.Element {
  const { usage, predictedCachedTokens, reportedCachedTokens, state } = receipt;
  if (usage === null && reportedCachedTokens === null) {
    return (
      <p className={styles['none']}>
        {state === 'inflight' ? 'The engine tells its usage at the end of the answer.' : 'The engine told no usage. Streams tell it when the request asks with stream_options.include_usage.'}
      </p>
    );
  }
  const sentence = predictionSentence(receipt);
  const facts = [
    ['Prompt', usage?.promptTokens],
    ['Completion', usage?.completionTokens],
    ['Cached, predicted', predictedCachedTokens],
    ['Cached, reported', reportedCachedTokens],
  ] as const;
  return (
    <>
      <dl className={styles['tokens']}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value === null || value === undefined ? '–' : count(value)}</dd>
          </div>
        ))}
      </dl>
      {sentence !== null && <p className={styles['none']}>{sentence}</p>}
    </>
  );
}
