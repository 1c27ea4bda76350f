// The command lines of the scripts: `--help`, and mistakes in arguments.
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { didYouMean } from '../src/kernel/text.ts'

/** A command that was called wrongly. Nothing was begun, so there is nothing to continue. */
export class Misuse extends Error {}

type Config = ParseArgsConfig & { readonly options: NonNullable<ParseArgsConfig['options']> }

/**
 * Parses arguments as `parseArgs` does, by default those of this process. Prints `usage` and ends the process if they contain
 * `--help` or `-h`. Throws a `Misuse` that names the mistake and contains `usage`.
 */
export function readArguments<const T extends Config>(
  usage: string,
  config: T,
  args: string[] = process.argv.slice(2),
): ReturnType<typeof parseArgs<T>> {
  if (args.some(arg => arg === '--help' || arg === '-h')) {
    console.log(usage)
    process.exit(0)
  }
  try {
    return parseArgs<T>({ ...config, args })
  } catch (problem) {
    const { code, message } = problem as { code?: unknown; message: string }
    if (!String(code).startsWith('ERR_PARSE_ARGS_')) throw problem
    throw new Misuse(`${mistakeOf(code, message, Object.keys(config.options))}\n\n${usage}`)
  }
}

/** Returns what is wrong with a command, from the error of `parseArgs`. */
function mistakeOf(code: unknown, message: string, options: readonly string[]): string {
  const [, named = ''] = /'([^']*)'/.exec(message) ?? []
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
    return unknownText(
      'option',
      named,
      options.map(option => `--${option}`),
    )
  if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') return `'${named}' is one argument too many.`
  return message.split('\n', 1)[0]!.replace(/\.?$/, '.')
}

/** Says that there is no such command or option, and names a similar one. */
export const unknownText = (what: string, name: string, known: readonly string[]): string =>
  `There is no ${what} '${name}'.${didYouMean(name, known)}`
