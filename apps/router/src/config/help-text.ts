import { showValue } from './effective-config.js';
import { type PlacedSetting, type SettingGroup, settings } from './settings.js';

/** Headings of the groups, in help and reference. */
export const groupTitles: Readonly<Record<SettingGroup, string>> = {
  api: 'API port',
  admin: 'Admin port',
  discovery: 'Engines',
  pd: 'Prefill/decode',
  policy: 'Placement',
  health: 'Health',
  upstream: 'Calls to engines',
  process: 'Process',
  log: 'Logs',
};

/** The default as help and reference tell it. */
export function defaultOf(setting: PlacedSetting): string {
  if (setting.defaultText !== null) return setting.defaultText;
  const shown = showValue(setting, setting.default);
  if (setting.shape === 'switch') return setting.default === true ? 'on' : 'off';
  return shown === '' ? 'none' : shown.replaceAll(',', ', ');
}

/** How a setting is written on the command line. */
export function usageOf(setting: PlacedSetting): string {
  if (setting.shape === 'switch') return setting.default === true ? `--no-${setting.name}` : `--${setting.name}`;
  return `--${setting.name} ${setting.kind.placeholder}${setting.takesMany ? ' …' : ''}`;
}

/** All settings for `--help`. */
export function settingsHelp(): string {
  const groups = Object.entries(groupTitles).map(([group, title]) => {
    const lines = settings.filter((setting) => setting.group === group).flatMap(helpLines);
    return [`${title}:`, ...lines].join('\n');
  });
  return groups.join('\n\n');
}

function helpLines(setting: PlacedSetting): readonly string[] {
  const repeat = setting.shape === 'list' ? ' Repeatable.' : '';
  const also = setting.aliases.map((alias) => ` Also --${alias}.`).join('');
  const file = setting.sensitive ? ` Or --${setting.name}-file PATH.` : '';
  return [`  ${usageOf(setting)}`, `      ${setting.description}${repeat}${also}${file} [${defaultOf(setting)}]`];
}
