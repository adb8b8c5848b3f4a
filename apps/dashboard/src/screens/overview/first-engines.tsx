import { Skeleton, Stack, Tabs, Text } from '@mantine/core';
import { type JSX } from 'react';

import { useAbout } from '../../api/queries.js';
import { CommandLine } from '../../parts/command-line.js';
import { Panel } from '../../parts/panel.js';
import { Refusal } from '../../parts/refusal.js';
import { recipesOf } from './engine-recipes.js';

/** Teaches how the first engines join this router. */
export function FirstEngines(): JSX.Element {
  const about = useAbout();
  if (about.isPending) return <Skeleton height={240} aria-label="Waiting for the router" />;
  if (about.data === undefined) return <Refusal error={about.error} onRetry={() => void about.refetch()} />;
  const { discoveryPort, advertiseHost } = about.data;
  const recipes = recipesOf(about.data);
  const where = discoveryPort === null ? 'Discovery is off (--discovery-address off): engines are static flags.' : `Engines reach this router at ${advertiseHost}:${discoveryPort}.`;
  return (
    <Panel title="Start vLLM with …" note={where}>
      <Tabs defaultValue={discoveryPort === null ? 'static' : 'nixl'} keepMounted={false} color="ink">
        <Tabs.List mb="sm">
          {recipes.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {recipes.map(({ id, versions, note, steps }) => (
          <Tabs.Panel key={id} value={id}>
            <Stack gap="sm" maw={960}>
              <Text size="sm">
                For {versions}. <span className="sy-dim">{note}</span>
              </Text>
              {steps.map(({ title, command }) => (
                <div key={title}>
                  <Text size="sm" fw={600} mb={4}>
                    {title}
                  </Text>
                  <CommandLine command={command} />
                </div>
              ))}
            </Stack>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Panel>
  );
}
