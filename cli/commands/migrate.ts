import { readFileSync } from 'node:fs'
import type { BinderyClient, components } from '../../client/index.ts'
import { countText } from '../../src/kernel/text.ts'
import { failureOf } from '../api.ts'
import { bar } from '../bar.ts'
import { EXIT, type ExitCode, usage } from '../exit.ts'
import { fileProblem } from '../file-problem.ts'
import { signedIn } from '../sign-ins.ts'
import { pause, type Run, say, show } from '../terminal.ts'

export type MigrateOptions = { validateOnly?: boolean; follow?: string }

type Schemas = components['schemas']
type MigrationResponse = Schemas['MigrationResponse']
export type MigrationFailuresResponse = Schemas['MigrationFailuresResponse']
type ErrorDetailsResponse = Schemas['ErrorDetailsResponse']

export const RUNS = '/migration/{tenantLocator}/migrations'
export const RUN = '/migration/{tenantLocator}/migrations/{migrationLocator}'

/** A migration of the tenant, in the form used in paths. */
export type Named = { readonly tenantLocator: string; readonly migrationLocator: string }

const POLL_MS = 500

/** `bindery migrate FILE`: sends the accounts of the file, and shows the progress until all are done. */
export async function migrate(
  file: string | undefined,
  { validateOnly = false, follow }: MigrateOptions,
  run: Run,
): Promise<ExitCode> {
  if ((file === undefined) === (follow === undefined))
    throw usage("Name the FILE to migrate, or follow a running migration with '--follow LOCATOR'.")
  const { api, signIn } = signedIn('tenant', run.terminal)
  const tenantLocator = signIn.tenantLocator!
  const begun =
    file === undefined
      ? await api.get(RUN, { params: { path: { tenantLocator, migrationLocator: follow! } } })
      : await api.post(RUNS, {
          params: { path: { tenantLocator }, query: { validateOnly } },
          body: contentOf(file),
        })
  const { locator } = begun
  const path: Named = { tenantLocator, migrationLocator: locator }
  if (file !== undefined) say(run, `${validateOnly ? 'Checking' : 'Migration'} ${locator}\n`)
  const ended = await followToEnd(begun, path, api, run)
  if (!ended) {
    say(
      run,
      `\nThe migration continues without this command. To follow it again, run\n  npx bindery migrate --follow ${locator}\n`,
    )
    return EXIT.interrupted
  }
  const failures = ended.migrationState === 'finished' ? [] : await allFailures(path, api)
  const isFinished = ended.migrationState === 'finished'
  show(run, { ok: isFinished, migration: ended, failures }, () => outcomeText(ended, failures, run))
  return isFinished ? EXIT.ok : EXIT.refused
}

/** Sends the file unchanged: the service reports what is wrong with it and where, and numbers keep all their digits. */
function contentOf(file: string): Schemas['AccountMigrationRequest'][] {
  try {
    return new Blob([readFileSync(file)], { type: 'application/json' }) as never
  } catch (problem) {
    throw usage(`'${file}' cannot be read: ${fileProblem(problem)}.`)
  }
}

const GOES_ON: ReadonlySet<string> = new Set(['submitted', 'processing'])

/** Returns the migration when it has ended or is paused, or undefined if Ctrl-C came first. */
export async function followToEnd(
  begun: MigrationResponse,
  path: Named,
  api: BinderyClient,
  run: Run,
): Promise<MigrationResponse | undefined> {
  const { terminal } = run
  let migration = begun
  let shown = ''
  const progress = (): void => {
    const text = progressText(migration)
    if (text === shown) return
    shown = text
    // Lines that overwrite one another are useless unless somebody is watching.
    say(run, terminal.isWatched ? `\r\u001b[2K${text}` : `${text}\n`)
  }
  progress()
  while (GOES_ON.has(migration.migrationState)) {
    await pause(POLL_MS, terminal)
    if (terminal.interrupted.aborted) return undefined
    try {
      migration = await api.get(RUN, { params: { path } })
    } catch (problem) {
      if (failureOf(problem)?.exit === EXIT.interrupted) return undefined
      throw problem
    }
    progress()
  }
  if (terminal.isWatched) say(run, '\n')
  return migration
}

/** At most 80 characters: `[####····]  512/1000 accounts  38/s  13 s left  2 failed`. */
export function progressText({
  accounts,
  totalAccounts,
  accountsPerSecond,
  secondsLeft,
  migrationState,
}: MigrationResponse): string {
  const done = accounts.completed + accounts.failed + accounts.error
  return [
    bar(done, totalAccounts),
    `${done}/${countText(totalAccounts, 'account')}`,
    accountsPerSecond === undefined ? '' : `${Number(accountsPerSecond.toFixed(1))}/s`,
    secondsLeft === undefined ? '' : `${secondsLeft} s left`,
    accounts.failed + accounts.error > 0 ? `${accounts.failed + accounts.error} failed` : '',
    migrationState === 'processing' ? '' : migrationState,
  ]
    .filter(part => part !== '')
    .join('  ')
}

export async function allFailures(path: Named, api: BinderyClient): Promise<MigrationFailuresResponse[]> {
  const failures: MigrationFailuresResponse[] = []
  for await (const failure of api.list(`${RUN}/failures/list`, { params: { path } })) failures.push(failure)
  return failures
}

function outcomeText(
  migration: MigrationResponse,
  failures: readonly MigrationFailuresResponse[],
  { terminal: { colors } }: Run,
): string {
  const { locator, migrationState, totalAccounts, validateOnly, accounts } = migration
  const verb = validateOnly ? 'checked' : 'migrated'
  if (migrationState === 'finished')
    return `${colors.green(`${countText(totalAccounts, 'account')} ${verb}`)}${validateOnly ? '; nothing was written' : ''}\n`
  const listed = failures.map(one => failureText(one, colors)).join('')
  if (migrationState === 'paused')
    return `${listed}${colors.yellow('Paused')}. PATCH …/migrations/${locator}/resume continues it.\n`
  const failed = accounts.failed + accounts.error
  return `${listed}${colors.red(`${failed} of ${countText(totalAccounts, 'account')} failed`)}. ${adviceText(migration)}\n`
}

function adviceText({ locator, validateOnly, accounts }: MigrationResponse): string {
  if (accounts.error > 0)
    return `PATCH …/migrations/${locator}/recover retries the accounts that a failure of the service stopped.`
  if (validateOnly) return 'Correct the file and check it again.'
  return `Correct them with PATCH …/migrations/${locator}. Migrated accounts are kept.`
}

const KINDS = ['policies', 'invoices', 'payments', 'disbursements'] as const

export function failureText(failure: MigrationFailuresResponse, colors: Run['terminal']['colors']): string {
  const of: [string, ErrorDetailsResponse][] = [
    ...(failure.accountError ? [['', failure.accountError] as [string, ErrorDetailsResponse]] : []),
    ...KINDS.flatMap(kind =>
      Object.entries(failure[kind]).map(([id, one]): [string, ErrorDetailsResponse] => [
        ` ${kind} ${id}`,
        one,
      ]),
    ),
  ]
  return of
    .map(([place, { errors }]) => {
      const items = errors.validationItems.flatMap(({ locator, errors: texts }) =>
        texts.map(text => `  ${locator}: ${text}\n`),
      )
      return `${colors.bold(`account ${failure.accountOriginalId}${place}`)}\n${items.join('')}`
    })
    .join('')
}
