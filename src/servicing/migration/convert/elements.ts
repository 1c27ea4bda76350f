// A transaction's tree of elements as the policy's data, exposures and perils (rule 2 of resources brief 9.3; 9.5). What lies
// deeper than a coverage is a peril of the same exposure, which names its parent.
import type { LocatorSupply } from '../../../kernel/locators.ts'
import type { Instant, TimeZone } from '../../../kernel/time.ts'
import { createPerilAmounts } from '../../../policy/draft/additions.ts'
import type { PerilAmounts } from '../../../policy/records/changes.ts'
import type { FieldDefinition, ProductDefinition } from '../../../product/configuration.ts'
import { changeFields, type FieldData } from '../../../product/fields/groups.ts'
import { validateFields } from '../../../product/fields/validate.ts'
import { normaliseFieldData } from '../../../product/fields/values.ts'
import type { ElementMigrationRequest } from '../contract-request.ts'
import { type ChargeReading, readCharges, type SaidCharge } from './charges.ts'

export type Level = 'policy' | 'exposure' | 'peril'

export type ReadElement = {
  readonly id: string
  readonly level: Level
  readonly type: string
  /** Of a peril: the id of its exposure's element. */
  readonly exposureId: string
  /** Of a peril within a peril: the id of that one's element. */
  readonly parentId?: string
  /** The same for the same data. */
  readonly fingerprint: string
  readonly data: FieldData
  readonly amounts: PerilAmounts
  readonly charges: readonly SaidCharge[]
  /** It is not covered: of a gap, or said to have ended. Only its charges count. */
  readonly isEnded: boolean
  readonly path: string
  /** Ids of the elements in it. */
  readonly children: readonly string[]
}

export type ReadTree = { readonly root: ReadElement; readonly elements: ReadonlyMap<string, ReadElement> }

export type ElementReading = ChargeReading & {
  readonly timeZone: TimeZone
  readonly at: Instant
  readonly supply: LocatorSupply
  /** Data that was read before: of each element by fingerprint, and what was read of it last. */
  readonly known: {
    readonly byFingerprint: Map<string, Pick<ReadElement, 'data' | 'amounts'>>
    readonly latest: Map<string, FieldData>
  }
  /** Nothing of it is covered. */
  readonly isGap: boolean
}

/** The tree below `path`, which names the transaction; what is wrong with it goes to the problems. */
export function readTree(root: ElementMigrationRequest, path: string, reading: ElementReading): ReadTree {
  const { product, problems } = reading
  const elements = new Map<string, ReadElement>()
  const read = (
    element: ElementMigrationRequest,
    level: Level,
    fields: FieldDefinition[] | undefined,
    exposureId: string,
    isEnded: boolean,
    parentId?: string,
  ): ReadElement => {
    const place = `${path}/${element.id}`
    if (elements.has(element.id))
      problems.add(
        'element',
        place,
        `id '${element.id}' must be the id of one element of the transaction only.`,
      )
    const fingerprint = canonical([element.elementType, element.data, element.coverageTerms])
    const found: ReadElement = {
      id: element.id,
      level,
      type: element.elementType,
      exposureId,
      ...(parentId !== undefined && { parentId }),
      path: place,
      fingerprint,
      ...(isEnded ? NOTHING : contentOf(element, fingerprint, level, fields, place, reading)),
      isEnded,
      charges: readCharges(element.charges, place, level === 'peril', reading),
      children: element.elements.map(one => one.id),
    }
    elements.set(element.id, found)
    return found
  }
  const unknown = (element: ElementMigrationRequest, rule: string): void => {
    problems.add('element', `${path}/${element.id}`, `elementType '${element.elementType}' ${rule}.`)
  }
  const readPeril = (
    element: ElementMigrationRequest,
    exposure: string,
    exposureId: string,
    isGone: boolean,
    parentId?: string,
  ): void => {
    const isEnded = isGone || element.ended === true
    const perils = product.exposures.find(one => one.name === exposure)!.perils
    const definition = perils.find(one => one.name === element.elementType)
    if (!definition) unknown(element, `must be a peril of exposure '${exposure}': ${names(perils)}`)
    read(element, 'peril', definition?.fields, exposureId, isEnded, parentId)
    for (const one of element.elements) readPeril(one, exposure, exposureId, isEnded, element.id)
  }
  if (root.elementType !== product.name)
    unknown(root, `must be '${product.name}', the name of the policy's product: it is the root element`)
  const top = read(root, 'policy', product.fields, '', reading.isGap)
  for (const element of root.elements) {
    const definition = product.exposures.find(one => one.name === element.elementType)
    if (!definition) {
      unknown(element, `must be an exposure of product '${product.name}': ${names(product.exposures)}`)
      continue
    }
    const isEnded = reading.isGap || element.ended === true
    read(element, 'exposure', definition.fields, element.id, isEnded)
    for (const one of element.elements) readPeril(one, definition.name, element.id, isEnded)
  }
  return { root: top, elements }
}

const names = (list: readonly { name: string }[]): string =>
  list.map(one => one.name).join(', ') || 'it has none'

/** The same text for the same value, whatever the order of its properties. */
export function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  let text = ''
  if (Array.isArray(value)) {
    for (const one of value) text += `${text === '' ? '' : ','}${canonical(one)}`
    return `[${text}]`
  }
  const part = value as Readonly<Record<string, unknown>>
  for (const name of Object.keys(part).sort()) {
    const own = part[name]
    if (own !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonical(own)}`
  }
  return `{${text}}`
}

const NOTHING = { data: { values: {}, groups: [] }, amounts: {} }

function contentOf(
  { id, data, coverageTerms }: ElementMigrationRequest,
  fingerprint: string,
  level: Level,
  fields: FieldDefinition[] | undefined,
  place: string,
  reading: ElementReading,
): Pick<ReadElement, 'data' | 'amounts'> {
  if (!fields) return NOTHING
  const { problems, known } = reading
  const key = `${level} ${JSON.stringify(id)} ${fingerprint}`
  const found = known.byFingerprint.get(key)
  if (found) {
    known.latest.set(id, found.data)
    return found
  }
  const amountTerms: Record<string, unknown> = {}
  const values: Record<string, unknown> = { ...data }
  for (const [name, value] of Object.entries(coverageTerms))
    if (level === 'peril' && AMOUNT_TERMS.has(name)) amountTerms[name] = value
    else values[name] = value
  const { amounts, problems: wrong } = createPerilAmounts({}, amountTerms)
  for (const { message } of wrong) problems.add('element', place, message)
  const read = readData(values, fields, reading, text => problems.add('element', place, text))
  const content = { data: withKnownGroups(read, known.latest.get(id)), amounts }
  known.byFingerprint.set(key, content)
  known.latest.set(id, content.data)
  return content
}

/** Groups that the element had before with the same values are the same groups (brief 2.3). */
function withKnownGroups({ values, groups }: FieldData, before: FieldData | undefined): FieldData {
  const left = [...(before?.groups ?? [])]
  const locators = new Map<string, string>()
  for (const { locator, ...own } of groups) {
    const at = left.findIndex(({ locator: _, ...other }) => canonical(other) === canonical(own))
    if (at >= 0) locators.set(locator, left.splice(at, 1)[0]!.locator)
  }
  if (locators.size === 0) return { values, groups }
  const fields = new Set(groups.map(group => group.fieldName))
  return {
    values: Object.fromEntries(
      Object.entries(values).map(([name, list]) => [
        name,
        fields.has(name) ? list.map(one => locators.get(one) ?? one) : list,
      ]),
    ),
    groups: groups.map(group => ({ ...group, locator: locators.get(group.locator) ?? group.locator })),
  }
}

const AMOUNT_TERMS: ReadonlySet<string> = new Set([
  ...['deductible', 'lumpSumPayment', 'indemnityInAggregate', 'indemnityPerEvent', 'indemnityPerItem'],
])

const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Data by the rules of its fields; objects, alone or listed, are field groups. */
export function readData(
  data: Readonly<Record<string, unknown>>,
  fields: FieldDefinition[],
  {
    product,
    timeZone,
    at,
    supply,
  }: Pick<ElementReading, 'timeZone' | 'at' | 'supply'> & {
    product?: ProductDefinition
  },
  wrong: (sentence: string) => void,
): FieldData {
  const fieldValues: Record<string, unknown> = {}
  const addFieldGroups: { fieldName: string; fieldValues: unknown }[] = []
  for (const [fieldName, value] of Object.entries(data)) {
    const list: unknown[] = Array.isArray(value) ? value : [value]
    if (list.length > 0 && list.every(isGroup))
      addFieldGroups.push(...list.map(one => ({ fieldName, fieldValues: one })))
    else fieldValues[fieldName] = value
  }
  const changed = changeFields({ values: {}, groups: [] }, { fieldValues, addFieldGroups }, () =>
    supply.uuid(),
  )
  const found = validateFields(fields, changed.data.values, changed.data.groups, {
    timeZone,
    now: at,
    requireMissing: true,
    table: name => product?.tables[name],
    reported: changed.reported,
  })
  for (const { message } of found.errors) wrong(message)
  for (const group of found.fieldGroupErrors)
    for (const { message } of group.errors) wrong(`${group.fieldName}[${group.index}]: ${message}`)
  return normaliseFieldData(fields, changed.data, timeZone)
}
