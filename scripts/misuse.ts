// A command that was called wrongly. Nothing was begun, so there is nothing to continue.

export class Misuse extends Error {}

/** Whether the command was called wrongly, including unknown options that `parseArgs` reports. */
export const isMisused = (problem: unknown): boolean =>
  problem instanceof Misuse ||
  (problem instanceof TypeError && String((problem as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS_'))
