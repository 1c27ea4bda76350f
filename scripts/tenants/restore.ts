// Restores the databases of a tenant to a former time, each to its bookmark of that time. The tenant is suspended meanwhile. Data
// that must not be lost is noted first, and the progress is kept in the control database, so that an interrupted run can be
// continued.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { countText } from '../../src/kernel/text.ts'
import { noCalls } from '../../src/platform/calls.ts'
import type {
  RestoreOperation,
  RestoringDatabase,
  TenantOperation,
} from '../../src/platform/tenancy/control-tables.ts'
import { removeNotes } from '../../src/platform/tenancy/restore-notes.ts'
import type { Tenant } from '../../src/platform/tenancy.ts'
import { mendShard, noteShard, type Undone } from '../../src/tenants/restore.ts'
import { fillShards } from '../../src/tenants/service.ts'
import { type Claim, claimsOf } from '../../src/tenants/store.ts'
import {
  changeTenant,
  closeDatabases,
  openDatabases,
  operationOf,
  serveAgain,
  tenantToChange,
} from '../../src/tenants/suspension.ts'
import { migrateBound } from '../upgrades.ts'
import { jsonOf, type Tool } from '../wrangler.ts'
import { suspend } from './suspend.ts'

/** How long the provider keeps bookmarks. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000

export type RestorePlace = {
  readonly env: Env
  readonly tool: Tool
  readonly say: (line: string) => void
  /** The folder for the report. */
  readonly folder: string
}

/** Parses `2026-11-21T08:00:00Z` or epoch milliseconds. Throws for a time that cannot be restored. */
export function timeToRestore(text: string, at = Date.now()): number {
  const time = /^\d+$/.test(text) ? Number(text) : Date.parse(text)
  if (!Number.isFinite(time))
    throw new Error(`'${text}' is not a time. Write it as 2026-11-21T08:00:00Z, or as epoch milliseconds.`)
  if (time >= at) throw new Error(`${text} is in the future.`)
  if (time < at - KEPT_MS)
    throw new Error(`${text} is more than 30 days ago. The provider no longer has bookmarks of that time.`)
  return time
}

/** Restores the tenant. Returns what was undone, which is also written to a file in the folder. */
export async function restoreTenant(place: RestorePlace, name: string, to: number): Promise<Undone> {
  const { env, say } = place
  const known = await tenantToChange(env, name, noCalls())
  const begun = await operationOf(env, known)
  requireSameRestore(begun, name, to)
  const claims = await claimsOf(env, known.locator)
  requireOwnedSince(known, claims, to)
  // The bookmarks are read before anything is changed: if there is one for each database, the restore can be completed.
  const operation = begun ?? {
    kind: 'restore' as const,
    to,
    number: (known.restores?.length ?? 0) + 1,
    databases: await targetsOf(place, known, claims, to),
  }

  const time = new Date(to).toISOString()
  const tenant = await suspend(env, name, `it is restored to ${time}.`, say)
  const progress = new Progress(env, tenant, operation)
  await noteAll(place, tenant, progress)
  const restored = await restoreAll(place, tenant, progress)
  const undone = await mendAll(env, restored, progress)
  await openDatabases(env, restored)
  const { suspension: _, ...open } = restored
  const later = claims.flatMap(({ claimedAt }, shard) => ((claimedAt ?? 0) > to ? [shard] : []))
  await fillShards(env, open, later, noCalls())
  const report = writeReport(place.folder, name, time, undone)
  await serveAgain(env, restored)
  await removeNotes(env, restored, noCalls())
  summarize(say, name, time, undone, report)
  return undone
}

/** The progress of the restore, which is kept in the control database. */
class Progress {
  readonly #env: Env
  readonly #tenant: Tenant
  #operation: RestoreOperation

  constructor(env: Env, tenant: Tenant, operation: RestoreOperation) {
    this.#env = env
    this.#tenant = tenant
    this.#operation = operation
  }

  get operation(): RestoreOperation {
    return this.#operation
  }

  of(binding: string): RestoringDatabase {
    return this.#operation.databases[binding]!
  }

  async keep(binding: string, changes: Partial<RestoringDatabase>): Promise<void> {
    const databases = { ...this.#operation.databases, [binding]: { ...this.of(binding), ...changes } }
    this.#operation = { ...this.#operation, databases }
    await changeTenant(this.#env, this.#tenant, { operation: this.#operation }, noCalls())
  }
}

/** Notes what must not be lost, and the bookmarks to return to. */
async function noteAll(place: RestorePlace, tenant: Tenant, progress: Progress): Promise<void> {
  const { env, say } = place
  for (const binding of tenant.shards) {
    if (progress.of(binding).bookmark) continue
    const { bookmark } = await timeTravel(place, 'info', binding)
    if (!bookmark) throw new Error(`The provider has no bookmark of ${binding}.`)
    await progress.keep(binding, { bookmark })
  }
  for (const [shard, binding] of tenant.shards.entries())
    if (!progress.of(binding).noted)
      await progress.keep(binding, { noted: await noteShard(env, tenant, progress.operation, shard) })
  say(
    'noted the locators and numbers that were issued and the events that were sent since; bookmarks of the current state:',
  )
  for (const binding of tenant.shards) say(`  ${binding} ${progress.of(binding).bookmark}`)
}

/** Restores every database, or none. Returns the restored tenant. */
async function restoreAll(place: RestorePlace, tenant: Tenant, progress: Progress): Promise<Tenant> {
  const { to, number } = progress.operation
  // From here on, every reader of the tenant sees that it was restored once more.
  const former = (tenant.restores ?? []).slice(0, number - 1)
  const restores = [...former, { to, at: Date.now() }]
  const restored: Tenant = { ...tenant, restores }
  await changeTenant(place.env, tenant, { restores }, noCalls())
  try {
    for (const binding of tenant.shards) {
      const { target, isRestored } = progress.of(binding)
      if (isRestored) continue
      await restoreDatabase(place, restored, binding, target)
      await closeDatabases(place.env, { ...restored, shards: [binding] })
      await progress.keep(binding, { isRestored: true })
      place.say(`${binding} is restored`)
    }
  } catch (problem) {
    if (problem instanceof NotItsOwn) await giveUp(place, { ...tenant, restores: former }, progress.operation)
    throw problem
  }
  return restored
}

async function mendAll(env: Env, tenant: Tenant, progress: Progress): Promise<Undone> {
  const parts: Undone[] = []
  for (const [shard, binding] of tenant.shards.entries())
    parts.push(await mendShard(env, tenant, progress.operation, shard, progress.of(binding).noted!))
  return {
    events: parts.flatMap(({ events }) => events),
    payments: parts.flatMap(({ payments }) => payments),
    documents: parts.flatMap(({ documents }) => documents),
    audit: parts.flatMap(({ audit }) => audit),
    erasures: parts.flatMap(({ erasures }) => erasures),
    sent: parts.flatMap(({ sent }) => sent),
  }
}

/** Throws if another operation is in progress, or a restore to another time. */
function requireSameRestore(
  begun: TenantOperation | undefined,
  name: string,
  to: number,
): asserts begun is RestoreOperation | undefined {
  if (!begun) return
  if (begun.kind !== 'restore') throw new Error(`A ${begun.kind} of ${name} is in progress. Finish it first.`)
  if (begun.to !== to)
    throw new Error(
      `${name} is being restored to ${new Date(begun.to).toISOString()}. Finish that first: run the command again with this time.`,
    )
}

/**
 * Databases are reused. Before the tenant got its first one, that database had no data of the tenant, but perhaps data of
 * another.
 */
function requireOwnedSince({ name, generation }: Tenant, claims: readonly Claim[], to: number): void {
  const { claimedAt, createdAt } = claims[0]!
  const since = claimedAt ?? (generation === 1 ? createdAt : undefined)
  if (since === undefined)
    throw new Error(`It is not known since when ${name} has its databases, so it is not restored.`)
  if (to < since)
    throw new Error(
      `${name} has its databases since ${new Date(since).toISOString()}. Before that, they contained data of others.`,
    )
}

/** The database was not the tenant's at that time, or does not record whose it was. */
class NotItsOwn extends Error {}

const timeTravel = async ({ tool }: RestorePlace, ...words: string[]): Promise<{ bookmark?: string }> =>
  jsonOf<{ bookmark?: string }>(await tool('d1', 'time-travel', ...words, '--json'))

/** Returns the bookmark of each database at that time or, for a database that the tenant got later, at the time when it did. */
async function targetsOf(
  place: RestorePlace,
  { shards }: Tenant,
  claims: readonly Claim[],
  to: number,
): Promise<Record<string, RestoringDatabase>> {
  const targets: Record<string, RestoringDatabase> = {}
  for (const [shard, binding] of shards.entries()) {
    const timestamp = new Date(Math.max(to, claims[shard]!.claimedAt ?? 0)).toISOString()
    const { bookmark } = await timeTravel(place, 'info', binding, '--timestamp', timestamp)
    if (!bookmark) throw new Error(`The provider has no bookmark of ${binding} at ${timestamp}.`)
    targets[binding] = { target: bookmark }
  }
  return targets
}

/** Restores one database, and checks whose it was then. */
async function restoreDatabase(
  place: RestorePlace,
  { name, locator, generation }: Tenant,
  binding: string,
  bookmark: string,
): Promise<void> {
  await timeTravel(place, 'restore', binding, '--bookmark', bookmark)
  await migrateBound(place.env, [binding])
  const client = (place.env as unknown as Record<string, D1Database>)[binding]!
  const owner = await client
    .prepare(
      `select (select tenant_locator || ' ' || generation from fence) as fence,
         exists (select 1 from "write") or exists (select 1 from event) as has_rows`,
    )
    .first()
  if (owner?.fence === `${locator} ${generation}` || (owner?.fence === null && !owner.has_rows)) return
  throw new NotItsOwn(
    `At that time ${binding} did not belong to ${name}, or did not record to whom it belonged. The databases are back in their state before the restore. To serve the tenant again: npm run tenant -- resume ${name}. Or choose a later time.`,
  )
}

/** Returns every database to its state before the restore. The tenant stays suspended. */
async function giveUp(place: RestorePlace, tenant: Tenant, { databases }: RestoreOperation): Promise<void> {
  for (const [binding, { bookmark }] of Object.entries(databases))
    await timeTravel(place, 'restore', binding, '--bookmark', bookmark!)
  const { restores = [] } = tenant
  await changeTenant(place.env, tenant, { restores, operation: null }, noCalls())
}

function writeReport(folder: string, name: string, time: string, undone: Undone): string {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}-${time.replaceAll(':', '-')}.json`)
  writeFileSync(file, `${JSON.stringify({ tenant: name, to: time, ...undone }, null, 2)}\n`)
  return file
}

function summarize(
  say: (line: string) => void,
  name: string,
  time: string,
  { events, payments, documents, audit, erasures, sent }: Undone,
  report: string,
): void {
  say(`${name} is restored to ${time}, and is served again within 5 s`)
  say(
    `undone: ${countText(events.length, 'event')}, ${countText(payments.length, 'payment')}, ${countText(documents.length, 'document')}`,
  )
  if (audit.length > 0)
    say(
      `also undone: ${countText(audit.length, 'entry', 'entries')} of the audit trail, for example about accounts, tokens, secrets and webhooks`,
    )
  if (erasures.length > 0)
    say(
      `the overwritten values of ${countText(erasures.length, 'policyholder')} are back. Overwrite them again (erasures)`,
    )
  for (const [webhook, of] of Map.groupBy(sent, one => one.name))
    say(`the webhook '${webhook}' had received ${of.length} of these events`)
  say(`all of them are listed in ${report}`)
}
