import { type ZodType } from 'zod';

import { type AdminAnswer, AdminRefusal } from '../operator/admin-client.js';
import { exitCodes, type Command, type CommandIo } from '../command.js';
import { type OperatorArguments } from '../operator/operator-arguments.js';

/** Runs `body` and tells a refusal of the admin API in one line, with `--json` as the API gave it. */
export async function tellRefusal(io: CommandIo, { json }: Pick<OperatorArguments, 'json'>, body: () => Promise<number>): ReturnType<Command> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof AdminRefusal)) throw error;
    if (json && error.body !== null) io.out(JSON.stringify(error.body, null, 2));
    io.err(`switchyard: ${error.message}`);
    return exitCodes.failed;
  }
}

/** The answer as `schema` has it; another shape means another version of the router. */
export function readAs<T>(schema: ZodType<T>, { body }: AdminAnswer): T {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new AdminRefusal(`the admin API answers in another form than this command knows (${issue?.path.join('.') ?? ''}): are both of one version?`);
}
