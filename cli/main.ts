// `npx bindery`: the command line of configuration authors. Each command is a file of commands/, loaded when it is called.
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import pico from 'picocolors'
import { failureOf } from './api.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { PACKAGE_FILE } from './files.ts'
import type { Run, Terminal } from './terminal.ts'

const HELP_WIDTH = 80

const EXIT_CODES =
  'Exit codes: 0 done, 1 mistakes or refused, 2 used wrongly, 3 out of reach,\n4 not signed in or not allowed, 130 interrupted.'

/** Runs the command of `argv` (without node and script) and answers its exit code. Never throws for what a user does. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok
  const isJson = argv.includes('--json')
  const silent = isJson ? { ...terminal, err: () => {} } : terminal
  const program = programOf(silent, async work => {
    code = await work({ terminal, json: isJson })
  })
  const failed = (error: string, exit: ExitCode): ExitCode => {
    if (isJson) terminal.out(`${JSON.stringify({ ok: false, error, exit })}\n`)
    return exit
  }
  try {
    // As most programs have it, `help check` is `check --help`.
    await program.parseAsync(argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv, { from: 'user' })
    return code
  } catch (problem) {
    if (problem instanceof CommanderError) {
      if (problem.exitCode === 0) return EXIT.ok
      return failed(problem.message.replace(/^error: /, '').replaceAll('\n', ' '), EXIT.usage)
    }
    const failure = failureOf(problem)
    if (!failure) throw problem
    if (!isJson) terminal.err(`${terminal.colors.red('bindery:')} ${failure.message}\n`)
    return failed(failure.message, failure.exit)
  }
}

type Act = (work: (run: Run) => Promise<ExitCode>) => Promise<void>

/** All commands with their options. `act` runs what a command does. */
/** An option that may be given several times. */
const collect = (value: string, earlier: readonly string[] = []): string[] => [...earlier, value]

export function programOf(terminal: Terminal, act: Act): Command {
  const program = new Command('bindery')
    .description('Write, check, price and deploy configurations of Bindery.')
    .version(versionOfPackage())
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })
    .showHelpAfterError("'bindery COMMAND --help' says how a command is used.")
    .helpCommand(false)
    .addHelpText('after', `\n${EXIT_CODES}\ndocs/cli.md has examples.`)

  const command = (parent: Command, usage: string, summary: string): Command =>
    parent.command(usage).description(summary).option('--json', 'answer with JSON, for programs')

  command(program, 'new <name>', 'make a folder with a configuration to begin from').action(
    async (name: string) => {
      const { newConfiguration } = await import('./commands/new.ts')
      await act(run => newConfiguration(name, run))
    },
  )
  command(program, 'check <dir>', 'find mistakes, as a deploy does, without a service').action(
    async (dir: string) => {
      const { check } = await import('./commands/check.ts')
      await act(run => check(dir, run))
    },
  )
  command(program, 'price <dir>', 'rate policies by a configuration, without a service')
    .requiredOption('--policy <file>', 'the body of POST /policy, alone or beside a policyholder; or a list')
    .option('--explain', 'show how each figure came to be')
    .action(async (dir: string, options: { policy: string; explain?: boolean }) => {
      const { price } = await import('./commands/price.ts')
      await act(run => price(dir, options, run))
    })
  command(program, 'test <dir> [files...]', 'run scenarios by a configuration, without a service')
    .option('--filter <text>', 'only scenarios with this in their name, or in that of their file')
    .option('--update', 'write what came into the files, in the place of what was expected')
    .option('--watch', 'run again at every change, until Ctrl-C')
    .option('--junit <file>', "write the results as JUnit's XML")
    .option('--coverage [file]', 'show what no scenario reached; write it to a file')
    .action(async (dir: string, files: string[], options: object) => {
      const { test } = await import('./commands/test.ts')
      await act(run => test(dir, files, options, run))
    })
  command(program, 'try <dir>', 'rate random policies, and show what is wrong with them')
    .option('--count <number>', 'how many policies', '1000')
    .option('--seed <number>', 'the same seed makes the same policies; by default another each time')
    .option('--product <name>', 'the product, where there are several')
    .option('--at <day>', 'the day of the requests; by default today')
    .option('--base <file>', 'a policy whose values all have, as of `price --policy`')
    .option('--keep <dir>', 'write the smallest policy of each problem there')
    .action(async (dir: string, options: object) => {
      const { tryPolicies } = await import('./commands/try.ts')
      await act(run => tryPolicies(dir, options, run))
    })
  command(program, 'diff <old> <new>', 'say what changes between two configurations')
    .option('--verbose', 'all rows of tables, and all changed lines of templates')
    .action(async (old: string, now: string, options: object) => {
      const { diff } = await import('./commands/diff.ts')
      await act(run => diff(old, now, options, run))
    })
  command(program, 'schema [file]', 'JSON Schemas of the files, by which editors complete and check')
    .option('--out <dir>', 'write all of them to this folder')
    .option('--into <dir>', 'name them in the files of this configuration, and write them beside it')
    .action(async (file: string | undefined, options: object) => {
      const { schema } = await import('./commands/schema.ts')
      await act(run => schema(file, options, run))
    })
  command(program, 'types', 'TypeScript declarations of what plugins are given, answer and find')
    .option('--out <file>', 'write them to this file')
    .option('--into <dir>', 'write them beside this configuration, for editors')
    .action(async (options: object) => {
      const { types } = await import('./commands/types.ts')
      await act(async run => types(options, run))
    })
  command(program, 'impact <new>', 'price a book of policies by what it has and by another configuration')
    .requiredOption('--book <file>', "what 'book export' wrote, or requests of a migration")
    .option('--old <configuration>', 'price by this one, in the place of what was recorded')
    .option('--day <day>', 'the policies in force on this day, as 2027-01-01; today')
    .option('--at <when>', "'renewal', or 'day': for a term that begins on the day", 'renewal')
    .option('--by <fields>', 'group by these fields, as region,vehicle.usage')
    .option('--csv <file>', 'write a row for each policy')
    .option('--html <file>', 'write a page with charts')
    .action(async (now: string, options: { book: string; at: string }) => {
      const { impact } = await import('./commands/impact.ts')
      await act(run => impact(now, options, run))
    })
  const book = program
    .command('book')
    .description('get the policies of a tenant as a file')
    .action(() => book.help({ error: true }))
  command(book, 'export', "write a tenant's policies in force, for 'impact'")
    .requiredOption('--out <file>', 'the file; one that was begun is gone on with')
    .option('--day <day>', 'in force on this day or later, as 2027-01-01; today')
    .action(async (options: { out: string }) => {
      const { exportBook } = await import('./commands/book.ts')
      await act(run => exportBook(options, run))
    })
  command(program, 'report <name>', 'make a report over a tenant, get its files')
    .option('--param <name=value>', 'a parameter, as by=product,month; once for each', collect)
    .option('--out <dir>', 'write the files to this folder')
    .action(async (name: string, options: object) => {
      const { report } = await import('./commands/report.ts')
      await act(run => report(name, options, run))
    })
  command(program, 'export', 'write all records of a tenant to files')
    .requiredOption('--out <dir>', 'the folder; an export that was begun or is whole is gone on with')
    .option('--files', 'get the files of documents and media, too')
    .action(async (options: { out: string }) => {
      const { exportAll } = await import('./commands/export.ts')
      await act(run => exportAll(options, run))
    })
  command(program, 'login [address]', 'sign in at a service; the password is asked for, or piped in')
    .option('--tenant <name>', 'sign in as a user of this tenant (name or host); else as an administrator')
    .option('--user <name>', "the user; an administrator's is 'administrator' by default")
    .option('--token', 'ask for a long-lived token in the place of a password')
    .action(async (address: string | undefined, options: object) => {
      const { login } = await import('./commands/login.ts')
      await act(run => login(address, options, run))
    })
  command(program, 'deploy <dir>', 'deploy, and wait until it is in force')
    .requiredOption('--tenant <name>', 'name of the tenant; a test tenant is made when there is none')
    .option('--production', 'the tenant is a production tenant')
    .option('--watch', 'deploy again at every change, until Ctrl-C')
    .action(async (dir: string, options: { tenant: string }) => {
      const { deploy } = await import('./commands/deploy.ts')
      await act(run => deploy(dir, options, run))
    })
  const events = program
    .command('events')
    .description("read a tenant's events")
    .action(() => events.help({ error: true }))
  command(events, 'tail', 'print events as they come, until Ctrl-C')
    .option('--since <time>', "from a time on, as '2026-11-22T08:00:00Z', or so long ago, as '15m'")
    .option('--type <type>', "events of this type only, as 'policy.issue'")
    .option('--once', 'end when all that there is has been printed')
    .action(async (options: object) => {
      const { tailEvents } = await import('./commands/events.ts')
      await act(run => tailEvents(options, run))
    })
  command(program, 'migrate [file]', 'bring in accounts of another system')
    .option('--validate-only', 'check everything and write nothing')
    .option('--follow <locator>', 'go back to a migration that was sent before')
    .action(async (file: string | undefined, options: object) => {
      const { migrate } = await import('./commands/migrate.ts')
      await act(run => migrate(file, options, run))
    })
  command(program, 'import <dir>', 'import an export into another tenant')
    .option('--validate-only', 'check everything and write nothing')
    .action(async (dir: string, options: object) => {
      const { importAll } = await import('./commands/import.ts')
      await act(run => importAll(dir, options, run))
    })
  return program
}

const versionOfPackage = (): string =>
  (JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')) as { version: string }).version

/** The command of this process. */
export async function main(): Promise<ExitCode> {
  const interruption = new AbortController()
  // A terminal tells a whole group of processes, and those that started this one may pass it on: it may come twice.
  process.on('SIGINT', () => interruption.abort())
  // A reader that has seen enough, as `head`, closes the pipe.
  const isClosed = (problem: NodeJS.ErrnoException): boolean => problem.code === 'EPIPE'
  process.stdout.on('error', problem => {
    if (isClosed(problem)) process.exit(EXIT.ok)
    throw problem
  })
  // Nobody reads problems and progress any more; what is done is done, and ends as it ends.
  process.stderr.on('error', problem => {
    if (!isClosed(problem)) throw problem
  })
  return await run(process.argv.slice(2), {
    out: text => void process.stdout.write(text),
    err: text => void process.stderr.write(text),
    input: process.stdin,
    env: process.env,
    isWatched: process.stderr.isTTY === true,
    // Not as picocolors decides: it colours what goes into a pipe as well wherever CI is set.
    colors: pico.createColors(process.stdout.isTTY === true && process.stdout.hasColors()),
    interrupted: interruption.signal,
  })
}
