// What was sent, in R2: the body of the request, and of each patched account what it is now. All of it goes once the
// migration has finished, or has rested for so long that nobody will go on with it.
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { unlessRecorded } from '../../platform/events/unrecorded.ts'
import { fileKey, type Tenant, tenantFiles } from '../../platform/tenancy.ts'
import type { MigrationAccount } from './store.ts'
import { migrations } from './tables.ts'

/** Days after a migration failed, stopped or was paused: then what was sent is deleted. */
export const KEPT_DAYS = 90

/** When what was sent of a migration is deleted that came to its state then. */
export const deletedAt = (updatedAt: number): Instant => (updatedAt + KEPT_DAYS * 86_400_000) as Instant

type FileContext = Pick<RequestContext, 'env' | 'tenant' | 'calls'>

/** Name of the file that has all accounts as they were sent. */
export const BODY = 'body'

export const sourceKey = (tenant: Tenant, migration: Uuid, source: string): string =>
  fileKey(tenant, 'migrations', migration, source)

type Place = Pick<MigrationAccount, 'source' | 'start' | 'length'>

/** Bytes that are read at once: small accounts that follow each other cost one call. */
const WINDOW_BYTES = 1_048_576

/** Reads the accounts' JSON; what follows an account in its file is at hand for the next. */
export class Sources {
  readonly #context: FileContext
  readonly #migration: Uuid
  #window: { readonly source: string; readonly start: number; readonly bytes: Uint8Array } | undefined

  constructor(context: FileContext, migration: Uuid) {
    this.#context = context
    this.#migration = migration
  }

  async read({ source, start, length }: Place): Promise<unknown> {
    const has = this.#window
    const inWindow =
      has?.source === source && start >= has.start && start + length <= has.start + has.bytes.length
    if (!inWindow) this.#window = { source, start, bytes: await this.#range(source, start, length) }
    const { start: from, bytes } = this.#window!
    return JSON.parse(new TextDecoder().decode(bytes.subarray(start - from, start - from + length)))
  }

  async #range(source: string, offset: number, length: number): Promise<Uint8Array> {
    const { env, tenant, calls } = this.#context
    calls.r2 += 1
    const object = await tenantFiles(env, tenant).get(sourceKey(tenant, this.#migration, source), {
      range: { offset, length: Math.max(length, WINDOW_BYTES) },
    })
    if (!object) throw new Error(`The file ${source} of migration ${this.#migration} is not there.`)
    return new Uint8Array(await object.arrayBuffer())
  }
}

/** Puts an account's JSON into a file of its own; where it lies. */
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

export async function deleteSource(
  { env, tenant, calls }: FileContext,
  migration: Uuid,
  source: string,
): Promise<void> {
  calls.r2 += 1
  await tenantFiles(env, tenant).delete(sourceKey(tenant, migration, source))
}

/** Deletes every file of the migration. */
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

// What was sent of a migration that was never recorded.
export const deleteUnrecorded: TimerOwner = unlessRecorded(migrations, (migration, place) =>
  deleteSources(place, migration),
)
