// Secrets as the Worker serves them. No answer, log or record of a write has a value of one.
import { createHash } from 'node:crypto'
import { auditRows } from '../../access/audit/store.ts'
import { notFound } from '../../kernel/errors.ts'
import { newUuid } from '../../kernel/locators.ts'
import { type AnswerBySubject, commit, type Guard, type JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import type { JsonText } from '../../platform/http/route.ts'
import { MASK } from '../../platform/outbound/masking.ts'
import { HOME_SHARD, homeDatabase } from '../../platform/tenancy.ts'
import { loadConfiguration, newestConfiguration, type VersionRow } from '../../product/cache.ts'
import type { Configuration, SecretDeclaration } from '../../product/configuration.ts'
import type { SelectionQuery } from '../contract.ts'
import { readResource } from '../in-force.ts'
import { basicResourceResponse } from '../projection.ts'
import { assertNew, recordedOnce } from '../recording.ts'
import type { Resource } from '../resource.ts'
import { contentsGuard, findResource, newNameGuard, resourceRows } from '../store.ts'
import type {
  SecretCreateQuery,
  SecretCreateRequest,
  SecretResponse,
  SecretUpdateQuery,
  SecretUpdateRequest,
} from './contract.ts'
import { changedItems, checkedHosts, newItems, type SecretContents } from './items.ts'
import { forgetSecrets } from './sending.ts'
import { putSecret, readContents, readNamed, sealedContents } from './store.ts'

export async function readSecret(
  name: string,
  { byStaticName, date, jurisdiction }: SelectionQuery,
  context: RequestContext,
): Promise<SecretResponse> {
  const database = homeDatabase(context)
  if (!byStaticName) return secretResponse(await secretNamed(context, database, name))
  const at = date ?? context.now
  const { resource } = await readResource(database, { name, byStaticName, at, jurisdiction, type: 'secret' })
  return secretResponse({ resource, ...(await readContents(context, database, resource.name)) })
}

/** 400 for items that do not fit the configuration's declaration; 409 for a name that is taken. */
export function createSecret(
  { name, staticName, secret, jurisdictions = [], allowedHosts }: SecretCreateRequest,
  { jurisdiction = [] }: SecretCreateQuery,
  context: RequestContext,
): Promise<JsonText> {
  const { now, caller } = context
  return written(context, async database => {
    const items = newItems(secret, await declarationOf(context, staticName))
    const resource: Resource = {
      name,
      type: 'secret',
      staticName,
      jurisdictions: [...new Set([...jurisdictions, ...jurisdiction])],
      createdAt: now,
      createdBy: caller.accountLocator,
      revision: newUuid(HOME_SHARD),
    }
    await assertNew(context, database, resource)
    const hosts = allowedHosts && checkedHosts(allowedHosts)
    return {
      resource,
      contents: { items, ...(hosts && { allowedHosts: hosts }) },
      guard: newNameGuard(resource),
      details: { items: Object.keys(items), ...(hosts && { allowedHosts: hosts }) },
    }
  })
}

/** Items that the request names are set, or with null taken away; all others stay. */
export const updateSecret = (
  name: string,
  request: SecretUpdateRequest,
  { allowedHosts }: SecretUpdateQuery,
  context: RequestContext,
): Promise<JsonText> =>
  written(context, async database => {
    const {
      resource: before,
      items: kept,
      allowedHosts: keptHosts,
    } = await secretNamed(context, database, name)
    const items = changedItems(kept, request, await declarationOf(context, before.staticName))
    const named = Object.keys(request)
    const isBound = allowedHosts ? allowedHosts.some(host => host !== '') : keptHosts !== undefined
    const hosts = allowedHosts ? checkedHosts(allowedHosts.filter(host => host !== '')) : keptHosts
    return {
      resource: { ...before, revision: newUuid(HOME_SHARD) },
      contents: { items, ...(isBound && hosts && { allowedHosts: hosts }) },
      guard: contentsGuard(before),
      details: {
        items: named.filter(item => Object.hasOwn(items, item)),
        removed: named.filter(item => !Object.hasOwn(items, item)),
        ...(allowedHosts && { allowedHosts: hosts ?? [] }),
      },
    }
  })

type Written = {
  resource: Resource
  contents: SecretContents
  guard: Guard
  /** For the audit trail: names, never values. */
  details: Readonly<Record<string, readonly string[]>>
}

function written(
  context: RequestContext,
  decide: (database: Database) => Promise<Written>,
): Promise<JsonText> {
  const database = homeDatabase(context)
  return recordedOnce(
    context,
    database,
    async (): Promise<JsonAnswer | AnswerBySubject> => {
      const { resource, contents, guard, details } = await decide(database)
      const { name, staticName, revision } = resource
      const sealed = await sealedContents(context, name, contents)
      const answer = await commit(context, database, {
        shard: HOME_SHARD,
        guards: [guard],
        facts: [
          ...resourceRows(database, resource, {
            locator: revision,
            resourceName: name,
            createdAt: context.now,
            createdBy: context.caller.accountLocator,
            sizeBytes: Buffer.byteLength(sealed),
            // Of what is kept: a hash of the values would let anyone who sees it try values out.
            hash: createHash('sha256').update(sealed).digest('hex'),
            mediaType: 'application/json',
          }),
          ...putSecret(database, name, sealed),
          ...auditRows(database, context, HOME_SHARD, [
            { action: 'secrets.write', subject: name, details: { staticName, ...details } },
          ]),
        ],
        events: [],
        answer: { status: 200, text: JSON.stringify(secretResponse({ resource, ...contents })) },
        subject: name,
      })
      forgetSecrets(context.tenant)
      return answer
    },
    async subject => secretResponse(await secretNamed(context, database, subject)),
  )
}

async function secretNamed(context: RequestContext, database: Database, name: string): Promise<NamedSecret> {
  const found = await readNamed(context, database, name)
  if (!found) throw notFound('secret', name)
  return found
}

export async function secretAt(database: Database, name: string): Promise<Resource> {
  const resource = await findResource(database, name)
  if (resource?.type !== 'secret') throw notFound('secret', name)
  return resource
}

type NamedSecret = { readonly resource: Resource } & SecretContents

const secretResponse = ({ resource, items, allowedHosts }: NamedSecret): SecretResponse => ({
  resource: basicResourceResponse(resource),
  secret: Object.fromEntries(Object.keys(items).map(name => [name, MASK])),
  ...(allowedHosts && { allowedHosts: [...allowedHosts] }),
})

/** How the newest configuration declares the secret; undefined: it does not. */
export async function declarationOf(
  context: RequestContext,
  staticName: string,
): Promise<SecretDeclaration | undefined> {
  const configuration = await newestConfiguration(context)
  return configuration && declarationIn(configuration, staticName)
}

const declarationIn = ({ secrets }: Configuration, staticName: string): SecretDeclaration | undefined =>
  Object.hasOwn(secrets, staticName) ? secrets[staticName] : undefined

/** Whether the version declares the secret, or has a script that reads secrets and writes this one's name out. */
export async function isReferredToBy(
  context: RequestContext,
  version: VersionRow | undefined,
  staticName: string,
): Promise<boolean> {
  if (!version) return false
  const { env, tenant, calls } = context
  const { configuration } = await loadConfiguration(env, tenant, version.hash, calls)
  if (declarationIn(configuration, staticName)) return true
  const written = ["'", '"', '`'].map(quote => quote + staticName + quote)
  return Object.values(configuration.scripts).some(
    source => source.includes('getSecret') && written.some(name => source.includes(name)),
  )
}
