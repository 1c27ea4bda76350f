// `bindery import DIR`: brings an export into the tenant that is signed in to, an account for each policyholder, and compares what it became
// with what it was. A run that was cut off goes on; what is there is not made again.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BinderyClient } from '../../client/index.ts'
import { type ToldAccount, toldAccount } from '../../src/reporting/export/account/account.ts'
import { differencesNow } from '../../src/reporting/export/account/compare.ts'
import type { PolicyRecord } from '../../src/reporting/export/policy-record.ts'
import { EXIT, type ExitCode, Failure } from '../exit.ts'
import { ProgressFile } from '../import/progress.ts'
import { readExported, Source, type SourceAccount } from '../import/source.ts'
import { signedIn } from '../sign-ins.ts'
import { counted, type Run, say, show } from '../terminal.ts'
import { allFailures, failureText, followed, type MigrationFailuresResponse, RUN, RUNS } from './migrate.ts'

export type ImportOptions = { readonly validateOnly?: boolean }

/** Below those of the service: 1,000 accounts, 25 MiB; an account 10 MiB and 5,000 items. */
const MOST_ACCOUNTS = 500
const LARGEST_REQUEST_BYTES = 16 * 1024 * 1024
const LARGEST_ACCOUNT_BYTES = 10 * 1024 * 1024

/** What became of a policy or an account, as `import-report.ndjson` has it. */
type Finding = {
  readonly policyholder: string
  readonly policy?: string
  /** `history`, `asNow`, `left`, `failed`; after it was carried over `differs` or `notCompared`. */
  readonly as: string
  readonly reason?: string
  readonly notes?: readonly string[]
}

type Importing = {
  readonly api: BinderyClient
  readonly run: Run
  readonly tenantLocator: string
  readonly source: Source
  readonly progress: ProgressFile
  readonly validateOnly: boolean
  readonly findings: Finding[]
  readonly counts: { accounts: number; present: number; failed: number; compared: number }
}

export async function importAll(
  folder: string,
  { validateOnly = false }: ImportOptions,
  run: Run,
): Promise<ExitCode> {
  const { api, signIn } = signedIn('tenant', run.terminal)
  const tenantLocator = signIn.tenantLocator!
  const exported = await readExported(folder)
  if (exported.tenantLocator === tenantLocator)
    throw new Failure(
      EXIT.refused,
      'The export is of the tenant that you are signed in to. Sign in to another one: bindery login --tenant NAME.',
    )
  const source = await Source.open(folder)
  try {
    const progress = await ProgressFile.open(
      folder,
      tenantLocator,
      // Needs the permission to export, without which nothing could be compared in the end.
      async () => (await api.get('/export')).cursor,
    )
    const counts = { accounts: 0, present: 0, failed: 0, compared: 0 }
    const importing: Importing = {
      ...{ api, run, tenantLocator, source, progress, validateOnly, counts, findings: [] },
    }
    if (!(await sendAll(importing))) return interruptedText(importing)
    if (!validateOnly && !(await compareAll(importing))) return interruptedText(importing)
    return report(folder, importing)
  } finally {
    source.close()
  }
}

function interruptedText({ run }: Importing): ExitCode {
  say(run, '\nInterrupted. Run the command again: it goes on, and makes nothing twice.\n')
  return EXIT.interrupted
}

type Sending = { readonly account: SourceAccount; readonly told: ToldAccount; readonly text: string }

/** False where it was interrupted. */
async function sendAll(importing: Importing): Promise<boolean> {
  const { source, progress, run, counts, findings, validateOnly } = importing
  const { state } = progress
  if (state.running !== undefined) {
    if (!(await endOf(importing, state.running))) return false
  }
  counts.present = Object.keys(state.accounts).length
  let batch: Sending[] = []
  let bytes = 0
  const send = async (): Promise<boolean> => {
    const sent = batch
    batch = []
    bytes = 0
    return sent.length === 0 || (await sendBatch(importing, sent))
  }
  for (const account of source.accounts()) {
    if (run.terminal.interrupted.aborted) return false
    const told = toldAccount(account)
    findings.push(...findingsOf(account, told))
    if (account.holder.locator in state.accounts) {
      // A run that was cut off may not have come to these.
      if (!validateOnly) await putAuxData(importing, account)
      continue
    }
    const text = JSON.stringify(told.request)
    const size = Buffer.byteLength(text)
    if (size > LARGEST_ACCOUNT_BYTES) {
      counts.failed += 1
      findings.push({
        ...{ policyholder: account.holder.locator, as: 'failed' },
        reason: `it has ${size} bytes; an account has at most ${LARGEST_ACCOUNT_BYTES}`,
      })
      continue
    }
    if (batch.length >= MOST_ACCOUNTS || (bytes + size > LARGEST_REQUEST_BYTES && batch.length > 0))
      if (!(await send())) return false
    batch.push({ account, told, text })
    bytes += size
  }
  if (!(await send())) return false
  if (!validateOnly) progress.save()
  return true
}

function findingsOf({ holder }: SourceAccount, { policies, left }: ToldAccount): Finding[] {
  const policyholder = holder.locator
  return [
    ...policies.map(
      ({ locator: policy, as, reason, notes }): Finding => ({
        ...{ policyholder, policy, as },
        ...(reason !== undefined && { reason }),
        ...(notes.length > 0 && { notes }),
      }),
    ),
    ...left.map((reason): Finding => ({ policyholder, as: 'left', reason })),
  ]
}

async function sendBatch(importing: Importing, batch: readonly Sending[]): Promise<boolean> {
  const { api, tenantLocator, validateOnly, progress } = importing
  const body = new Blob([`[${batch.map(one => one.text).join(',')}]`], { type: 'application/json' })
  const { locator } = await api.post(RUNS, {
    params: { path: { tenantLocator }, query: { validateOnly } },
    body: body as never,
  })
  if (!validateOnly) {
    progress.state.running = locator
    progress.save()
  }
  if (!(await endOf(importing, locator))) return false
  if (validateOnly) return true
  for (const { account } of batch)
    if (account.holder.locator in progress.state.accounts) await putAuxData(importing, account)
  progress.save()
  return true
}

/** ` is account 01a2…`: migrated before, by a run whose progress is lost. */
const PRESENT = / is account ([0-9a-f-]{36})\b/

/** Waits for the migration, and notes what became of its accounts. False where it was interrupted. */
async function endOf(importing: Importing, migrationLocator: string): Promise<boolean> {
  const { api, run, tenantLocator, progress, counts, findings, validateOnly } = importing
  const path = { tenantLocator, migrationLocator }
  const begun = await api.get(RUN, { params: { path } })
  const ended = await followed(begun, path, api, run)
  if (!ended) return false
  const failures = ended.migrationState === 'finished' ? [] : await allFailures(path, api)
  counts.accounts += ended.accounts.completed
  const { state } = progress
  for (const failure of failures) {
    const text = failureText(failure, run.terminal.colors)
    const present = PRESENT.exec(text)?.[1]
    if (present !== undefined) {
      state.accounts[failure.accountOriginalId] = present
      counts.present += 1
      continue
    }
    counts.failed += 1
    findings.push({ policyholder: failure.accountOriginalId, as: 'failed', reason: reasonOf(failure) })
  }
  if (!validateOnly) {
    for await (const one of api.list(`${RUN}/mappings/list`, { params: { path } })) {
      state.accounts[one.originalAccountId] = one.accountLocator
      for (const [locator, { originalId }] of Object.entries(one.policies))
        state.policies[originalId] = locator
    }
    delete state.running
    progress.save()
  }
  return true
}

function reasonOf({
  accountError,
  policies,
  invoices,
  payments,
  disbursements,
}: MigrationFailuresResponse): string {
  const details = [
    ...(accountError ? [accountError] : []),
    ...[policies, invoices, payments, disbursements].flatMap(one => Object.values(one)),
  ]
  const texts = details.flatMap(({ errors }) =>
    errors.validationItems.flatMap(({ locator, errors: all }) => all.map(one => `${locator}: ${one}`)),
  )
  // What is blocked by another item says nothing of its own.
  const own = texts.filter(one => !one.includes('blocked by'))
  return (own.length > 0 ? own : texts).slice(0, 5).join('; ')
}

/** Of policyholders, and what of policies is hidden or only read: a migration has no words for these. Writing it again changes nothing. */
async function putAuxData({ api, progress }: Importing, account: SourceAccount): Promise<void> {
  const { accounts, policies, withAuxData } = progress.state
  const { locator: holder } = account.holder
  if (holder in withAuxData) return
  const special = account.auxData.filter(one => one.uiType !== 'normal')
  const byLocator = Map.groupBy([...account.holderAuxData, ...special], one => one.locator)
  for (const [old, rows] of byLocator) {
    const locator = accounts[old] ?? policies[old]
    if (locator === undefined) continue
    const auxData = rows
      .filter(one => one.key !== 'migration.origin')
      .map(({ key, value, uiType }) => ({ key, value, uiType: uiType as 'normal' }))
    if (auxData.length > 0)
      await api.put('/auxData/{locator}', { params: { path: { locator } }, body: { auxData } })
  }
  withAuxData[holder] = true
}

/** Each policy that was carried over with what it was. False where it was interrupted. */
async function compareAll({ api, run, source, progress, findings, counts }: Importing): Promise<boolean> {
  const { policies, cursor: start } = progress.state
  const before = new Map(Object.entries(policies).map(([old, locator]) => [locator, old]))
  const results = new Map<string, Finding | undefined>()
  let cursor = start
  for (let isCompleted = false; !isCompleted; ) {
    if (run.terminal.interrupted.aborted) return false
    const text = (await api.get(
      '/export/changes' as never,
      { params: { query: { cursor } }, parseAs: 'text' } as never,
    )) as string
    const lines = text.trimEnd().split('\n')
    const last = JSON.parse(lines.pop()!) as { cursor: string; isCompleted: boolean }
    for (const line of lines) {
      if (!line.startsWith('{"kind":"policy",')) continue
      const { record } = JSON.parse(line) as { record: PolicyRecord }
      const old = before.get(record.locator)
      const was = old === undefined ? undefined : source.policy(old)
      if (!was) continue
      const differences = differencesNow(was, record)
      results.set(
        record.locator,
        differences.length === 0
          ? undefined
          : {
              ...{ policyholder: was.policyholderLocator, policy: was.locator, as: 'differs' },
              reason: differences.join('; '),
            },
      )
    }
    ;({ cursor, isCompleted } = last)
  }
  counts.compared = results.size
  const compared = new Set([...results.keys()].map(locator => before.get(locator)))
  const failed = new Set(findings.filter(one => one.as === 'failed').map(one => one.policyholder))
  const missed = findings.filter(
    one =>
      (one.as === 'history' || one.as === 'asNow') &&
      !failed.has(one.policyholder) &&
      !compared.has(one.policy),
  )
  findings.push(...[...results.values()].flatMap(one => one ?? []))
  findings.push(
    ...missed.map(({ policyholder, policy }) => ({ policyholder, policy: policy!, ...NOT_COMPARED })),
  )
  return true
}

/** Which policy here it became is not known: its account was there before, or the policy is not among the changes. */
const NOT_COMPARED = {
  as: 'notCompared',
  reason:
    'its account was there before this progress was kept, or it is not among the changes since; compare it yourself',
}

/** Findings that a person reads on the screen; the file has all. */
const MOST_SHOWN = 50

function report(folder: string, { run, findings, counts, validateOnly, tenantLocator }: Importing): ExitCode {
  const file = join(folder, `import-${tenantLocator}.ndjson`)
  writeFileSync(file, findings.map(one => `${JSON.stringify(one)}\n`).join(''))
  const of = (as: string): Finding[] => findings.filter(one => one.as === as)
  const bad = [...of('failed'), ...of('left'), ...of('differs'), ...of('notCompared')]
  const notes = findings.filter(one => one.as !== 'left' && one.notes !== undefined).length
  const ok = bad.length === 0
  const policies = { history: of('history').length, asNow: of('asNow').length, left: of('left').length }
  const { colors } = run.terminal
  show(
    run,
    { ok, ...counts, policies, differing: of('differs').length, notCompared: of('notCompared').length, file },
    () => {
      const shown = bad
        .slice(0, MOST_SHOWN)
        .map(
          ({ policy, policyholder, as, reason, notes: more = [] }) =>
            `${colors.bold(policy === undefined ? `account ${policyholder}` : `policy ${policy}`)} ${WORDS[as]}: ${[reason, ...more].join('; ')}\n`,
        )
      const lines = [
        ...shown,
        ...(bad.length > MOST_SHOWN ? [`… and ${bad.length - MOST_SHOWN} more\n`] : []),
        `${counted(counts.accounts, 'account')} ${validateOnly ? 'checked; nothing was written' : 'imported'}`,
        ...(counts.present > 0 ? [`, ${counts.present} there before`] : []),
        ...(counts.failed > 0 ? [`, ${counts.failed} failed`] : []),
        `; policies: ${policies.history} with their history, ${policies.asNow} as they are now, ${policies.left} not carried over`,
        ...(validateOnly
          ? []
          : [
              `; ${counts.compared} compared, ${of('differs').length} differ, ${of('notCompared').length} not compared`,
            ]),
        `.\n${notes > 0 ? `Something of ${notes} policies that are carried over is left behind. ` : ''}All of it is in ${file}\n`,
      ]
      return lines.join('')
    },
  )
  return ok ? EXIT.ok : EXIT.refused
}

const WORDS: Readonly<Record<string, string>> = {
  failed: 'failed',
  left: 'is not carried over',
  differs: 'differs',
  notCompared: 'is not compared',
}
