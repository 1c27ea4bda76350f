// The submitted JSON in R2: request bodies and corrected accounts. Deleted when the migration finishes or has been idle too long.
import { exactJson } from '../../kernel/json.ts'
import { newUuid, shardOfUuid, type Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { removeUnlessRecorded } from '../../platform/events/timers.ts'
import { fileKey, type Tenant, tenantFiles } from '../../platform/tenancy.ts'
import { ElementSplitter } from './split.ts'
import * as store from './store.ts'
import { migrations } from './tables.ts'

/** Days after which the files of a failed, stopped or paused migration are deleted. */
export const KEPT_DAYS = 90

/** When the files of a migration are deleted, if its state last changed at `updatedAt`. */
export const deletedAt = (updatedAt: number): Instant => (updatedAt + KEPT_DAYS * 86_400_000) as Instant

type FileContext = Pick<RequestContext, 'env' | 'tenant' | 'calls'>

/** The name of the file with all accounts as they were sent. */
export const BODY = 'body'

/**
 * Returns the R2 key of `BODY` or of a corrected account's file. An empty `source` returns the prefix of all files of the
 * migration.
 */
export const sourceKey = (tenant: Tenant, migration: Uuid, source: string): string =>
  fileKey(tenant, 'migrations', migration, source)

type Place = Pick<store.MigrationAccount, 'source' | 'start' | 'length'>

/** The submitted JSON is missing from its file. */
export class SourceGone extends Error {}

/** The number of bytes in each read, so that one R2 call serves several small accounts. */
const WINDOW_BYTES = 1_048_576

/** Reads the JSON of accounts, and keeps the bytes that follow for the next one. */
export class Sources {
  readonly #context: FileContext
  readonly #migration: Uuid
  #window: { readonly source: string; readonly start: number; readonly bytes: Uint8Array } | undefined

  constructor(context: FileContext, migration: Uuid) {
    this.#context = context
    this.#migration = migration
  }

  /** Parses the account with `exactJson`. Takes one R2 call unless the last one read its bytes too. Throws SourceGone. */
  async read({ source, start, length }: Place): Promise<unknown> {
    const cached = this.#window
    const inWindow =
      cached?.source === source &&
      start >= cached.start &&
      start + length <= cached.start + cached.bytes.length
    if (!inWindow) this.#window = { source, start, bytes: await this.#range(source, start, length) }
    const { start: from, bytes } = this.#window!
    return exactJson(new TextDecoder().decode(bytes.subarray(start - from, start - from + length)))
  }

  async #range(source: string, offset: number, length: number): Promise<Uint8Array> {
    const { env, tenant, calls } = this.#context
    calls.r2 += 1
    const object = await tenantFiles(env, tenant).get(sourceKey(tenant, this.#migration, source), {
      range: { offset, length: Math.max(length, WINDOW_BYTES) },
    })
    if (!object) throw new SourceGone(`The file ${source} of migration ${this.#migration} does not exist.`)
    return new Uint8Array(await object.arrayBuffer())
  }
}

/** Stores an account's JSON in a separate file. Returns its place. */
export async function storeSource(
  { env, tenant, calls }: FileContext,
  migration: Uuid,
  source: string,
  value: unknown,
): Promise<Place> {
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  calls.r2 += 1
  await tenantFiles(env, tenant).put(sourceKey(tenant, migration, source), bytes)
  return { source, start: 0, length: bytes.length }
}

/** Deletes one file, which need not exist. Takes one R2 call. */
export async function deleteSource(
  { env, tenant, calls }: FileContext,
  migration: Uuid,
  source: string,
): Promise<void> {
  calls.r2 += 1
  await tenantFiles(env, tenant).delete(sourceKey(tenant, migration, source))
}

/** Deletes all files of the migration. Takes two R2 calls for each thousand files. */
export async function deleteSources({ env, tenant, calls }: FileContext, migration: Uuid): Promise<void> {
  for (;;) {
    calls.r2 += 1
    const { objects, truncated } = await tenantFiles(env, tenant).list({
      prefix: sourceKey(tenant, migration, ''),
    })
    if (objects.length > 0) {
      calls.r2 += 1
      await tenantFiles(env, tenant).delete(objects.map(({ key }) => key))
    }
    if (!truncated) return
  }
}

/** Deletes the files of a submission that was never committed. */
export const deleteUnrecorded: TimerOwner = removeUnlessRecorded(migrations, (migration, place) =>
  deleteSources(place, migration),
)

// Erasure (docs/security.md): scrubs files of unfinished migrations. They can still be corrected and tried again.
type Scrub = (text: string) => string
type Row = store.MigrationAccount & Pick<store.Migration, 'type'>

/** Scrubs the account's JSON and failures. Call it before erasing the values. A repeated call finishes an interrupted one. */
export async function eraseStaged(
  context: RequestContext,
  database: Database,
  account: Uuid,
  scrub: Scrub,
): Promise<void> {
  const [rows] = await database.batch([store.unfinishedOfQuery(database, account)])
  for (const row of rows as Row[]) {
    const { migrationLocator } = row
    const body = sourceKey(context.tenant, migrationLocator, BODY)
    // Files of idle migrations are deleted after a while.
    context.calls.r2 += 1
    if (!(await tenantFiles(context.env, context.tenant).head(body))) continue
    const value = await new Sources(context, migrationLocator).read(row)
    const source = newUuid(shardOfUuid(migrationLocator))
    const place = await storeSource(context, migrationLocator, source, scrubTexts(value, scrub))
    const [failures] = await database.batch([store.failuresOfQuery(database, migrationLocator, account)])
    await database.batch([
      store.changeSourceQuery(database, row, place),
      ...store.replacedFailures(
        database,
        row,
        failures.map(one => ({ ...one, problems: scrubTexts(one.problems, scrub) as typeof one.problems })),
      ),
    ])
    if (row.source !== BODY) await deleteSource(context, migrationLocator, row.source)
    await blankAccountInBody(context, body, row)
  }
}

/** Scrubs texts. Names of properties stay. */
function scrubTexts(value: unknown, scrub: Scrub): unknown {
  if (typeof value === 'string') return scrub(value)
  if (Array.isArray(value)) return value.map(one => scrubTexts(one, scrub))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, scrubTexts(one, scrub)]))
}

/** The number of attempts to write the body while it changes concurrently. */
const MOST_WRITES = 5

/** Overwrites the account in the body with spaces, so that the positions of the others stay valid. */
async function blankAccountInBody(
  { env, tenant, calls }: RequestContext,
  key: string,
  row: Row,
): Promise<void> {
  const bucket = tenantFiles(env, tenant)
  for (let tries = 0; tries < MOST_WRITES; tries += 1) {
    calls.r2 += row.source === BODY ? 2 : 3
    const place = row.source === BODY ? row : await placeInBody(bucket, key, row)
    const object = await bucket.get(key)
    if (!object || !place) return
    const { start, length } = place
    const stream = object.body
      .pipeThrough(blankBytes(start + 1, start + length - 1))
      .pipeThrough(new FixedLengthStream(object.size))
    const written = await bucket.put(key, stream, { onlyIf: { etagMatches: object.etag } })
    if (written) return
  }
  throw new Error(`${key} changed during every attempt to write it.`)
}

/** Writes spaces from byte `from` to before byte `to`. These are inside the braces, so that the JSON stays an object. */
function blankBytes(from: number, to: number): TransformStream<Uint8Array, Uint8Array> {
  let at = 0
  return new TransformStream({
    transform(piece, controller) {
      const [first, last] = [Math.max(from - at, 0), Math.min(to - at, piece.length)]
      at += piece.length
      if (first >= last) return controller.enqueue(piece)
      const blank = piece.slice()
      blank.fill(0x20, first, last)
      controller.enqueue(blank)
    },
  })
}

/** Returns the account's place in the body, if a corrected account has replaced it since. */
async function placeInBody(
  bucket: R2Bucket,
  key: string,
  { ordinal, type }: Row,
): Promise<{ start: number; length: number } | undefined> {
  const object = await bucket.get(key)
  if (!object) return undefined
  const splitter = new ElementSplitter({ single: type === 'addAccountItems' })
  let number = 0
  for await (const piece of object.body)
    for (const { start, text } of splitter.push(piece)) {
      if (number === ordinal) return { start, length: new TextEncoder().encode(text).length }
      number += 1
    }
  return undefined
}
