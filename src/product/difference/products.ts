// Compares one product in two configurations.
import type {
  CancellationType,
  DocumentDefinition,
  EndorsementType,
  ExposureDefinition,
  PerilDefinition,
  PluginReference,
  ProductDefinition,
  TemplateSource,
} from '../configuration.ts'
import {
  type Area,
  type Change,
  formatValue,
  makeAddition,
  makeChange,
  makeRemoval,
  type Place,
  pairByName,
  pairsInBoth,
  valueChanges,
  withInForce,
  withNames,
} from './change.ts'
import { fieldChanges } from './fields.ts'
import { tableChanges } from './tables.ts'
import { templateChanges } from './templates.ts'

type Properties = { readonly [name: string]: unknown }

/**
 * Compares everything of a product that exists in both configurations, including rates, tables and plugins. The changes are not in
 * display order.
 */
export function productChanges(old: ProductDefinition, now: ProductDefinition): Change[] {
  const { name: product } = old
  const folder = folderOf(product)
  const makePlace = (area: Area, subject: string, file = 'policy.json'): Place => ({
    area,
    subject,
    product,
    path: `${folder}/${file}`,
  })
  const template = (
    property: 'calculations' | 'underwriting',
    area: Area,
    file: string,
    subject: string,
  ): Change[] => templateChanges(makePlace(area, subject, file), old[property], now[property])
  return [
    ...settings(old, now, makePlace),
    ...policyFields(old, now),
    ...pairByName(old.exposures, now.exposures).flatMap(pair => exposureChanges(pair, product, folder)),
    ...tableChanges(ownTables(old, folder), ownTables(now, folder), product),
    ...template('underwriting', 'underwriting', 'underwriting.guidelines.liquid', 'underwriting guidelines'),
    ...template('calculations', 'fees', 'policy.calculations.liquid', 'calculation of fees'),
    ...compareEntries(old.fees, now.fees, ({ name }) => makePlace('fees', `fee '${name}'`, 'fees.json')),
    ...taxChanges(old, now, makePlace),
    ...scheduleChanges(old, now, makePlace),
    ...documentChanges(old.documents, now.documents, makePlace('documents', 'policy')),
    ...endorsementChanges(old.endorsements, now.endorsements, makePlace),
    ...documentChanges(
      old.renewals.documents,
      now.renewals.documents,
      makePlace('documents', 'renewal', 'renewals.json'),
    ),
    ...cancellationChanges(old.cancellationTypes, now.cancellationTypes, makePlace),
    ...documentTemplates(old, now, makePlace),
    ...pluginChanges(old.plugins, now.plugins, makePlace),
  ]
}

type At = (area: Area, subject: string, file?: string) => Place

/**
 * The product's own tables. A table of the tenant appears in every product without its own table of that name, and is compared only
 * once.
 */
const ownTables = ({ tables }: ProductDefinition, folder: string): ProductDefinition['tables'] =>
  Object.fromEntries(Object.entries(tables).filter(([, { path }]) => path.startsWith(`${folder}/`)))

/** Properties that are compared as values, with their areas and names. */
const SETTINGS = [
  ['displayName', 'product', 'name'],
  ['jurisdictionField', 'product', 'jurisdiction field'],
  ['strict', 'product', 'strict'],
  ['externalRater', 'rates', 'external rater'],
  ['defaultPaymentTerms', 'billing', 'payment terms'],
  ['invoicing', 'billing', 'invoicing'],
  ['lapse', 'billing', 'grace and lapse'],
  ['legacyCancellationProration', 'transactions', 'proration of cancellations'],
] as const satisfies readonly (readonly [string, Area, string])[]

/** Properties that `productChanges` compares in another way, or that follow from the name. */
const COMPARED = [
  ...[
    'name',
    'locator',
    'fields',
    'exposures',
    'documents',
    'paymentSchedules',
    'endReminders',
    'endorsements',
  ],
  ...['renewals', 'cancellationTypes', 'fees', 'taxes', 'calculations', 'underwriting', 'templates'],
  ...['staticDocuments', 'plugins', 'tables'],
]

function settings(old: ProductDefinition, now: ProductDefinition, at: At): Change[] {
  const [before, after] = [old as Properties, now as Properties]
  const known = new Set<string>([...COMPARED, ...SETTINGS.map(([property]) => property)])
  // Properties that are not in these lists yet are compared too, under their own names.
  const others = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    name => !known.has(name),
  )
  return [
    ...SETTINGS.flatMap(([property, area, what]) =>
      valueChanges(at(area, `product '${old.name}'`), what, before[property], after[property]),
    ),
    ...others.flatMap(name =>
      valueChanges(at('product', `product '${old.name}'`), name, before[name], after[name]),
    ),
    ...reminderChanges(old, now, at),
  ]
}

const reminderChanges = (old: ProductDefinition, now: ProductDefinition, at: At): Change[] =>
  compareEntries(old.endReminders, now.endReminders, ({ name }) => at('transactions', `reminder '${name}'`))

/** Compares the entries of a list by name. A changed entry lists its changed properties. */
function compareEntries<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
  placeOf: (entry: T) => Place,
  compare: (old: T, now: T, place: Place) => Change[] = (old, now, place) => propertyChanges(old, now, place),
): Change[] {
  return pairByName(before, after).flatMap(({ old, now }): Change[] => {
    const place = placeOf((now ?? old)!)
    if (!old) return [makeAddition(place)]
    return now ? compare(old, now, place) : [makeRemoval(place)]
  })
}

/** Returns one change for each property that differs, except the named ones. */
function propertyChanges(old: object, now: object, place: Place, except: readonly string[] = []): Change[] {
  const [before, after] = [old as Properties, now as Properties]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names
    .filter(name => !except.includes(name))
    .flatMap(name => valueChanges(place, camelCaseToWords(name), before[name], after[name]))
}

/** Converts `displayName` to `display name`. */
const camelCaseToWords = (property: string): string =>
  property.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)

/** Changes of the fields of a product, its exposures and their perils, for those that both products have. */
export const fieldsOfProduct = (old: ProductDefinition, now: ProductDefinition): Change[] => [
  ...policyFields(old, now),
  ...pairsInBoth(old.exposures, now.exposures).flatMap(([before, after]) => [
    ...exposureFields(before, after, old.name),
    ...pairsInBoth(before.perils, after.perils).flatMap(([was, is]) =>
      perilFields(was, is, before.name, old.name),
    ),
  ]),
]

const policyFields = (old: ProductDefinition, now: ProductDefinition): Change[] =>
  fieldChanges(old.fields, now.fields, { product: old.name, path: `${folderOf(old.name)}/policy.json` }, '')

const exposureFields = (old: ExposureDefinition, now: ExposureDefinition, product: string): Change[] =>
  fieldChanges(
    old.fields,
    now.fields,
    { product, path: `${folderOf(product)}/exposures/${old.name}/exposure.json` },
    ` of exposure '${old.name}'`,
  )

const perilFields = (
  old: PerilDefinition,
  now: PerilDefinition,
  exposure: string,
  product: string,
): Change[] =>
  fieldChanges(
    old.fields,
    now.fields,
    { product, path: `${folderOf(product)}/exposures/${exposure}/perils/${old.name}.json` },
    ` of peril '${old.name}' of '${exposure}'`,
  )

const folderOf = (product: string): string => `products/${product}/policy`

type Pair<T> = { readonly name: string; readonly old: T | undefined; readonly now: T | undefined }

function exposureChanges(
  { name, old, now }: Pair<ExposureDefinition>,
  product: string,
  folder: string,
): Change[] {
  const path = `${folder}/exposures/${name}`
  const place: Place = {
    area: 'exposures',
    product,
    path: `${path}/exposure.json`,
    subject: `exposure '${name}'`,
  }
  const perilNames = (exposure: ExposureDefinition): string =>
    exposure.perils.length === 0
      ? 'without perils'
      : `with ${exposure.perils.map(peril => peril.name).join(', ')}`
  if (!old) return [makeAddition(place, perilNames(now!))]
  if (!now)
    return [
      withInForce(
        makeRemoval(place, perilNames(old)),
        'breaks',
        'Their exposures of this kind can no longer be read.',
      ),
    ]
  return [
    ...valueChanges(place, 'name', old.displayName, now.displayName),
    ...exposureFields(old, now, product),
    ...pairByName(old.perils, now.perils).flatMap(pair =>
      perilChanges(pair, name, product, `${path}/perils`),
    ),
  ]
}

function perilChanges(
  { name, old, now }: Pair<PerilDefinition>,
  exposure: string,
  product: string,
  folder: string,
): Change[] {
  const subject = `peril '${name}' of '${exposure}'`
  const place: Place = { area: 'perils', product, path: `${folder}/${name}.json`, subject }
  if (!old) return [makeAddition(place)]
  if (!now)
    return [withInForce(makeRemoval(place), 'breaks', 'Their perils of this kind can no longer be read.')]
  const premium: Place = {
    area: 'rates',
    product,
    path: (now.premium ?? old.premium)?.path ?? place.path,
    subject: `premium of ${subject}`,
  }
  return [
    ...valueChanges(place, 'name', old.displayName, now.displayName),
    ...propertyChanges(old.defaults, now.defaults, { ...place, subject: `default of ${subject}` }),
    ...perilFields(old, now, exposure, product),
    ...templateChanges(premium, old.premium, now.premium),
  ]
}

function taxChanges(old: ProductDefinition, now: ProductDefinition, at: At): Change[] {
  const placeOf = ({ name }: { name: string }): Place => at('taxes', `tax '${name}'`, 'taxes/taxes.json')
  return compareEntries(old.taxes, now.taxes, placeOf, (before, after, place) => [
    ...propertyChanges(before, after, place, ['premium']),
    ...templateChanges(
      { ...place, path: (after.premium ?? before.premium)?.path ?? place.path },
      before.premium,
      after.premium,
    ),
  ])
}

function scheduleChanges(old: ProductDefinition, now: ProductDefinition, at: At): Change[] {
  const placeOf = ({ name }: { name: string }): Place => at('billing', `payment schedule '${name}'`)
  const changes = compareEntries(old.paymentSchedules, now.paymentSchedules, placeOf).map(change =>
    change.kind === 'removed'
      ? withInForce(change, 'breaks', 'Those on it are billed by a schedule that no longer exists.')
      : change,
  )
  return [
    ...changes,
    ...valueChanges(
      at('billing', `product '${old.name}'`),
      'default payment schedule',
      old.paymentSchedules[0]?.name,
      now.paymentSchedules[0]?.name,
    ),
  ]
}

/** Compares documents. They have no unique names, so those with the same display name and event are the same document. */
function documentChanges(
  before: readonly DocumentDefinition[],
  after: readonly DocumentDefinition[],
  place: Place,
): Change[] {
  const nameDocuments = (documents: readonly DocumentDefinition[]) => {
    const seen = new Map<string, number>()
    return documents.map(one => {
      const name = `${one.displayName} (${one.trigger ?? one.generatingEvent})`
      const count = (seen.get(name) ?? 0) + 1
      seen.set(name, count)
      return { ...one, name: count === 1 ? name : `${name} ${count}` }
    })
  }
  return compareEntries(nameDocuments(before), nameDocuments(after), ({ name }) => ({
    ...place,
    subject: `${place.subject} document '${name}'`,
  }))
}

const endorsementChanges = (
  before: readonly EndorsementType[],
  after: readonly EndorsementType[],
  at: At,
): Change[] =>
  compareEntries(
    before,
    after,
    ({ name }) => at('transactions', `endorsement type '${name}'`, 'endorsements.json'),
    (old, now, place) => [
      ...propertyChanges(old, now, place, ['documents']),
      ...documentChanges(old.documents, now.documents, { ...place, area: 'documents' }),
    ],
  )

function cancellationChanges(
  before: readonly CancellationType[] | undefined,
  after: readonly CancellationType[] | undefined,
  at: At,
): Change[] {
  const file = 'cancellations.json'
  const way = at('transactions', 'cancellations', file)
  if (before && !after)
    return [makeChange(way, 'cancellations.json was removed: policies lapse the legacy way')]
  if (!before && after)
    return [
      makeChange(
        way,
        `policies are now cancelled by types instead of the legacy way: ${formatValue(after.map(one => one.name))}`,
      ),
    ]
  return compareEntries(
    before ?? [],
    after ?? [],
    ({ name }) => at('transactions', `cancellation type '${name}'`, file),
    (old, now, place) => [
      ...propertyChanges(old, now, place, ['documents', 'reinstatement']),
      ...valueChanges(
        place,
        'reinstatement deadline in days',
        old.reinstatement?.defaultDeadlineDays,
        now.reinstatement?.defaultDeadlineDays,
      ),
      ...documentChanges(old.documents, now.documents, { ...place, area: 'documents' }),
      ...documentChanges(old.reinstatement?.documents ?? [], now.reinstatement?.documents ?? [], {
        ...place,
        area: 'documents',
        subject: `reinstatement after ${place.subject}`,
      }),
    ],
  )
}

function documentTemplates(old: ProductDefinition, now: ProductDefinition, at: At): Change[] {
  const files = (sources: Readonly<Record<string, TemplateSource>>) => withNames(sources)
  const toNamedItems = (names: readonly string[]) => names.map(name => ({ name }))
  return [
    ...pairByName(files(old.templates), files(now.templates)).flatMap(({ name, old: before, now: after }) =>
      templateChanges(at('documents', `template '${name}'`, name), before, after),
    ),
    ...compareEntries(toNamedItems(old.staticDocuments), toNamedItems(now.staticDocuments), ({ name }) =>
      at('documents', `static document '${name}'`, `static_documents/${name}`),
    ),
  ]
}

const pluginChanges = (
  before: Readonly<Record<string, PluginReference>>,
  after: Readonly<Record<string, PluginReference>>,
  at: At,
): Change[] =>
  compareEntries(
    withNames(before),
    withNames(after),
    ({ name }) => at('plugins', `plugin ${name}`),
    (old, now, place) => [
      ...valueChanges(place, 'script', old.path, now.path),
      ...(old.enabled === now.enabled ? [] : [makeChange(place, now.enabled ? 'is enabled' : 'is disabled')]),
    ],
  )
