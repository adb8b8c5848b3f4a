import { badRequest, schemaError } from './api-error.js';
import { isObject, type JsonObject } from './fields.js';

/** A call the simulated model makes, and whether the request forced it. */
export interface ToolCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  readonly forced: boolean;
}

/** In a prompt it makes the model call a tool of its own accord. */
export const toolMarker = '[[sim:tool]]';

const maxSchemaDepth = 8;

function valueOf(schema: unknown, depth: number): unknown {
  if (!isObject(schema) || depth > maxSchemaDepth) return null;
  const [first] = Array.isArray(schema['enum']) ? (schema['enum'] as readonly unknown[]) : [];
  if (first !== undefined) return first;
  switch (schema['type']) {
    case 'object': {
      const properties = isObject(schema['properties']) ? schema['properties'] : {};
      return Object.fromEntries(Object.entries(properties).map(([key, property]) => [key, valueOf(property, depth + 1)]));
    }
    case 'array':
      return [valueOf(schema['items'], depth + 1)];
    case 'integer':
      return 42;
    case 'number':
      return 1.5;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return '北京 "city" 🌍';
  }
}

function functionOf(tool: unknown): JsonObject {
  const fn = isObject(tool) ? tool['function'] : undefined;
  if (!isObject(fn) || typeof fn['name'] !== 'string') throw schemaError('tools', 'missing', 'Field required');
  return fn;
}

function makeCall(fn: JsonObject, forced: boolean): ToolCall {
  return { name: String(fn['name']), arguments: JSON.stringify(valueOf(fn['parameters'] ?? { type: 'object' }, 0)), forced };
}

/** Reads `tools` and `tool_choice`; `null` means the model answers in words. */
export function readToolCall(body: JsonObject, promptText: string): ToolCall | null {
  const tools = body['tools'] ?? null;
  const choice = body['tool_choice'] ?? null;
  if (tools !== null && !Array.isArray(tools)) throw schemaError('tools', 'list_type', 'Input should be a valid list');
  const functions = (tools ?? []).map(functionOf);
  const [first] = functions;
  if (choice === 'none' || (choice === null && first === undefined)) return null;
  if (first === undefined) throw badRequest('When using `tool_choice`, `tools` must be set.', 'tool_choice');
  if (choice === 'required') return makeCall(first, true);
  if (isObject(choice)) {
    const wanted = isObject(choice['function']) ? choice['function']['name'] : undefined;
    const fn = functions.find((candidate) => candidate['name'] === wanted);
    if (fn === undefined) throw badRequest('The tool specified in `tool_choice` does not match any of the specified `tools`', 'tool_choice');
    return makeCall(fn, true);
  }
  if (choice !== null && choice !== 'auto') {
    throw badRequest('Invalid value for `tool_choice`: only "none", "auto", "required" and named tools are supported.', 'tool_choice');
  }
  return promptText.includes(toolMarker) ? makeCall(first, false) : null;
}
