// Resources of every type as the Worker lists them.
import type { RequestContext } from '../platform/context.ts'
import { Refusal } from '../platform/errors.ts'
import { offsetPage } from '../platform/offset-page.ts'
import { homeDatabase } from '../platform/tenancy.ts'
import type { ExplainQuery, ListQuery, ResourceListResponse, ResourceResponse } from './contract.ts'
import { readResource } from './in-force.ts'
import { explained, resourceResponse } from './projection.ts'
import { RESOURCE_TYPES, type ResourceType } from './resource.ts'
import { selectInForce } from './selection.ts'
import { findCandidates, listResources } from './store.ts'

/** By its own name, or with `byStaticName` the one in force; `explain` says why. */
export async function showResource(
  name: string,
  { byStaticName, date, jurisdiction, explain }: ExplainQuery,
  context: RequestContext,
): Promise<ResourceResponse> {
  const database = homeDatabase(context)
  const at = date ?? context.now
  const { resource, selection } = await readResource(database, { name, byStaticName, at, jurisdiction })
  const shown = resourceResponse(resource)
  if (!explain) return shown
  if (selection) return { ...shown, explanation: explained(resource, selection, jurisdiction) }
  const { resources, groups } = await findCandidates(database, [resource.staticName])
  return {
    ...shown,
    explanation: explained(resource, selectInForce(resources, groups, { at, jurisdiction }), jurisdiction),
  }
}

export async function readResourceList(
  { offset = 0, count, extended }: ListQuery,
  type: string | undefined,
  context: RequestContext,
): Promise<ResourceListResponse | ResourceResponse[]> {
  if (type !== undefined && !isType(type))
    throw new Refusal(
      'invalidParameter',
      `'${type}' is no type of resource; there are ${RESOURCE_TYPES.join(', ')}.`,
    )
  const found = await listResources(homeDatabase(context), { ...(type && { type }), offset, count })
  return offsetPage(found, { count, extended }, resourceResponse)
}

const isType = (text: string): text is ResourceType => (RESOURCE_TYPES as readonly string[]).includes(text)
