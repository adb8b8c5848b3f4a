import { Skeleton, Stack } from '@mantine/core';
import { type JSX, useState } from 'react';

import { useAbout } from '../../api/queries.js';
import { Choice } from '../../parts/choice.js';
import { CommandLine } from '../../parts/command-line.js';
import { Panel } from '../../parts/panel.js';
import { Refusal } from '../../parts/refusal.js';
import { recipesOf } from './engine-recipes.js';

/** Teaches how the first engines join this router. */
export function FirstEngines(): JSX.Element {
  const about = useAbout();
  const [chosen, setChosen] = useState<string | null>(null);
  if (about.isPending) return <Skeleton height={240} aria-label="Waiting for the router" />;
  if (about.data === undefined) return <Refusal error={about.error} onRetry={() => void about.refetch()} />;
  const { discoveryPort, advertiseHost } = about.data;
  const recipes = recipesOf(about.data);
  const where = discoveryPort === null ? 'Discovery is off (--discovery-address off): engines are static flags.' : `Engines reach this router at ${advertiseHost}:${discoveryPort}.`;
  const [first] = recipes;
  const recipe = recipes.find(({ id }) => id === (chosen ?? (discoveryPort === null ? 'static' : 'nixl'))) ?? first;
  if (recipe === undefined) return <></>;
  return (
    <Panel title="Start vLLM with …" note={where}>
      <Stack gap="sm" maw={960}>
        <div>
          <Choice label="Connector" options={recipes.map(({ id, name }) => ({ value: id, label: name }))} value={recipe.id} onChange={setChosen} />
        </div>
        <p style={{ margin: 0 }}>
          For {recipe.versions}. <span className="sy-dim">{recipe.note}</span>
        </p>
        {recipe.steps.map(({ title, command }) => (
          <div key={title}>
            <h3 style={{ margin: '0 0 4px', fontSize: 13 }}>{title}</h3>
            <CommandLine command={command} />
          </div>
        ))}
      </Stack>
    </Panel>
  );
}
