import { sql } from 'drizzle-orm'
import { Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { unlessRecorded } from '../../platform/events/unrecorded.ts'
import { fileKey, homeDatabase, tenantFiles } from '../../platform/tenancy.ts'
import type { FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import { valuesOf } from '../../product/fields/values.ts'
import { type ExposureRun, type PolicyAggregate, putRecords } from '../records/aggregate.ts'
import { dataOfPayment, type Medium, mediumPath } from '../records/document.ts'
import type { Loaded } from '../surroundings.ts'
import { media } from '../tables/documents.ts'

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

/**
 * Locators of media that fields of the policy, its exposures and perils, and of its payments name since the change, and
 * that the policy does not know yet.
 */
export function newMedia(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  product: ProductDefinition,
  paymentFields: readonly FieldDefinition[],
): Uuid[] {
  const exposures = new Map(product.exposures.map(one => [one.name, one]))
  const exposureOf = (locator: Uuid) => exposures.get(after.exposures.get(locator)?.name ?? '')
  const perilFields = (locator: Uuid): readonly FieldDefinition[] => {
    const peril = after.perils.get(locator)
    const exposure = peril && exposureOf(peril.exposureLocator)
    return exposure?.perils.find(one => one.name === peril?.name)?.fields ?? []
  }
  const named = new Set<Uuid>()
  const look = <R>(
    was: ReadonlyMap<Uuid, R> | undefined,
    is: ReadonlyMap<Uuid, R>,
    fieldsOf: (record: R) => readonly FieldDefinition[],
    dataOf: (record: R) => FieldData,
  ): void => {
    if (was === is) return
    for (const [locator, record] of is) {
      if (was?.get(locator) === record) continue
      for (const one of locatorsIn(fieldsOf(record).filter(isMediaField), dataOf(record))) named.add(one)
    }
  }
  const ownData = ({ data }: { data: FieldData }): FieldData => data
  const runFields = (run: ExposureRun) => exposureOf(run.exposureLocator)?.fields ?? []
  look(before?.segments, after.segments, () => product.fields, ownData)
  look(before?.exposureRuns, after.exposureRuns, runFields, ownData)
  look(before?.perilRuns, after.perilRuns, run => perilFields(run.perilLocator), ownData)
  look(before?.payments, after.payments, () => paymentFields, dataOfPayment)
  return [...named].filter(locator => !after.media.has(locator))
}

export const isMediaField = ({ type, fields = [] }: FieldDefinition): boolean =>
  type === 'media' || fields.some(isMediaField)

export function* locatorsIn(definitions: readonly FieldDefinition[], data: FieldData): Generator<Uuid> {
  for (const definition of definitions) {
    if (definition.type === 'media') yield* valuesOf(data.values, definition.name) as Uuid[]
    if (definition.type !== 'group') continue
    for (const group of data.groups)
      if (group.fieldName === definition.name)
        yield* locatorsIn(definition.fields ?? [], { values: group.values, groups: [] })
  }
}
