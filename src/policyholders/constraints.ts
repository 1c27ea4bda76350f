// A policyholder's own values held against the constraint tables in force (resources brief 3). A draft is held to types only,
// so tables do not bind it; completing it holds all of its values against them. A table that is not in force yet binds nobody:
// a policyholder may be there before the tables are uploaded. Sub-entities are not held against tables.
import type { Instant } from '../kernel/time.ts'
import { policyholderGraph } from '../product/constraint-graph.ts'
import type { FieldError } from '../product/fields/errors.ts'
import { type FieldValues, valuesOf } from '../product/fields/values.ts'
import { allAt, type SelectionBasis } from '../product/resources.ts'
import { breachesOf, fieldsInUse } from '../reference/constraints/breaches.ts'
import type { ConstrainedField } from '../reference/constraints/evaluation.ts'
import type { TablesInForce } from '../reference/constraints/force.ts'
import type { Dictionary, Policyholder } from './policyholder.ts'

/** Reads the tables of these static names that are in force. */
export type ReadTables = (
  configuration: Pick<Dictionary, 'resources'>,
  staticNames: readonly string[],
  basis: SelectionBasis,
) => Promise<TablesInForce>

type Held = Pick<Policyholder, 'locator' | 'completed' | 'entity'>

/**
 * What the tables find wrong with the policyholder. Of one that was completed `before`, only what the request `sent`, and
 * what a changed value governs: data of earlier days does not stand in the way of other changes. Reads no table where no
 * field to check has a value.
 */
export async function constraintErrors(
  after: Held,
  { before, sent }: { readonly before?: Held; readonly sent: readonly string[] },
  dictionary: Dictionary,
  now: Instant,
  readTables: ReadTables,
): Promise<FieldError[]> {
  const checked = checkedFields(after, before, new Set(sent), dictionary)
  if (checked.length === 0) return []
  // All tables of the dictionary, so that one reading serves every account of a migration.
  const { tables: names } = policyholderGraph(dictionary.fields)
  const tables = await readTables(dictionary, names, allAt(now))
  return [...(await breachesOf(checked, tables)).values()].flat()
}

function checkedFields(
  { locator, completed, entity: { values } }: Held,
  before: Held | undefined,
  sent: ReadonlySet<string>,
  { fields, timeZone }: Dictionary,
): ConstrainedField[] {
  if (!completed || !fields.some(({ constraint }) => constraint)) return []
  const inUse = fieldsInUse([{ kind: 'policyholder', locator, fields, values }], timeZone)
  if (!before?.completed) return inUse
  const earlier = before.entity.values
  return inUse.filter(
    ({ field, where }) =>
      sent.has(field.name) ||
      where.some(({ governor }) => governor && !isSame(earlier, values, governor.field.name)),
  )
}

function isSame(earlier: FieldValues, later: FieldValues, name: string): boolean {
  const [then, now] = [valuesOf(earlier, name), valuesOf(later, name)]
  return then.length === now.length && then.every((value, at) => value === now[at])
}
