import { type PlacedSetting } from './settings.js';
import { unexplained } from './value-kind.js';

export type SettingRead = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly faults: readonly string[] };

/** Reads the written texts of a setting; a fault names `label` and says what is allowed. Never quotes a secret. */
export function readSetting(setting: PlacedSetting, texts: readonly string[], label: string): SettingRead {
  const faults: string[] = [];
  const values: unknown[] = [];
  for (const text of setting.shape === 'list' ? texts : texts.slice(-1)) {
    const parsed = setting.kind.schema.safeParse(text);
    if (parsed.success) values.push(parsed.data);
    else faults.push(refusal(setting, text, label, parsed.error.issues));
  }
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, value: setting.shape === 'list' ? values : values[0] };
}

function refusal(setting: PlacedSetting, text: string, label: string, issues: readonly { readonly code: string; readonly message: string }[]): string {
  const reason = issues.find(({ code, message }) => code === 'custom' && message !== unexplained)?.message;
  const shown = setting.sensitive ? 'the given value' : JSON.stringify(text);
  return `${label}: ${shown} is not accepted${reason === undefined ? '' : ` (${reason})`}: must be ${setting.kind.allowed}`;
}
