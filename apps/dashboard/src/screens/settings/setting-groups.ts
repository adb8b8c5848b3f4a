import type { SettingView } from '@switchyard/core/contracts';

const titles: Readonly<Record<string, string>> = {
  policy: 'Placement',
  api: 'API port',
  admin: 'Admin port',
  discovery: 'Discovery',
  pd: 'Prefill and decode',
  health: 'Health',
  upstream: 'Calls to engines',
  process: 'Process',
  log: 'Logs',
};

export interface SettingGroup {
  readonly group: string;
  readonly title: string;
  readonly settings: readonly SettingView[];
}

/** A group's heading; a group this page does not know keeps its own word. */
export const groupTitle = (group: string): string => titles[group] ?? group.charAt(0).toUpperCase() + group.slice(1);

/** Settings whose name, value or source holds every word of `text`, by group in the router's order. */
export function settingGroups(settings: readonly SettingView[], text: string, changedOnly: boolean): readonly SettingGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const groups = new Map<string, SettingView[]>();
  for (const setting of settings) {
    const { name, group, shown, source } = setting;
    if (changedOnly && source.kind === 'default') continue;
    const haystack = `${name} ${groupTitle(group)} ${shown} ${source.kind} ${source.label}`.toLowerCase();
    if (!words.every((word) => haystack.includes(word))) continue;
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [setting]);
    else members.push(setting);
  }
  return [...groups].map(([group, members]) => ({ group, title: groupTitle(group), settings: members }));
}
