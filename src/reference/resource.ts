// Resources are data or text that products use and that change on their own dates. For each static name, one is in force for a time
// and a jurisdiction (resources brief 2).
import { Refusal } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { ResourceType, Selectable, TemplateFormat } from '../product/resources.ts'

/** An upload under a unique name. Its contents are those of its newest revision. */
export type Resource = {
  readonly name: string
  readonly type: ResourceType
  /** The name that configurations and plugins use. Several resources may share it. */
  readonly staticName: string
  /** Empty if the resource applies in every jurisdiction that no other resource lists. */
  readonly jurisdictions: readonly string[]
  readonly createdAt: Instant
  readonly createdBy: Uuid
  /** Identifies the present contents: the locator in responses, which changes with every replacement. */
  readonly revision: Uuid
  readonly templateFormat?: TemplateFormat | null
  /** For static documents: `pdf`, `docx` and so on. */
  readonly format?: string | null
}

/** The contents of a resource. Earlier ones are kept to explain what was priced or printed with them. */
export type ResourceRevision = {
  readonly locator: Uuid
  readonly resourceName: string
  readonly createdAt: Instant
  readonly createdBy: Uuid
  readonly sizeBytes: number
  /** SHA-256 of the contents, in hexadecimal. */
  readonly hash: string
  readonly mediaType: string
}

/** Resources that are in force together, starting at a time. */
export type ResourceGroup = {
  readonly locator: Uuid
  readonly name: string
  readonly selectionStart: Instant
  readonly createdAt: Instant
  readonly createdBy: Uuid
  readonly retired: boolean
  readonly version: number
  readonly resourceNames: readonly string[]
}

export type Selecting = {
  readonly at: Instant
  readonly jurisdiction?: string | undefined
}

/** A group that was considered, and the outcome. */
export type Considered = {
  readonly group: ResourceGroup
  /**
   * `fits`: chosen. `nothing`: it contains no instance of the static name. `otherPlace`: its instances are for other jurisdictions.
   */
  readonly outcome: 'fits' | 'nothing' | 'otherPlace'
}

export type Selection<R extends Selectable> = {
  readonly chosen: { readonly resource: R; readonly group: ResourceGroup } | undefined
  /** Newest start first. The last one decided. */
  readonly considered: readonly Considered[]
}

/**
 * Selects the instance in force; all `instances` have the same static name. Considers the groups that have begun and are not
 * retired. The latest one with an instance that fits decides. With a jurisdiction, instances that list it come before those that
 * list none. Without one, instances that list none fit, and so does the only instance of a group.
 */
export function selectInForce<R extends Selectable>(
  instances: readonly R[],
  groups: readonly ResourceGroup[],
  { at, jurisdiction }: Selecting,
): Selection<R> {
  const byName = new Map(instances.map(instance => [instance.name, instance]))
  const considered: Considered[] = []
  for (const group of [...groups].sort(newestFirst)) {
    if (group.retired || group.selectionStart > at) continue
    const own = group.resourceNames.flatMap(name => byName.get(name) ?? [])
    const resource = findFitting(own, jurisdiction)
    if (resource) {
      considered.push({ group, outcome: 'fits' })
      return { chosen: { resource, group }, considered }
    }
    considered.push({ group, outcome: own.length === 0 ? 'nothing' : 'otherPlace' })
  }
  return { chosen: undefined, considered }
}

function findFitting<R extends Selectable>(
  own: readonly R[],
  jurisdiction: string | undefined,
): R | undefined {
  const everywhere = own.find(one => one.jurisdictions.length === 0)
  if (jurisdiction !== undefined)
    return own.find(one => one.jurisdictions.includes(jurisdiction)) ?? everywhere
  return everywhere ?? (own.length === 1 ? own[0] : undefined)
}

/** Sorts groups: the later start first, then the later creation, and then by locator. */
const newestFirst = (a: ResourceGroup, b: ResourceGroup): number =>
  b.selectionStart - a.selectionStart ||
  b.createdAt - a.createdAt ||
  Number(a.locator < b.locator) - Number(a.locator > b.locator)

/** The error (404) for a static name without a resource in force. */
export const notInForce = (name: string, { at, jurisdiction }: Selecting): Refusal =>
  new Refusal(
    'resourceNotInForce',
    `No resource of the static name '${name}' is in force at ${new Date(at).toISOString()}${jurisdiction === undefined ? '' : ` in '${jurisdiction}'`}; add one to a resource group that begins by then.`,
  )

/**
 * The error (404) for an unknown static name. Look-ups of tables take a name as a static name by default, which surprises users, so
 * the message says how to use the table's own name.
 */
export const unknownStaticName = (what: string, name: string): Refusal =>
  new Refusal(
    'notFound',
    `There is no ${what} of static name '${name}'; to use its own name, add byStaticName=false.`,
  )
