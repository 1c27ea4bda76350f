// A command that was called wrongly: nothing was begun, so that there is nothing to go on with.

export class Misuse extends Error {}

/** Also what `parseArgs` says of options that there are not. */
export const isMisused = (problem: unknown): boolean =>
  problem instanceof Misuse ||
  (problem instanceof TypeError && String((problem as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS_'))
