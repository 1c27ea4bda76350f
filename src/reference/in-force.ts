// The resource that a request means: by its own name, or the one of a static name that is in force.
import { notFound, Refusal } from '../kernel/errors.ts'
import type { Instant } from '../kernel/time.ts'
import type { Database } from '../platform/database.ts'
import type { ResourceType } from '../product/resources.ts'
import { type Resource, selectInForce } from './resource.ts'
import { findCandidates, findResource } from './store.ts'

export type Wanted = {
  readonly name: string
  readonly byStaticName: boolean
  readonly at: Instant
  readonly jurisdiction?: string | undefined
  /** Of which type it must be; any, when left out. */
  readonly type?: ResourceType
}

/**
 * One round trip. Refuses: 404 `notFound` where no resource has the name, `resourceNotInForce` where none of the static
 * name is in force then and there (resources brief 1.4).
 */
export async function readResource(
  database: Database,
  wanted: Wanted,
): Promise<{ readonly resource: Resource }> {
  const { name, byStaticName, type } = wanted
  if (!byStaticName) {
    const resource = await findResource(database, name)
    if (!resource || (type && resource.type !== type)) throw notFound(type ?? 'resource', name)
    return { resource }
  }
  const { resources, groups } = await findCandidates(database, [name])
  const ofType = resources.filter(one => type === undefined || one.type === type)
  if (ofType.length === 0) throw unknownStaticName(type ?? 'resource', name)
  const selection = selectInForce(ofType, groups, wanted)
  if (!selection.chosen) throw notInForce(wanted)
  return { resource: selection.chosen.resource }
}

export const notInForce = ({ name, at, jurisdiction }: Wanted): Refusal =>
  new Refusal(
    'resourceNotInForce',
    `No resource of the static name '${name}' is in force at ${new Date(at).toISOString()}${
      jurisdiction === undefined ? '' : ` in '${jurisdiction}'`
    }; put one into a resource group that begins by then.`,
  )

/** Look-ups of tables read a name as a static name where the request does not say, which surprises. */
export const unknownStaticName = (what: string, name: string): Refusal =>
  new Refusal(
    'notFound',
    `There is no ${what} of static name '${name}'; for the name of its own add byStaticName=false.`,
  )
