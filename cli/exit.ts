// How a command ends: the exit codes, as docs/cli.md lists them.

export const EXIT = {
  ok: 0,
  /** Mistakes were found, or the service refused what was asked. */
  refused: 1,
  /** The command was used wrongly: an unknown option, a file that is not there. */
  usage: 2,
  /** The service does not answer, or is overloaded or failing. */
  unreachable: 3,
  /** Not signed in any more, or the account may not do it. */
  signedOut: 4,
  /** Ctrl-C, as shells count it. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Ends the command with this code; the message says what is wrong and what to do. */
export class Failure extends Error {
  readonly exit: ExitCode

  constructor(exit: ExitCode, message: string) {
    super(message)
    this.name = 'Failure'
    this.exit = exit
  }
}

export const usage = (message: string): Failure => new Failure(EXIT.usage, message)
