// Finds references to a secret: headers of webhooks and integrations, and declarations or scripts of the deployed configuration.

import { z } from '@hono/zod-openapi'
import { sql } from 'drizzle-orm'
import { auditRows } from '../../access/audit/store.ts'
import { readIntegrations } from '../../extension/integrations/store.ts'
import { integrations } from '../../extension/integrations/tables.ts'
import { type Refusal, wrongState } from '../../kernel/errors.ts'
import type { Guard } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { webhooks } from '../../platform/events/tables.ts'
import type { JsonText } from '../../platform/http/route.ts'
import { referencesIn } from '../../platform/outbound/masking.ts'
import { HOME_SHARD, homeDatabase } from '../../platform/tenancy.ts'
import { booleanOr, component, Flag, Integer, Text } from '../../platform/wire.ts'
import { versionQuery } from '../../product/cache.ts'
import { recordOnce } from '../../reference/recording.ts'
import type { Resource } from '../../reference/resource.ts'
import { forgetSecrets } from '../../reference/secrets/sending.ts'
import { isReferredToBy, secretAt } from '../../reference/secrets/service.ts'
import { secretDeletion } from '../../reference/secrets/store.ts'
import { contentsGuard, findCandidates } from '../../reference/store.ts'

const refersToSecret = (staticName: string) =>
  sql`exists (select 1 from json_each(${webhooks.secretNames}) where value = ${staticName})`

/** A value that changes with every change of an integration. References of integrations are sealed, so SQL cannot read them. */
const integrationsMark = sql`(select count(*) || '/' || coalesce(max(updated_at), 0) from ${integrations})`

/** Returns what refers to the secret, and guards that fail if anything else begins to refer to it before the commit. */
async function findUsage(
  context: RequestContext,
  database: Database,
  { name, staticName }: Resource,
): Promise<{ usage: SecretUsageResponse; guards: Guard[] }> {
  // Read first, so that a concurrent change of an integration is noticed.
  const [[mark], referringWebhooks, [version]] = await database.batch([
    database.build.all<{ mark: string }>(sql`select ${integrationsMark} as mark`),
    database.build
      .select({ locator: webhooks.locator, name: webhooks.name })
      .from(webhooks)
      .where(refersToSecret(staticName))
      .orderBy(webhooks.createdAt, webhooks.locator),
    versionQuery(database, undefined),
  ])
  const [present, isConfigured, { resources, groups }] = await Promise.all([
    readIntegrations(context),
    isReferredToBy(context, version, staticName),
    findCandidates(database, [staticName]),
  ])
  const referringIntegrations = [...present.values()].filter(({ headers }) =>
    Object.values(headers).some(value => referencesIn(value).some(one => one.staticName === staticName)),
  )
  const isReferredTo = referringWebhooks.length > 0 || referringIntegrations.length > 0 || isConfigured
  const mayMeanThisOne =
    resources.length <= 1 || groups.some(group => !group.retired && group.resourceNames.includes(name))
  return {
    usage: {
      staticName,
      webhooks: referringWebhooks,
      integrations: referringIntegrations.map(one => one.name),
      ...(isConfigured && version && { configVersion: version.version }),
      isNeeded: isReferredTo && mayMeanThisOne,
    },
    guards: [
      { name: 'guard_resource', holds: sql`${integrationsMark} = ${mark!.mark}` },
      {
        name: 'guard_resource',
        holds: sql`(select count(*) from ${webhooks} where ${refersToSecret(staticName)}) <= ${referringWebhooks.length}`,
      },
    ],
  }
}

/** Deletes a secret and removes it from its groups. Throws 409 while something refers to it, unless forced. */
export async function deleteSecret(
  name: string,
  { force }: SecretDeleteQuery,
  context: RequestContext,
): Promise<JsonText> {
  const database = homeDatabase(context)
  const answer = await recordOnce(
    context,
    database,
    async () => {
      const resource = await secretAt(database, name)
      const { usage, guards } = await findUsage(context, database, resource)
      if (usage.isNeeded && !force) throw secretInUse(name, usage)
      const details = { staticName: resource.staticName, ...(usage.isNeeded && { force }) }
      return {
        guards: [contentsGuard(resource), ...(force ? [] : guards)],
        facts: [
          ...secretDeletion(database, name),
          ...auditRows(database, context, HOME_SHARD, [{ action: 'secrets.delete', subject: name, details }]),
        ],
        subject: name,
      }
    },
    async subject => ({ deleted: subject }),
  )
  forgetSecrets(context.tenant)
  return answer
}

/**
 * Returns what refers to the secret: webhooks, integrations, and the newest configuration version. Throws 404 if there is no such
 * secret.
 */
export async function readUsage(name: string, context: RequestContext): Promise<SecretUsageResponse> {
  const database = homeDatabase(context)
  return (await findUsage(context, database, await secretAt(database, name))).usage
}

function secretInUse(
  name: string,
  { staticName, webhooks, integrations, configVersion }: SecretUsageResponse,
): Refusal {
  const users = [
    ...webhooks.map(one => `the webhook '${one.name}'`),
    ...integrations.map(one => `the integration '${one}'`),
    ...(configVersion === undefined ? [] : [`configuration version ${configVersion}`]),
  ]
  return wrongState(
    `The secret '${name}' (${staticName}) is in use: ${users.slice(0, 20).join(', ')}. Remove the references, or send force=true.`,
  )
}

export const SecretDeleteQuery = z.object({
  force: booleanOr(false).describe('Whether to delete it although something refers to it.'),
})

export type SecretDeleteQuery = z.output<typeof SecretDeleteQuery>

export const SecretUsageResponse = component('SecretUsageResponse', {
  staticName: Text,
  webhooks: z.array(z.object({ locator: Text, name: Text })),
  integrations: z.array(Text).describe('Names.'),
  configVersion: Integer.optional().describe(
    'The deployed version, if it declares the secret or one of its scripts reads it.',
  ),
  isNeeded: Flag.describe(
    'Whether a deletion is rejected, because a reference to the static name may mean this secret.',
  ),
})

export type SecretUsageResponse = z.output<typeof SecretUsageResponse>
