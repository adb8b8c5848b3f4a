import { addRaw, listItems, noRawValues, type RawValues } from './raw-value.js';
import { meaningOf, unknownName, variableName, variablePrefix } from './setting-names.js';

/** Read by the operator commands and by our own scripts, not by the server. */
const otherReaders: ReadonlySet<string> = new Set(['SWITCHYARD_ADMIN', 'SWITCHYARD_TOKEN', 'SWITCHYARD_TEST_LONG']);

/** What Kubernetes puts into every pod for a Service whose name begins with `switchyard`. */
const serviceLink = /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;
const serviceLinkValue = /^(tcp|udp|sctp):\/\//;

/**
 * Reads the `SWITCHYARD_*` variables; lists are comma-separated. An empty variable counts as not set, but an empty
 * secret is a fault: an unset variable in a deployment file must not quietly open a port.
 */
export function readEnv(env: Readonly<Record<string, string | undefined>>): RawValues {
  const into = noRawValues();
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(variablePrefix) || text === undefined || otherReaders.has(variable)) continue;
    if (serviceLink.test(variable) || (variable.endsWith('_PORT') && serviceLinkValue.test(text))) continue;
    const name = variable.slice(variablePrefix.length).toLowerCase().replaceAll('_', '-');
    const meaning = variable === variableName(name) ? meaningOf(name) : undefined;
    if (meaning === undefined) {
      into.warnings.push(`${variable} ${unknownName(name, variableName)}`);
      continue;
    }
    const texts = (meaning.is === 'setting' ? listItems(meaning.setting, text) : [text]).filter((item) => item !== '');
    if (texts.length > 0) addRaw(into, meaning, { kind: 'env', label: variable }, texts);
    else if (meaning.is !== 'ignored' && meaning.setting.sensitive) into.faults.push(`${variable} is empty: give it a value or remove it`);
  }
  return into;
}
