// Resources of every type as the Worker lists them.
import { invalidParameter, notFound } from '../kernel/errors.ts'
import type { RequestContext } from '../platform/context.ts'
import { offsetPage } from '../platform/paging.ts'
import { homeDatabase } from '../platform/tenancy.ts'
import { versionQuery } from '../product/cache.ts'
import { RESOURCE_TYPES, type ResourceType } from '../product/resources.ts'
import type {
  ExplainQuery,
  ListQuery,
  NothingInForceResponse,
  ResourceListResponse,
  ResourceResponse,
} from './contract.ts'
import { documentUses } from './document-use.ts'
import { notInForce, unknownStaticName, type Wanted } from './in-force.ts'
import { explained, nothingInForce, resourceResponse } from './projection.ts'
import { type Resource, selectInForce } from './resource.ts'
import { candidateQueries, candidatesOf, findCandidates, listQuery, resourceQuery } from './store.ts'

/**
 * By its own name, or with `byStaticName` the one in force; `explain` says why it is, and answers also where none of the
 * static name is in force. One round trip, and another one to explain a resource by its own name.
 */
export async function showResource(
  name: string,
  { byStaticName, date, jurisdiction, explain }: ExplainQuery,
  context: RequestContext,
): Promise<ResourceResponse | NothingInForceResponse> {
  const wanted: Wanted = { name, byStaticName, at: date ?? context.now, jurisdiction }
  if (byStaticName) return await showInForce(wanted, explain ?? false, context)
  const database = homeDatabase(context)
  const [[row], [newest]] = await database.batch([
    resourceQuery(database, name),
    versionQuery(database, undefined),
  ])
  if (!row) throw notFound('resource', name)
  const resource = row as Resource
  const shown = resourceResponse(resource, await documentUses(context, newest, [resource]))
  if (!explain) return shown
  const { staticName, revision } = resource
  const { resources, groups } = await findCandidates(database, [staticName])
  const selection = selectInForce(resources, groups, wanted)
  if (selection.chosen) return { ...shown, explanation: explained(resource, selection, jurisdiction) }
  const { explanation } = nothingInForce(staticName, groups, selection, wanted)
  return { ...shown, explanation: { revision, ...explanation } }
}

async function showInForce(
  wanted: Wanted,
  explain: boolean,
  context: RequestContext,
): Promise<ResourceResponse | NothingInForceResponse> {
  const { name, jurisdiction } = wanted
  const database = homeDatabase(context)
  const [found, groupRows, members, [newest]] = await database.batch([
    ...candidateQueries(database, [name]),
    versionQuery(database, undefined),
  ])
  const { resources, groups } = candidatesOf([found, groupRows, members])
  if (resources.length === 0) throw unknownStaticName('resource', name)
  const selection = selectInForce(resources, groups, wanted)
  if (!selection.chosen && explain) return nothingInForce(name, groups, selection, wanted)
  if (!selection.chosen) throw notInForce(wanted)
  const { resource } = selection.chosen
  const shown = resourceResponse(resource, await documentUses(context, newest, [resource]))
  return explain ? { ...shown, explanation: explained(resource, selection, jurisdiction) } : shown
}

export async function readResourceList(
  { offset = 0, count, extended }: ListQuery,
  type: string | undefined,
  context: RequestContext,
): Promise<ResourceListResponse | ResourceResponse[]> {
  if (type !== undefined && !isType(type))
    throw invalidParameter(`'${type}' is no type of resource; there are ${RESOURCE_TYPES.join(', ')}.`)
  const database = homeDatabase(context)
  const [rows, [newest]] = await database.batch([
    listQuery(database, { ...(type && { type }), offset, count }),
    versionQuery(database, undefined),
  ])
  const found = rows as Resource[]
  const uses = await documentUses(context, newest, found)
  return offsetPage(found, { count, extended }, one => resourceResponse(one, uses))
}

const isType = (text: string): text is ResourceType => (RESOURCE_TYPES as readonly string[]).includes(text)
