// Resources of every type, and resource groups (resources brief 2).
import { auditRows } from '../access/audit/store.ts'
import {
  alreadyExists,
  invalidParameter,
  invalidRequest,
  notFound,
  tooLarge,
  wrongState,
} from '../kernel/errors.ts'
import { derivedUuid, newUuid, readUuid } from '../kernel/locators.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Database } from '../platform/database.ts'
import { requireMatch } from '../platform/http/entity-tags.ts'
import type { JsonText } from '../platform/http/route.ts'
import { type OffsetPage, offsetPage } from '../platform/paging.ts'
import { HOME_SHARD, homeDatabase } from '../platform/tenancy.ts'
import { versionQuery } from '../product/cache.ts'
import { clashes, MOST_GROUP_RESOURCES, RESOURCE_TYPES, type ResourceType } from '../product/resources.ts'
import type * as contract from './contract.ts'
import {
  documentUses,
  explainSelection,
  groupResponse,
  nothingInForce,
  resourceResponse,
} from './projection.ts'
import { quotedNames, recordOnce } from './recording.ts'
import {
  notInForce,
  type Resource,
  type ResourceGroup,
  type Selecting,
  selectInForce,
  unknownStaticName,
} from './resource.ts'
import * as store from './store.ts'

/**
 * Returns a resource by its own name or, with `byStaticName`, the one in force. `explain` adds the reasons, and gives a response
 * even if none is in force. Takes one round trip, and another to explain a resource by its own name.
 */
export async function showResource(
  name: string,
  { byStaticName, date, jurisdiction, explain }: contract.ExplainQuery,
  context: RequestContext,
): Promise<contract.ResourceResponse | contract.NothingInForceResponse> {
  const selecting = { at: date ?? context.now, jurisdiction }
  if (byStaticName) return await showInForce(name, selecting, explain ?? false, context)
  const database = homeDatabase(context)
  const [[row], [newest]] = await database.batch([
    store.resourceQuery(database, name),
    versionQuery(database, undefined),
  ])
  if (!row) throw notFound('resource', name)
  const resource = row as Resource
  const shown = resourceResponse(resource, await documentUses(context, newest, [resource]))
  if (!explain) return shown
  const { staticName, revision } = resource
  const { resources, groups } = await store.findCandidates(database, [staticName])
  const selection = selectInForce(resources, groups, selecting)
  if (selection.chosen) return { ...shown, explanation: explainSelection(resource, selection, jurisdiction) }
  const { explanation } = nothingInForce(staticName, groups, selection, selecting)
  return { ...shown, explanation: { revision, ...explanation } }
}

async function showInForce(
  name: string,
  selecting: Selecting,
  explain: boolean,
  context: RequestContext,
): Promise<contract.ResourceResponse | contract.NothingInForceResponse> {
  const database = homeDatabase(context)
  const [found, groupRows, members, [newest]] = await database.batch([
    ...store.candidateQueries(database, [name]),
    versionQuery(database, undefined),
  ])
  const { resources, groups } = store.candidatesOf([found, groupRows, members])
  if (resources.length === 0) throw unknownStaticName('resource', name)
  const selection = selectInForce(resources, groups, selecting)
  if (!selection.chosen && explain) return nothingInForce(name, groups, selection, selecting)
  if (!selection.chosen) throw notInForce(name, selecting)
  const { resource } = selection.chosen
  const shown = resourceResponse(resource, await documentUses(context, newest, [resource]))
  return explain
    ? { ...shown, explanation: explainSelection(resource, selection, selecting.jurisdiction) }
    : shown
}

/** Lists resources in the order of their creation. Throws 400 for a type that does not exist. */
export async function readResourceList(
  { offset = 0, count, extended }: contract.ListQuery,
  type: string | undefined,
  context: RequestContext,
): Promise<OffsetPage<contract.ResourceResponse>> {
  if (type !== undefined && !isType(type))
    throw invalidParameter(`'${type}' is not a type of resource; use one of ${RESOURCE_TYPES.join(', ')}.`)
  const database = homeDatabase(context)
  const [rows, [newest]] = await database.batch([
    store.listQuery(database, { ...(type && { type }), offset, count }),
    versionQuery(database, undefined),
  ])
  const found = rows as Resource[]
  const uses = await documentUses(context, newest, found)
  return offsetPage(found, { count, extended }, one => resourceResponse(one, uses))
}

const isType = (text: string): text is ResourceType => (RESOURCE_TYPES as readonly string[]).includes(text)

/** Creates a group. Rejects with 400 unknown resources, and with 409 the name of another group, or resources that clash. */
export const createGroup = (
  { name, selectionStartTime, resourceNames }: contract.ResourceGroupCreateRequest,
  context: RequestContext,
): Promise<JsonText> => {
  const { idempotency, caller, now } = context
  const locator = idempotency
    ? derivedUuid(HOME_SHARD, idempotency.key, idempotency.bodyHash)
    : newUuid(HOME_SHARD)
  return changeGroup(context, async () => ({
    group: {
      locator,
      name,
      selectionStart: selectionStartTime,
      createdAt: now,
      createdBy: caller.accountLocator,
      retired: false,
      version: 1,
      resourceNames: [...new Set(resourceNames)],
    },
    read: undefined,
  }))
}

/** Changes a group. Throws 404 for an unknown group, 409 for a retired one, and otherwise like `createGroup`. */
export const updateGroup = (
  locator: string,
  request: contract.ResourceGroupUpdateRequest,
  context: RequestContext,
): Promise<JsonText> =>
  changeGroup(context, async database => {
    const read = await groupAt(database, locator)
    return { group: applyUpdate(read, request), read }
  })

/** Retires a group, which is then never selected again. Repeating the request changes nothing. */
export const retireGroup = (locator: string, context: RequestContext): Promise<JsonText> =>
  changeGroup(context, async database => {
    const read = await groupAt(database, locator)
    return { group: read.retired ? read : { ...read, retired: true, version: read.version + 1 }, read }
  })

/** Throws 404 for an unknown group. One round trip. */
export async function readGroup(
  locator: string,
  context: RequestContext,
): Promise<contract.ResourceGroupResponse> {
  return groupResponse(await groupAt(homeDatabase(context), locator))
}

/** Lists groups in the order of their creation. One round trip. */
export async function readGroupList(
  { offset = 0, count, extended, excludeRetired, excludeActive }: contract.GroupListQuery,
  context: RequestContext,
): Promise<OffsetPage<contract.ResourceGroupResponse>> {
  const groups = await store.listGroups(homeDatabase(context), {
    excludeRetired,
    excludeActive,
    offset,
    count,
  })
  return offsetPage(groups, { count, extended }, groupResponse)
}

type GroupChange = { group: ResourceGroup; read: ResourceGroup | undefined }

function changeGroup(
  context: RequestContext,
  decide: (database: Database) => Promise<GroupChange>,
): Promise<JsonText> {
  const database = homeDatabase(context)
  return recordOnce(
    context,
    database,
    async () => {
      const { group, read } = await decide(database)
      if (read) requireMatch(context.ifMatch, () => groupResponse(read))
      if (!group.retired) checkMembers(group, await store.findResources(database, group.resourceNames))
      if (group.name !== read?.name && (await store.hasGroupNamed(database, group.name, group.locator)))
        throw alreadyExists(`There is already a resource group '${group.name}'; choose another name.`)
      return {
        guards: [store.groupGuard(group, read)],
        facts: [
          ...store.groupRows(database, group),
          ...(group === read
            ? []
            : auditRows(database, context, HOME_SHARD, [
                {
                  action: 'resource-groups.write',
                  subject: group.locator,
                  details: groupDetails(group, read),
                },
              ])),
        ],
        answer: groupResponse(group),
        subject: group.locator,
      }
    },
    async subject => groupResponse(await groupAt(database, subject)),
  )
}

/** The most names in one entry of the audit trail. */
const MOST_NAMED = 100

const shortenNames = (names: string[]): string[] =>
  names.length <= MOST_NAMED
    ? names
    : [...names.slice(0, MOST_NAMED), `and ${names.length - MOST_NAMED} more`]

/** Details for the audit trail: what changed, because prices depend on it (resources brief 2). */
function groupDetails(group: ResourceGroup, read: ResourceGroup | undefined) {
  const { name, selectionStart, retired, resourceNames } = group
  const [before, after] = [new Set(read?.resourceNames), new Set(resourceNames)]
  const isMoved = read !== undefined && read.selectionStart !== selectionStart
  return {
    name,
    selectionStartTime: new Date(selectionStart).toISOString(),
    ...(isMoved && { earlierSelectionStartTime: new Date(read.selectionStart).toISOString() }),
    added: shortenNames([...after].filter(one => !before.has(one))),
    removed: shortenNames([...before].filter(one => !after.has(one))),
    ...(retired && { retired }),
  }
}

async function groupAt(database: Database, text: string): Promise<ResourceGroup> {
  const locator = readUuid(text)
  const group = locator && (await store.findGroup(database, locator))
  if (!group) throw notFound('resource group', text)
  return group
}

/** Removes members first, and then adds others. Rejects with 409 a change of a retired group. */
function applyUpdate(group: ResourceGroup, request: contract.ResourceGroupUpdateRequest): ResourceGroup {
  if (group.retired)
    throw wrongState(`The resource group '${group.name}' is permanently retired; create another.`)
  const { name, selectionStartTime, addResources, removeResources } = request
  // A name in both lists is in the group afterwards, whether or not it was before (contract 2, update semantics).
  const absent = removeResources.filter(
    one => !group.resourceNames.includes(one) && !addResources.includes(one),
  )
  if (absent.length > 0)
    throw invalidRequest(
      `'removeResources' contains names that are not in the group: ${quotedNames(absent)}.`,
    )
  const remaining = group.resourceNames.filter(one => !removeResources.includes(one))
  const resourceNames = [...new Set([...remaining, ...addResources])]
  if (resourceNames.length > MOST_GROUP_RESOURCES)
    throw tooLarge(`A resource group can have at most ${MOST_GROUP_RESOURCES} resources.`)
  return {
    ...group,
    name,
    selectionStart: selectionStartTime,
    resourceNames,
    version: group.version + 1,
  }
}

/** Rejects with 400 names that no resource has, and with 409 two resources that the same look-up could select. */
function checkMembers({ resourceNames }: ResourceGroup, members: readonly Resource[]): void {
  const memberNames = new Set(members.map(member => member.name))
  const unknown = resourceNames.filter(one => !memberNames.has(one))
  if (unknown.length > 0)
    throw invalidRequest(
      `There are no resources with these names: ${quotedNames(unknown)}. Upload them first.`,
    )
  const [clash] = clashes(members)
  if (!clash) return
  const [one, other] = clash
  throw alreadyExists(
    `'${one.name}' and '${other.name}' both have the static name '${one.staticName}' for the same jurisdictions; a group can contain only one of them.`,
  )
}
