// Resource groups as the Worker serves them.

import { alreadyExists, notFound } from '../../kernel/errors.ts'
import { derivedUuid, newUuid, readUuid } from '../../kernel/locators.ts'
import { commit } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { requireMatch } from '../../platform/http/entity-tags.ts'
import type { JsonText } from '../../platform/http/route.ts'
import { type OffsetPage, offsetPage } from '../../platform/paging.ts'
import { HOME_SHARD, homeDatabase } from '../../platform/tenancy.ts'
import type {
  GroupListQuery,
  ResourceGroupCreateRequest,
  ResourceGroupResponse,
  ResourceGroupUpdateRequest,
} from '../contract.ts'
import { groupResponse } from '../projection.ts'
import { recordedOnce } from '../recording.ts'
import type { ResourceGroup } from '../resource.ts'
import { findGroup, findResources, groupGuard, groupRows, hasGroupNamed, listGroups } from '../store.ts'
import { changedGroup, checkMembers, newGroup, retiredGroup } from './change.ts'

/** 400 for unknown resources; 409 for a name that another group has, or resources that clash. */
export const createGroup = (
  request: ResourceGroupCreateRequest,
  context: RequestContext,
): Promise<JsonText> => {
  const { idempotency, caller, now } = context
  const locator = idempotency
    ? derivedUuid(HOME_SHARD, idempotency.key, idempotency.bodyHash)
    : newUuid(HOME_SHARD)
  return written(context, async () => ({
    group: newGroup(request, { locator, createdAt: now, createdBy: caller.accountLocator }),
    read: undefined,
  }))
}

export const updateGroup = (
  locator: string,
  request: ResourceGroupUpdateRequest,
  context: RequestContext,
): Promise<JsonText> =>
  written(context, async database => {
    const read = await groupAt(database, locator)
    return { group: changedGroup(read, request), read }
  })

/** Never selected again, for good; retiring it twice changes nothing. */
export const retireGroup = (locator: string, context: RequestContext): Promise<JsonText> =>
  written(context, async database => {
    const read = await groupAt(database, locator)
    return { group: read.retired ? read : retiredGroup(read), read }
  })

export async function readGroup(locator: string, context: RequestContext): Promise<ResourceGroupResponse> {
  return groupResponse(await groupAt(homeDatabase(context), locator))
}

export async function readGroupList(
  { offset = 0, count, extended, excludeRetired, excludeActive }: GroupListQuery,
  context: RequestContext,
): Promise<OffsetPage<ResourceGroupResponse>> {
  const found = await listGroups(homeDatabase(context), { excludeRetired, excludeActive, offset, count })
  return offsetPage(found, { count, extended }, groupResponse)
}

type Written = { group: ResourceGroup; read: ResourceGroup | undefined }

function written(
  context: RequestContext,
  decide: (database: Database) => Promise<Written>,
): Promise<JsonText> {
  const database = homeDatabase(context)
  return recordedOnce(
    context,
    database,
    async () => {
      const { group, read } = await decide(database)
      if (read) requireMatch(context.ifMatch, () => groupResponse(read))
      if (!group.retired) checkMembers(group, await findResources(database, group.resourceNames))
      if (group.name !== read?.name && (await hasGroupNamed(database, group.name, group.locator)))
        throw alreadyExists(`There is a resource group '${group.name}' already; choose another name.`)
      return await commit(context, database, {
        shard: HOME_SHARD,
        guards: [groupGuard(group, read)],
        facts: groupRows(database, group),
        events: [],
        answer: { status: 200, text: JSON.stringify(groupResponse(group)) },
        subject: group.locator,
      })
    },
    async subject => groupResponse(await groupAt(database, subject)),
  )
}

async function groupAt(database: Database, text: string): Promise<ResourceGroup> {
  const locator = readUuid(text)
  const group = locator && (await findGroup(database, locator))
  if (!group) throw notFound('resource group', text)
  return group
}
