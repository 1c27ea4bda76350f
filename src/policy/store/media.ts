import { sql } from 'drizzle-orm'
import { Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { fileKey, homeDatabase, tenantFiles } from '../../platform/tenancy.ts'
import { unlessRecorded } from '../../platform/unrecorded.ts'
import { type PolicyAggregate, putRecords } from '../records/aggregate.ts'
import { type Medium, mediumPath, newMedia } from '../records/medium.ts'
import type { Loaded } from '../surroundings.ts'
import { media } from '../tables/media.ts'

/** Those of the media that were uploaded: one round trip. */
export async function readMedia(context: RequestContext, locators: readonly Uuid[]): Promise<Medium[]> {
  const database = homeDatabase(context)
  const [rows] = await database.batch([
    database.build
      .select({ locator: media.locator, fileName: media.fileName, mimeType: media.mimeType })
      .from(media)
      .where(sql`locator in (select value from json_each(${JSON.stringify(locators)}))`),
  ])
  return rows as Medium[]
}

/** `after` with what it shows of media that its fields name since the change; refuses those that nobody uploaded. */
export async function withMedia(
  context: RequestContext,
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  { product, configuration }: Pick<Loaded, 'product' | 'configuration'>,
): Promise<PolicyAggregate> {
  const wanted = newMedia(before, after, product, configuration.configuration.paymentFields)
  if (wanted.length === 0) return after
  const found = await readMedia(context, wanted)
  const missing = wanted.find(locator => !found.some(one => one.locator === locator))
  if (missing)
    throw new Refusal(
      'invalidRequest',
      `There is no medium '${missing}'; upload the file with POST /media first.`,
    )
  return { ...after, media: putRecords(after.media, found) }
}

/** Deletes the file of a medium that was never recorded. */
export const deleteUnrecorded: TimerOwner = unlessRecorded(media, (medium, place) =>
  deleteFile(place, medium),
)

export function deleteFile(
  { env, tenant, calls }: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
  medium: Uuid,
): Promise<void> {
  calls.r2 += 1
  return tenantFiles(env, tenant).delete(fileKey(tenant, ...mediumPath(medium)))
}
