import { exitCodes } from './command.js';

/** Something in the surroundings keeps the server from starting; the message is meant for the operator. */
export class StartError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.unusable) {
    super(message);
    this.exitCode = exitCode;
  }
}
