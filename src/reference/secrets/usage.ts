// Who refers to a secret: headers of webhooks and integrations, and the deployed configuration, by a declaration or a script.
import { sql } from 'drizzle-orm'
import { readIntegrations } from '../../extension/integrations/store.ts'
import { integrations } from '../../extension/integrations/tables.ts'
import type { Guard } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { webhooks } from '../../platform/events/tables.ts'
import { referencesIn } from '../../platform/outbound/secret-references.ts'
import { versionQuery } from '../../product/store.ts'
import type { Resource } from '../resource.ts'
import { findCandidates } from '../store.ts'
import type { SecretUsageResponse } from './contract.ts'
import { isReferredToBy } from './declared.ts'

const refers = (staticName: string) =>
  sql`exists (select 1 from json_each(${webhooks.secretNames}) where value = ${staticName})`

/** Says whether an integration was added, changed or removed: what they refer to is sealed, and no query sees it. */
const integrationsMark = sql`(select count(*) || '/' || coalesce(max(updated_at), 0) from ${integrations})`

/** Who refers to it, and a guard that holds while no one else begins to. */
export async function usageOf(
  context: RequestContext,
  database: Database,
  { name, staticName }: Resource,
): Promise<{ usage: SecretUsageResponse; guards: Guard[] }> {
  // First of all, so that an integration that is changed in between is noticed.
  const [[mark], hooks, [version]] = await database.batch([
    database.build.all<{ mark: string }>(sql`select ${integrationsMark} as mark`),
    database.build
      .select({ locator: webhooks.locator, name: webhooks.name })
      .from(webhooks)
      .where(refers(staticName))
      .orderBy(webhooks.createdAt, webhooks.locator),
    versionQuery(database, undefined),
  ])
  const [present, isConfigured, { resources, groups }] = await Promise.all([
    readIntegrations(context),
    isReferredToBy(context, version, staticName),
    findCandidates(database, [staticName]),
  ])
  const connected = [...present.values()].filter(({ headers }) =>
    Object.values(headers).some(value => referencesIn(value).some(one => one.staticName === staticName)),
  )
  const isReferredTo = hooks.length > 0 || connected.length > 0 || isConfigured
  const mayBeMeant =
    resources.length <= 1 || groups.some(group => !group.retired && group.resourceNames.includes(name))
  return {
    usage: {
      staticName,
      webhooks: hooks,
      integrations: connected.map(one => one.name),
      ...(isConfigured && version && { configVersion: version.version }),
      isNeeded: isReferredTo && mayBeMeant,
    },
    guards: [
      { name: 'guard_resource', holds: sql`${integrationsMark} = ${mark!.mark}` },
      {
        name: 'guard_resource',
        holds: sql`(select count(*) from ${webhooks} where ${refers(staticName)}) <= ${hooks.length}`,
      },
    ],
  }
}
