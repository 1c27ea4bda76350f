// How a command ends: the exit codes, as listed in docs/cli.md.

export const EXIT = {
  ok: 0,
  /** Mistakes were found, or the service rejected the request. */
  refused: 1,
  /** The command was used wrongly: an unknown option, a missing file. */
  usage: 2,
  /** The service does not respond, is overloaded, or fails. */
  unreachable: 3,
  /** No longer signed in, or the account is not permitted to do it. */
  signedOut: 4,
  /** Ctrl-C, with the code that shells use. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Ends the command with this code. The message says what is wrong and what to do. */
export class Failure extends Error {
  readonly exit: ExitCode

  constructor(exit: ExitCode, message: string) {
    super(message)
    this.name = 'Failure'
    this.exit = exit
  }
}

export const usage = (message: string): Failure => new Failure(EXIT.usage, message)
