/** Something in the surroundings keeps the server from starting; the message is meant for the operator. */
export class StartError extends Error {}
