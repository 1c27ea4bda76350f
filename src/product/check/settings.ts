// config.json: time zone, currency, features, secrets, jurisdictions, and declarations of resources and events.

import { z } from 'zod'
import { type CurrencyCode, currencyCode } from '../../kernel/money.ts'
import { type TimeZone, timeZone } from '../../kernel/time.ts'
import { SECRET_ITEM_NAME } from '../../platform/outbound/masking.ts'
import {
  type Configuration,
  type FieldDefinition,
  type ProductDefinition,
  SECRET_DATA_TYPES,
} from '../configuration.ts'
import { LONGEST_JURISDICTION, LONGEST_RESOURCE_NAME, RESOURCE_NAME } from '../resources.ts'
import type { Archive } from './archive.ts'
import {
  compileCustomEvents,
  compileResourceTables,
  customEventDeclarations,
  tableDeclarations,
} from './declarations.ts'
import type { PolicyFile } from './files.ts'
import { type Decoded, decodeFile } from './json/decode.ts'
import { caseInsensitiveEnum, flag, name, text, withDescription } from './json/scalars.ts'
import type { ValueReport } from './report.ts'

/** The type of an item defaults to string. */
const secretItem = z.strictObject({
  dataType: withDescription(
    caseInsensitiveEnum(SECRET_DATA_TYPES).default('string'),
    "The type of the item's value.",
    'string',
  ),
})
const secretDeclaration = z.strictObject({
  items: withDescription(
    z.record(z.string(), secretItem),
    'The items by name: letters, digits, `_`, `-` and `$`.',
    {
      apiKey: { dataType: 'string' },
    },
  ),
})

const jurisdiction = z.strictObject({
  displayName: withDescription(text.optional(), 'Name shown to people. For screens only.', 'California'),
})

/** A strict object, so that an unknown property is reported and ignored. */
export const configFile = z.strictObject({
  timezone: withDescription(
    name.optional(),
    'The time zone in which days begin and months are counted, by its name in the IANA database. Required once there is a product.',
    'Europe/Berlin',
  ),
  currency: withDescription(
    name.optional(),
    'The currency of all amounts, an ISO 4217 code. Required once there is a product.',
    'EUR',
  ),
  improvedRating: withDescription(
    flag.optional(),
    'A switch of older systems, which Bindery accepts but ignores.',
    true,
  ),
  features: withDescription(
    z.record(z.string(), flag).default({}),
    'Switches by name. `property.endorsement.policy.end.enabled` lets endorsements move the end of a policy; `property.product.versioning.m2.enabled` requires a versioned tenant. Others have no effect.',
    { 'property.endorsement.policy.end.enabled': true },
  ),
  secrets: withDescription(
    z.record(z.string(), secretDeclaration).default({}),
    'The secrets of the tenant, by static name: their items and types, never their values ([resources](resources.md)).',
    { rater: { items: { apiKey: { dataType: 'string' } } } },
  ),
  /** The properties of an entry are for user interfaces. */
  jurisdictions: withDescription(
    z.record(z.string(), jurisdiction.optional()).default({}),
    'The jurisdictions that policies can have, by name, with at most 64 characters each. If omitted: any text is permitted.',
    { CA: { displayName: 'California' }, NY: {} },
  ),
  customEvents: customEventDeclarations,
  ...tableDeclarations,
})

type Settings = Pick<
  Configuration,
  'timeZone' | 'currency' | 'features' | 'jurisdictions' | 'resources' | 'secrets' | 'customEvents'
>

/** Placeholders until all problems are reported. Nothing is deployed if there is an error. */
const PLACEHOLDERS = { timeZone: 'UTC' as TimeZone, currency: 'XXX' as CurrencyCode }

/** What an author must write (brief 5.1). */
const REQUIRED = {
  timezone: `"timezone" with a name of the IANA database, such as "Europe/Berlin"`,
  currency: `"currency" with an ISO 4217 code, such as "EUR"`,
} as const

/**
 * Compiles config.json. An archive with products must define a time zone and a currency, because amounts and days depend on them.
 */
export function compileSettings(archive: Archive, productNames: readonly string[]): Settings {
  const hasProducts = productNames.length > 0
  const path = 'config.json'
  const file = archive.take(path)
  const decoded = decodeFile(file, configFile, archive.report)
  const absent = `There is no config.json. Add it with ${REQUIRED.timezone}, and ${REQUIRED.currency}.`
  if (file === undefined && hasProducts) archive.report.at({ path }).error('missingConfig', absent)
  if (decoded === undefined) return { ...PLACEHOLDERS, features: {}, secrets: {} }
  const { value, report } = decoded
  const lacking = (['timezone', 'currency'] as const).filter(property => value[property] === undefined)
  const incomplete = `config.json lacks ${lacking.map(property => `'${property}'`).join(' and ')}. Add ${lacking.map(property => REQUIRED[property]).join(', and ')}.`
  if (lacking.length > 0 && hasProducts) report.error('missingConfig', incomplete)
  checkSecrets(value.secrets, report.at('secrets'))
  const zone = value.timezone === undefined ? PLACEHOLDERS.timeZone : timeZone(value.timezone)
  if (zone === undefined) {
    const message = `'${value.timezone}' is not a time zone of the IANA database. Use a name like 'Europe/Berlin'.${report.suggestion(value.timezone!, Intl.supportedValuesOf('timeZone'))}`
    report.at('timezone').error('unknownTimeZone', message)
  }
  const currency =
    value.currency === undefined ? PLACEHOLDERS.currency : currencyCode(value.currency.toUpperCase())
  if (currency === undefined) {
    const message = `'${value.currency}' is not an ISO 4217 currency code. Use three letters like 'EUR'.${report.suggestion(value.currency!, Intl.supportedValuesOf('currency'))}`
    report.at('currency').error('unknownCurrency', message)
  }
  const resources = compileResourceTables(value, report)
  const jurisdictions = compileJurisdictions(value.jurisdictions, report.at('jurisdictions'))
  const customEvents = compileCustomEvents(value.customEvents, productNames, report.at('customEvents'))
  return {
    timeZone: zone ?? PLACEHOLDERS.timeZone,
    currency: currency ?? PLACEHOLDERS.currency,
    secrets: value.secrets,
    features: {
      ...value.features,
      ...(value.improvedRating !== undefined && { improvedRating: value.improvedRating }),
    },
    ...(jurisdictions.length > 0 && { jurisdictions }),
    ...(resources && { resources }),
    ...(customEvents.length > 0 && { customEvents }),
  }
}

/** Reports invalid names (resources brief 0.3 and 5). */
function checkSecrets(secrets: Configuration['secrets'], report: ValueReport): void {
  for (const [staticName, { items }] of Object.entries(secrets)) {
    const message = `'${staticName}' is not a static name. It must begin with a letter or $, optionally after _, and contain only letters, digits, _ and $, at most ${LONGEST_RESOURCE_NAME}.`
    if (!RESOURCE_NAME.test(staticName) || staticName.length > LONGEST_RESOURCE_NAME)
      report.at(staticName).error('badName', message)
    for (const item of Object.keys(items)) {
      const badItem = `'${item}' is not a name for an item of a secret. Use letters, digits, _, - and $, at most 128 characters.`
      if (!SECRET_ITEM_NAME.test(item)) report.at(staticName, 'items', item).error('badName', badItem)
    }
  }
}

/** Returns the jurisdictions in the order of the file (resources brief 0.4). */
function compileJurisdictions(declared: Readonly<Record<string, unknown>>, report: ValueReport): string[] {
  const names = Object.keys(declared)
  for (const name of names) {
    const message = `'${name}' is not a jurisdiction: it must have 1 to ${LONGEST_JURISDICTION} characters, and no surrounding blanks.`
    if (name !== name.trim() || name === '' || name.length > LONGEST_JURISDICTION)
      report.at(name).error('badJurisdiction', message)
  }
  return names
}

/** Types with a single text value, which a resource can list. */
const JURISDICTION_TYPES: ReadonlySet<FieldDefinition['type']> = new Set(['string', 'select', 'lookup'])

/** The field that is the jurisdiction if the product does not name one. */
const DEFAULT_JURISDICTION_FIELD = 'jurisdiction'

/** Finds the field that is the jurisdiction, and makes it required if the product requires a jurisdiction. */
export function withJurisdiction(
  fields: FieldDefinition[],
  { value: { jurisdictionField: named, requiresJurisdiction }, report }: Decoded<PolicyFile>,
  jurisdictions: readonly string[] | undefined,
): Pick<ProductDefinition, 'fields' | 'jurisdictionField'> {
  const property = named === undefined ? 'requiresJurisdiction' : 'jurisdictionField'
  const reportBadJurisdictionField = (message: string): void =>
    report.at(property).error('badJurisdictionField', message)
  const field = fields.find(one => one.name === (named ?? DEFAULT_JURISDICTION_FIELD))
  if (!field) {
    if (named !== undefined)
      reportBadJurisdictionField(
        `The policy has no field '${named}'. Define it, or name the field that is the jurisdiction.`,
      )
    else if (requiresJurisdiction)
      reportBadJurisdictionField(
        `The product requires a jurisdiction, but the policy has no field '${DEFAULT_JURISDICTION_FIELD}'. Define it, or name a different field in 'jurisdictionField'.`,
      )
    return { fields }
  }
  if (!JURISDICTION_TYPES.has(field.type) || field.repeatable) {
    // A field that only happens to have the default name means something else.
    if (named !== undefined || requiresJurisdiction)
      reportBadJurisdictionField(
        `'${field.name}' cannot be the jurisdiction: it must be a single value of type string, select or lookup.`,
      )
    return { fields }
  }
  if (requiresJurisdiction && field.conditions.length > 0)
    reportBadJurisdictionField(
      `The product requires a jurisdiction, but '${field.name}' applies only under a condition. Remove the condition.`,
    )
  const undeclared = (field.values ?? []).filter(value => jurisdictions && !jurisdictions.includes(value))
  const shown = undeclared.slice(0, MOST_SHOWN).map(value => `'${value}'`)
  const message = `'${field.name}' can be ${shown.join(', ')}, which config.json does not declare under 'jurisdictions', so no resource can be in force there.`
  if (undeclared.length > 0) report.at('fields').warning('undeclaredJurisdiction', message)
  const required = (one: FieldDefinition): FieldDefinition =>
    one === field && requiresJurisdiction ? { ...one, optional: false } : one
  return { jurisdictionField: field.name, fields: fields.map(required) }
}

const MOST_SHOWN = 20
