import { type JsonDocument, valueOf } from '../json/json-document.js';
import { type JsonEdit, removeMember, setMember } from '../json/json-edit.js';
import { kindAt, numberAt, stringAt } from '../json/json-value.js';
import { type PrefillToolChoice } from './connector.js';

const one = setMember('max_tokens', '1');
const notStreamed = [setMember('stream', 'false'), removeMember('stream_options')];
/** One answer of one token needs no more than one candidate. */
const oneWhenPresent = ['max_completion_tokens', 'n', 'best_of'].map((name) => setMember(name, '1'));
/** The client never sees the prefill answer, so its log probabilities are work for nobody. */
const withoutLogprobs = ['logprobs', 'top_logprobs'].map((name) => removeMember(name));
const noTool = setMember('tool_choice', '"none"');
const oneMinToken = setMember('min_tokens', '1');

/**
 * Turns a chat or completions body into its prefill leg: exactly one token, one answer, not streamed. The rules are
 * vLLM Router's for every connector, plus what one token would make an engine refuse: `min_tokens` above it, and a
 * forced tool call cut short. Cost: a look-up in the members per rule.
 */
export function prefillEdits(document: JsonDocument, toolChoice: PrefillToolChoice): readonly JsonEdit[] {
  const edits = [one, ...notStreamed, ...withoutLogprobs];
  for (const edit of oneWhenPresent) if (valueOf(document, edit.name) !== undefined) edits.push(edit);
  const minTokens = valueOf(document, 'min_tokens');
  if (minTokens !== undefined && (numberAt(document.bytes, minTokens) ?? 0) > 1) edits.push(oneMinToken);
  if (toolChoice === 'none' && forcesTool(document)) edits.push(noTool);
  return edits;
}

function forcesTool(document: JsonDocument): boolean {
  const choice = valueOf(document, 'tool_choice');
  if (choice === undefined) return false;
  return kindAt(document.bytes, choice) === 'object' || stringAt(document.bytes, choice) === 'required';
}
