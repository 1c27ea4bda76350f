// `npx bindery`: the command line for authors of configurations. Each command is a file in commands/, loaded when it is called.
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import pico from 'picocolors'
import { failureOf } from './api.ts'
import { EXIT, type ExitCode } from './exit.ts'
import { fileProblem } from './file-problem.ts'
import { PACKAGE_FILE } from './files.ts'
import type { Run, Terminal } from './terminal.ts'

const HELP_WIDTH = 80

const EXIT_CODES =
  'Exit codes: 0 success, 1 mistakes or rejected, 2 wrong usage, 3 not reachable,\n4 not signed in or not allowed, 130 interrupted.'

/** Runs the command of `argv` (without node and script) and returns its exit code. Never throws because of user errors. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok
  const isJson = argv.includes('--json')
  const silent = isJson ? { ...terminal, err: () => {} } : terminal
  const program = programOf(silent, async work => {
    code = await work({ terminal, json: isJson })
  })
  const reportFailure = (error: string, exit: ExitCode): ExitCode => {
    if (isJson) terminal.out(`${JSON.stringify({ ok: false, error, exit })}\n`)
    return exit
  }
  try {
    // As in most programs, `help check` is `check --help`.
    const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv
    const isKnown = namesCommand(program, words)
    // Help on an unknown command would be that of its parent. Without the option, the parser reports the command.
    await program.parseAsync(isKnown ? words : words.filter(word => !HELP.has(word)), { from: 'user' })
    return code
  } catch (problem) {
    if (problem instanceof CommanderError) {
      if (problem.exitCode === 0) return EXIT.ok
      return reportFailure(problem.message.replace(/^error: /, '').replaceAll('\n', ' '), EXIT.usage)
    }
    const failure = failureOf(problem)
    if (!failure) throw problem
    if (!isJson) terminal.err(`${terminal.colors.red('bindery:')} ${failure.message}\n`)
    return reportFailure(failure.message, failure.exit)
  }
}

const HELP: ReadonlySet<string> = new Set(['--help', '-h'])

/** Whether the words up to the first option name a command, or none. */
function namesCommand(parent: Command, [word, ...rest]: readonly string[]): boolean {
  if (word === undefined || word.startsWith('-') || parent.commands.length === 0) return true
  const command = parent.commands.find(one => one.name() === word)
  return command !== undefined && namesCommand(command, rest)
}

type Act = (work: (run: Run) => Promise<ExitCode>) => Promise<void>

/** Parses an option that may be given several times. */
const collect = (value: string, earlier: readonly string[] = []): string[] => [...earlier, value]

/** Returns all commands with their options. `act` runs the work of a command. */
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
    .showHelpAfterError("Run 'bindery COMMAND --help' for the usage of a command.")
    .helpCommand(false)
    .addHelpText('after', `\n${EXIT_CODES}\ndocs/cli.md has examples.`)

  addProductCommands(program, act)
  addEditorCommands(program, act)
  addBookCommands(program, act)
  addServiceCommands(program, act)
  return program
}

/** Adds a command, with the option that all commands have. */
const command = (parent: Command, usage: string, summary: string): Command =>
  parent.command(usage).description(summary).option('--json', 'print JSON, for programs')

/** Commands that create, check, price and compare a configuration without a service. */
function addProductCommands(program: Command, act: Act): void {
  command(program, 'new <name>', 'create a folder with a configuration to start from').action(
    async (name: string) => {
      const { newConfiguration } = await import('./commands/new.ts')
      await act(run => newConfiguration(name, run))
    },
  )
  command(
    program,
    'check <source>',
    'check a folder or zip file as a deployment would, without a service',
  ).action(async (source: string) => {
    const { check } = await import('./commands/check.ts')
    await act(run => check(source, run))
  })
  command(
    program,
    'price <source>',
    'price policies with the configuration in a folder or zip file, without a service',
  )
    .requiredOption(
      '--policy <file>',
      'the body of POST /policy, alone or with a policyholder, or a list of these',
    )
    .option('--explain', 'show how each figure was computed')
    .action(async (source: string, options: { policy: string; explain?: boolean }) => {
      const { price } = await import('./commands/price.ts')
      await act(run => price(source, options, run))
    })
  command(program, 'test <dir> [files...]', 'run scenarios with a configuration, without a service')
    .option('--filter <text>', 'only scenarios with this text in their name or file name')
    .option('--update', 'write the actual results into the files as the expected ones')
    .option('--watch', 'run again after every change, until Ctrl-C')
    .option('--junit <file>', 'write the results as JUnit XML')
    .option('--coverage [file]', 'show which code and rows no scenario reached, or write them to a file')
    .action(async (dir: string, files: string[], options: object) => {
      const { test } = await import('./commands/test.ts')
      await act(run => test(dir, files, options, run))
    })
  command(program, 'try <dir>', 'price random policies and show problems')
    .option('--count <number>', 'number of policies', '1000')
    .option('--seed <number>', 'the same seed generates the same policies; default: random')
    .option('--product <name>', 'the product, required if there are several')
    .option('--at <day>', 'the day of the requests; default: today')
    .option('--base <file>', 'a policy (as for `price --policy`) whose values all policies have')
    .option('--keep <dir>', 'write the smallest policy that shows each problem to this folder')
    .action(async (dir: string, options: object) => {
      const { tryPolicies } = await import('./commands/try.ts')
      await act(run => tryPolicies(dir, options, run))
    })
  command(program, 'diff <old> <new>', 'show the differences between two configurations')
    .option('--verbose', 'list all changed rows of tables and lines of templates')
    .action(async (old: string, now: string, options: object) => {
      const { diff } = await import('./commands/diff.ts')
      await act(run => diff(old, now, options, run))
    })
}

/** Commands that print what editors need. */
function addEditorCommands(program: Command, act: Act): void {
  command(program, 'schema [file]', 'print JSON Schemas, which editors use to complete and check files')
    .option('--out <dir>', 'write all schemas to this folder')
    .option('--into <dir>', 'write them next to this configuration, and refer to them in its files')
    .action(async (file: string | undefined, options: object) => {
      const { schema } = await import('./commands/schema.ts')
      await act(run => schema(file, options, run))
    })
  command(program, 'types', 'print TypeScript declarations for plugins')
    .option('--out <file>', 'write them to this file')
    .option('--into <dir>', 'write them next to this configuration, where editors find them')
    .action(async (options: object) => {
      const { types } = await import('./commands/types.ts')
      await act(async run => types(options, run))
    })
}

/** Commands that read and compare the policies of a tenant. */
function addBookCommands(program: Command, act: Act): void {
  command(program, 'impact <new>', 'compare the prices of policies now and with another configuration')
    .requiredOption('--book <file>', "a file of 'book export', or migration requests")
    .option('--old <configuration>', 'compare with this configuration instead of recorded prices')
    .option('--day <day>', 'policies in force on this day, as 2027-01-01; default: today')
    .option('--at <when>', "'renewal', or 'day': for a term that begins on the day", 'renewal')
    .option('--by <fields>', 'group by these fields, for example region,vehicle.usage')
    .option('--csv <file>', 'write a row for each policy')
    .option('--html <file>', 'write a page with charts')
    .action(async (now: string, options: { book: string; at: string }) => {
      const { impact } = await import('./commands/impact.ts')
      await act(run => impact(now, options, run))
    })
  const book = program.command('book').description('write the policies of a tenant to a file')
  command(book, 'export', "write the policies in force to a file, for 'impact'")
    .requiredOption('--out <file>', 'the file; an export that was interrupted continues')
    .option('--day <day>', 'in force on this day or later, as 2027-01-01; default: today')
    .action(async (options: { out: string }) => {
      const { exportBook } = await import('./commands/book.ts')
      await act(run => exportBook(options, run))
    })
  command(program, 'report <name>', 'create a report of a tenant and download its files')
    .option('--param <name=value>', 'a parameter, for example by=product,month; can be repeated', collect)
    .option('--out <dir>', 'write the files to this folder')
    .action(async (name: string, options: object) => {
      const { report } = await import('./commands/report.ts')
      await act(run => report(name, options, run))
    })
  command(program, 'export', 'write all records of a tenant to files')
    .requiredOption('--out <dir>', 'the folder; continues an export that it contains')
    .option('--files', 'also download the files of documents and media')
    .action(async (options: { out: string }) => {
      const { exportAll } = await import('./commands/export.ts')
      await act(run => exportAll(options, run))
    })
}

/** Commands that sign in to a service, deploy to it, follow it and fill it. */
function addServiceCommands(program: Command, act: Act): void {
  command(
    program,
    'login [address]',
    'sign in to a service; prompts for the password, or reads it from a pipe',
  )
    .option(
      '--tenant <name>',
      'sign in as a user of this tenant (name or host name); default: as an administrator',
    )
    .option('--user <name>', "the user name; default for an administrator: 'administrator'")
    .option('--token', 'prompt for a long-lived token instead of a password')
    .action(async (address: string | undefined, options: object) => {
      const { login } = await import('./commands/login.ts')
      await act(run => login(address, options, run))
    })
  command(program, 'deploy <dir>', 'deploy a configuration, and wait until it is in force')
    .requiredOption('--tenant <name>', 'the tenant; a test tenant is created if it does not exist')
    .option('--production', 'deploy to a production tenant')
    .option('--watch', 'deploy again after every change, until Ctrl-C')
    .action(async (dir: string, options: { tenant: string }) => {
      const { deploy } = await import('./commands/deploy.ts')
      await act(run => deploy(dir, options, run))
    })
  const events = program.command('events').description('read the events of a tenant')
  command(events, 'tail', 'print events as they happen, until Ctrl-C')
    .option('--since <time>', "from a time ('2026-11-22T08:00:00Z') or a duration before now ('15m')")
    .option('--type <type>', "only events of this type, for example 'policy.issue'")
    .option('--once', 'stop when all events until now are printed')
    .action(async (options: object) => {
      const { tailEvents } = await import('./commands/events.ts')
      await act(run => tailEvents(options, run))
    })
  command(program, 'migrate [file]', 'import accounts from another system')
    .option('--validate-only', 'check everything, write nothing')
    .option('--follow <locator>', 'show the progress of a migration that was submitted earlier')
    .action(async (file: string | undefined, options: object) => {
      const { migrate } = await import('./commands/migrate.ts')
      await act(run => migrate(file, options, run))
    })
  command(program, 'import <dir>', 'import an export into another tenant')
    .option('--validate-only', 'check everything, write nothing')
    .action(async (dir: string, options: object) => {
      const { importAll } = await import('./commands/import.ts')
      await act(run => importAll(dir, options, run))
    })
}

const versionOfPackage = (): string =>
  (JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')) as { version: string }).version

/** Runs the command of this process. */
export async function main(): Promise<ExitCode> {
  const interruption = new AbortController()
  // A terminal sends the signal to a whole group of processes, and the parent processes may pass it on too, so it may arrive
  // twice.
  process.on('SIGINT', () => interruption.abort())
  // A reader that needs no more, such as `head`, closes the pipe.
  const isClosed = (problem: NodeJS.ErrnoException): boolean => problem.code === 'EPIPE'
  process.stdout.on('error', problem => {
    if (isClosed(problem)) process.exit(EXIT.ok)
    process.stderr.write(`bindery: The output cannot be written: ${fileProblem(problem)}.\n`)
    process.exit(EXIT.usage)
  })
  // Nobody reads problems and progress any more. The command continues and ends as usual.
  process.stderr.on('error', problem => {
    if (!isClosed(problem)) throw problem
  })
  return await run(process.argv.slice(2), {
    out: text => void process.stdout.write(text),
    err: text => void process.stderr.write(text),
    input: process.stdin,
    env: process.env,
    isWatched: process.stderr.isTTY === true,
    // Does not use the default of picocolors, which also colours piped output if CI is set.
    colors: pico.createColors(process.stdout.isTTY === true && process.stdout.hasColors()),
    interrupted: interruption.signal,
  })
}
