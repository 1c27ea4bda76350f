// Jurisdictions that config.json declares, and the field of a policy that says which one is its own (resources brief 0.4).

import type { FieldDefinition, ProductDefinition } from '../configuration.ts'
import { LONGEST_JURISDICTION } from '../resources.ts'
import type { JsonPath } from './json/read.ts'
import type { Place, Report } from './report.ts'

/** What a policy has one value of, as text that a resource may list. */
const FITTING: ReadonlySet<FieldDefinition['type']> = new Set(['string', 'select', 'lookup'])

/** Where no product says it, the policy's field of this name. */
const USUAL_FIELD = 'jurisdiction'

/** The names, in the order of the file. */
export function compileJurisdictions(
  declared: Readonly<Record<string, unknown>>,
  place: (path: JsonPath) => Place,
  report: Report,
): string[] {
  const names = Object.keys(declared)
  for (const name of names)
    if (name !== name.trim() || name === '' || name.length > LONGEST_JURISDICTION)
      report.error(
        place(['jurisdictions', name]),
        'badJurisdiction',
        `'${name}' is no jurisdiction: it has 1 to ${LONGEST_JURISDICTION} characters, and no blanks around them.`,
      )
  return names
}

type Said = { readonly jurisdictionField?: string | undefined; readonly requiresJurisdiction: boolean }

type Context = {
  readonly jurisdictions: readonly string[] | undefined
  readonly place: (path: JsonPath) => Place
  readonly report: Report
}

/** The fields with the one that is the jurisdiction; a product that requires one requires that field. */
export function withJurisdiction(
  fields: FieldDefinition[],
  { jurisdictionField: named, requiresJurisdiction }: Said,
  { jurisdictions, place, report }: Context,
): Pick<ProductDefinition, 'fields' | 'jurisdictionField'> {
  const property = named === undefined ? 'requiresJurisdiction' : 'jurisdictionField'
  const wrong = (message: string): void => report.error(place([property]), 'badJurisdictionField', message)
  const field = fields.find(one => one.name === (named ?? USUAL_FIELD))
  if (!field) {
    if (named !== undefined)
      wrong(`The policy has no field '${named}'. Define it, or name the one that is the jurisdiction.`)
    else if (requiresJurisdiction)
      wrong(
        `The product requires a jurisdiction, and the policy has no field '${USUAL_FIELD}'. Define it, or name another by 'jurisdictionField'.`,
      )
    return { fields }
  }
  if (!FITTING.has(field.type) || field.repeatable) {
    // A field that only happens to have the usual name means something else.
    if (named === undefined && !requiresJurisdiction) return { fields }
    wrong(`'${field.name}' cannot be the jurisdiction: that is one value of type string, select or lookup.`)
    return { fields }
  }
  if (requiresJurisdiction && field.conditions.length > 0)
    wrong(
      `The product requires a jurisdiction, and '${field.name}' applies under a condition only. Take the condition away.`,
    )
  const strangers = (field.values ?? []).filter(one => jurisdictions && !jurisdictions.includes(one))
  if (strangers.length > 0)
    report.warning(
      place(['fields']),
      'undeclaredJurisdiction',
      `'${field.name}' may be ${strangers
        .slice(0, MOST_SHOWN)
        .map(one => `'${one}'`)
        .join(', ')}, which config.json does not declare under 'jurisdictions'; no resource can be for it.`,
    )
  return {
    jurisdictionField: field.name,
    fields: requiresJurisdiction
      ? fields.map(one => (one === field ? { ...one, optional: false } : one))
      : fields,
  }
}

const MOST_SHOWN = 20
