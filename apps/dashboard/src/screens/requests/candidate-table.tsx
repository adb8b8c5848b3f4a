import { Button } from '@mantine/core';
import type { AttemptView } from '@switchyard/core/contracts';
import { IconCheck } from '@tabler/icons-react';
import { type JSX, useState } from 'react';
import { Link } from 'wouter';

import { workerAddress } from '../../parts/addresses.js';
import { bytes, count } from '../../parts/format.js';
import { type Candidate, rankedCandidates, scoreMeaning } from './candidate-rank.js';
import styles from './receipt.module.css';
import { exclusionWords } from './receipt-words.js';

const shownAtFirst = 8;

/** Every worker of the pool as it was when the choice was made, the chosen one first. */
export function CandidateTable({ attempt }: { readonly attempt: AttemptView }): JSX.Element {
  const [all, setAll] = useState(false);
  const ranked = rankedCandidates(attempt);
  const shown = all ? ranked : ranked.slice(0, shownAtFirst);
  const mostMatch = Math.max(1, ...ranked.map(({ matchBytes }) => matchBytes));
  const matches = ranked.some(({ matchBytes }) => matchBytes > 0);
  const { heading, meaning, show } = scoreMeaning(attempt);
  const scored = ranked.some(({ score }) => score !== null);
  return (
    <>
      <div className={styles['candidates']} tabIndex={0} role="group" aria-label="Candidates">
        <table>
          <thead>
            <tr>
              <th scope="col">Worker</th>
              {matches && <th scope="col">Match</th>}
              {scored && (
                <th scope="col" title={meaning}>
                  {heading}
                </th>
              )}
              <th scope="col" title="Live leases">
                Load
              </th>
              <th scope="col" title="Leases and reserved places: what policies compare">
                Pressure
              </th>
              <th scope="col" title="Virtual time of picks: the smaller one goes first among equals">
                Turn
              </th>
              <th scope="col" title="Leases begun on it before">
                Processed
              </th>
              <th scope="col">Verdict</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((candidate) => (
              <tr key={candidate.id} data-chosen={candidate.id === attempt.chosen || undefined} data-out={candidate.excluded !== undefined || undefined}>
                <th scope="row" className="sy-mono">
                  <Link className={styles['worker'] ?? ''} href={workerAddress(candidate.id)}>
                    {candidate.id}
                  </Link>
                </th>
                {matches && (
                  <td className={styles['match']}>
                    <span>{candidate.matchBytes === 0 ? '–' : bytes(candidate.matchBytes)}</span>
                    {candidate.matchBytes > 0 && (
                      <span className={styles['meter']} aria-hidden>
                        <span style={{ width: `${(100 * candidate.matchBytes) / mostMatch}%` }} />
                      </span>
                    )}
                  </td>
                )}
                {scored && <td>{candidate.score === null ? '–' : show(candidate.score)}</td>}
                <td>{count(candidate.load)}</td>
                <td>{count(candidate.pressure)}</td>
                <td>{count(candidate.turn)}</td>
                <td>{count(candidate.processed)}</td>
                <td className={styles['verdict']}>
                  <Verdict candidate={candidate} attempt={attempt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {ranked.length > shown.length && (
        <Button variant="default" className={styles['more'] ?? ''} onClick={() => setAll(true)}>
          Show all {count(ranked.length)} candidates
        </Button>
      )}
    </>
  );
}

function Verdict({ candidate, attempt }: { readonly candidate: Candidate; readonly attempt: AttemptView }): JSX.Element {
  if (candidate.id === attempt.chosen) {
    return (
      <span className={styles['chosen']}>
        <IconCheck size={14} stroke={2.5} aria-hidden /> chosen
      </span>
    );
  }
  if (candidate.excluded !== undefined) return <span className="sy-dim">{`excluded: ${exclusionWords(candidate.excluded)}`}</span>;
  if (attempt.reason === 'power_of_two' && candidate.score === null) return <span className="sy-dim">not drawn</span>;
  return <span className="sy-dim">considered</span>;
}
