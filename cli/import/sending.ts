// Sends the accounts of an export to the tenant by migrations, followed by the data that a migration cannot express.
import type { BinderyClient } from '../../client/index.ts'
import { type AccountMigration, migrationOfAccount } from '../../src/reporting/export/account/account.ts'
import {
  allFailures,
  failureText,
  followToEnd,
  type MigrationFailuresResponse,
  RUN,
  RUNS,
} from '../commands/migrate.ts'
import type { Run } from '../terminal.ts'
import type { ProgressFile } from './progress.ts'
import type { Source, SourceAccount } from './source.ts'

/** Below the limits of the service: 1,000 accounts and 25 MiB per request; 10 MiB and 5,000 items per account. */
const MOST_ACCOUNTS = 500
const LARGEST_REQUEST_BYTES = 16 * 1024 * 1024
const LARGEST_ACCOUNT_BYTES = 10 * 1024 * 1024

/** The outcome for a policy or an account, as written to `import-{tenant}.ndjson`. */
export type Finding = {
  readonly policyholder: string
  readonly policy?: string
  /** `history`, `asNow`, `left`, `failed`; after it was carried over, `differs` or `notCompared`. */
  readonly as: string
  readonly reason?: string
  readonly notes?: readonly string[]
}

export type Importing = {
  readonly api: BinderyClient
  readonly run: Run
  readonly tenantLocator: string
  readonly source: Source
  readonly progress: ProgressFile
  readonly validateOnly: boolean
  readonly findings: Finding[]
  readonly counts: { accounts: number; present: number; failed: number; compared: number }
}

type Sending = { readonly account: SourceAccount; readonly told: AccountMigration; readonly text: string }

/** Returns false if it was interrupted. */
export async function sendAll(importing: Importing): Promise<boolean> {
  const { source, progress, run, counts, findings, validateOnly } = importing
  // Accounts of an import whose progress was lost are not sent again.
  if (progress.isNew) await adoptEarlier(importing)
  if (progress.running !== undefined && !(await awaitMigration(importing, progress.running))) return false
  counts.present = progress.present
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
    const told = migrationOfAccount(account)
    findings.push(...findingsOf(account, told))
    if (progress.accountOf(account.holder.locator) !== undefined) {
      // An interrupted run may not have written the auxiliary data of these.
      if (!validateOnly) await putAuxData(importing, account)
      continue
    }
    const text = JSON.stringify(told.request)
    const size = Buffer.byteLength(text)
    if (size > LARGEST_ACCOUNT_BYTES) {
      counts.failed += 1
      findings.push({
        policyholder: account.holder.locator,
        as: 'failed',
        reason: `it has ${size} bytes; the limit is ${LARGEST_ACCOUNT_BYTES}`,
      })
      continue
    }
    if (batch.length >= MOST_ACCOUNTS || (bytes + size > LARGEST_REQUEST_BYTES && batch.length > 0))
      if (!(await send())) return false
    batch.push({ account, told, text })
    bytes += size
  }
  return await send()
}

/** Records which accounts of the export earlier migrations of the tenant have imported. */
async function adoptEarlier(importing: Importing): Promise<void> {
  const { api, tenantLocator, source } = importing
  for await (const { locator, validateOnly } of api.list(`${RUNS}/list`, {
    params: { path: { tenantLocator } },
  }))
    if (!validateOnly) await noteAccounts(importing, locator, account => source.hasAccount(account))
}

async function noteAccounts(
  { api, tenantLocator, progress }: Importing,
  migrationLocator: string,
  isOfExport: (account: string) => boolean,
): Promise<void> {
  const path = { tenantLocator, migrationLocator }
  for await (const one of api.list(`${RUN}/mappings/list`, { params: { path } })) {
    if (!isOfExport(one.originalAccountId)) continue
    const policies = Object.entries(one.policies).map(([locator, { originalId }]) => [originalId, locator])
    progress.addAccount(one.originalAccountId, one.accountLocator, Object.fromEntries(policies))
  }
}

function findingsOf({ holder }: SourceAccount, { policies, left }: AccountMigration): Finding[] {
  const policyholder = holder.locator
  return [
    ...policies.map(
      ({ locator: policy, as, reason, notes }): Finding => ({
        policyholder,
        policy,
        as,
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
  if (!validateOnly) progress.begin(locator)
  if (!(await awaitMigration(importing, locator))) return false
  if (validateOnly) return true
  for (const { account } of batch)
    if (progress.accountOf(account.holder.locator) !== undefined) await putAuxData(importing, account)
  return true
}

/** ` is account 01a2…`: imported by a migration that was still running when the import looked for earlier ones. */
const PRESENT = / is account [0-9a-f-]{36}\b/

/** Waits for the migration, and records the outcome for its accounts. Returns false if it was interrupted. */
async function awaitMigration(importing: Importing, migrationLocator: string): Promise<boolean> {
  const { api, run, tenantLocator, progress, counts, findings } = importing
  const path = { tenantLocator, migrationLocator }
  const begun = await api.get(RUN, { params: { path } })
  const ended = await followToEnd(begun, path, api, run)
  if (!ended) return false
  const failures = ended.migrationState === 'finished' ? [] : await allFailures(path, api)
  counts.accounts += ended.accounts.completed
  let isAnyPresent = false
  for (const failure of failures) {
    if (PRESENT.test(failureText(failure, run.terminal.colors))) {
      isAnyPresent = true
      counts.present += 1
      continue
    }
    counts.failed += 1
    findings.push({ policyholder: failure.accountOriginalId, as: 'failed', reason: reasonOf(failure) })
  }
  if (isAnyPresent) await adoptEarlier(importing)
  if (!ended.validateOnly) {
    await noteAccounts(importing, migrationLocator, () => true)
    progress.end(migrationLocator)
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
  // The error of an item that is blocked by another says nothing new.
  const own = texts.filter(text => !text.includes('blocked by'))
  return (own.length > 0 ? own : texts).slice(0, 5).join('; ')
}

/**
 * Writes auxiliary data that a migration cannot express: that of policyholders, and hidden or read-only data of policies.
 * Writing it again changes nothing.
 */
async function putAuxData({ api, progress }: Importing, account: SourceAccount): Promise<void> {
  const { locator: holder } = account.holder
  if (progress.hasAuxData(holder)) return
  const special = account.auxData.filter(one => one.uiType !== 'normal')
  const byLocator = Map.groupBy([...account.holderAuxData, ...special], one => one.locator)
  for (const [old, rows] of byLocator) {
    const locator = progress.accountOf(old) ?? progress.policyOf(old)
    if (locator === undefined) continue
    const auxData = rows
      .filter(row => row.key !== 'migration.origin')
      .map(({ key, value, uiType }) => ({ key, value, uiType: uiType as 'normal' }))
    if (auxData.length > 0)
      await api.put('/auxData/{locator}', { params: { path: { locator } }, body: { auxData } })
  }
  progress.addAuxData(holder)
}
