// Creates, changes and shows secrets. No response, log or record of a write contains a value.
import { createHash } from 'node:crypto'
import { auditRows } from '../../access/audit/store.ts'
import { notFound } from '../../kernel/errors.ts'
import { newUuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import type { JsonText } from '../../platform/http/route.ts'
import { MASK } from '../../platform/outbound/masking.ts'
import { HOME_SHARD, homeDatabase } from '../../platform/tenancy.ts'
import { loadConfiguration, newestConfiguration, type VersionRow } from '../../product/cache.ts'
import type { Configuration, SecretDeclaration } from '../../product/configuration.ts'
import type { SelectionQuery } from '../contract.ts'
import { basicResourceResponse } from '../projection.ts'
import { type Change, newResource, recordOnce, resourceWrite } from '../recording.ts'
import type { Resource } from '../resource.ts'
import { findResource, readResource } from '../store.ts'
import type {
  SecretCreateQuery,
  SecretCreateRequest,
  SecretResponse,
  SecretUpdateQuery,
  SecretUpdateRequest,
} from './contract.ts'
import { changedItems, newItems, parseAllowedHosts, type SecretContents } from './items.ts'
import { forgetSecrets } from './sending.ts'
import { putSecret, readNamed, sealedContents } from './store.ts'

/** Returns the secret with masked values. Throws the 404 of `readResource`. One round trip, and another by static name. */
export async function readSecret(
  name: string,
  query: SelectionQuery,
  context: RequestContext,
): Promise<SecretResponse> {
  const database = homeDatabase(context)
  const ownName = query.byStaticName ? (await readResource(context, 'secret', name, query)).name : name
  return secretResponse(await secretNamed(context, database, ownName))
}

/**
 * Creates a secret. Rejects with 400 items that do not match the configuration's declaration, and with 409 a name that is taken.
 */
export function createSecret(
  { name, staticName, secret, jurisdictions = [], allowedHosts }: SecretCreateRequest,
  { jurisdiction = [] }: SecretCreateQuery,
  context: RequestContext,
): Promise<JsonText> {
  return changeSecret(context, async database => {
    const items = newItems(secret, await declarationOf(context, staticName))
    const names = { name, staticName, jurisdiction: [...jurisdictions, ...jurisdiction] }
    const resource = await newResource('secret', names, context, database)
    const hosts = allowedHosts && parseAllowedHosts(allowedHosts)
    return {
      before: undefined,
      resource,
      contents: { items, ...(hosts && { allowedHosts: hosts }) },
      details: { items: Object.keys(items), ...(hosts && { allowedHosts: hosts }) },
    }
  })
}

/** Sets the items in the request, or removes them if they are null. Other items are unchanged. */
export const updateSecret = (
  name: string,
  request: SecretUpdateRequest,
  { allowedHosts }: SecretUpdateQuery,
  context: RequestContext,
): Promise<JsonText> =>
  changeSecret(context, async database => {
    const {
      resource: before,
      items: kept,
      allowedHosts: keptHosts,
    } = await secretNamed(context, database, name)
    const items = changedItems(kept, request, await declarationOf(context, before.staticName))
    const named = Object.keys(request)
    const isBound = allowedHosts ? allowedHosts.some(host => host !== '') : keptHosts !== undefined
    const hosts = allowedHosts ? parseAllowedHosts(allowedHosts.filter(host => host !== '')) : keptHosts
    return {
      before,
      resource: { ...before, revision: newUuid(HOME_SHARD) },
      contents: { items, ...(isBound && hosts && { allowedHosts: hosts }) },
      details: {
        items: named.filter(item => Object.hasOwn(items, item)),
        removed: named.filter(item => !Object.hasOwn(items, item)),
        ...(allowedHosts && { allowedHosts: hosts ?? [] }),
      },
    }
  })

type SecretChange = Change & {
  contents: SecretContents
  /** For the audit trail: names, but never values. */
  details: Readonly<Record<string, readonly string[]>>
}

async function changeSecret(
  context: RequestContext,
  decide: (database: Database) => Promise<SecretChange>,
): Promise<JsonText> {
  const database = homeDatabase(context)
  const answer = await recordOnce(
    context,
    database,
    async () => {
      const { before, resource, contents, details } = await decide(database)
      const { name, staticName } = resource
      const sealed = await sealedContents(context, name, contents)
      const write = resourceWrite(
        database,
        { before, resource },
        {
          sizeBytes: Buffer.byteLength(sealed),
          // A hash of the sealed contents. A hash of the values would let a reader test guesses.
          hash: createHash('sha256').update(sealed).digest('hex'),
          mediaType: 'application/json',
        },
        context,
      )
      return {
        ...write,
        facts: [
          ...write.facts,
          ...putSecret(database, name, sealed),
          ...auditRows(database, context, HOME_SHARD, [
            { action: 'secrets.write', subject: name, details: { staticName, ...details } },
          ]),
        ],
        answer: secretResponse({ resource, ...contents }),
      }
    },
    async subject => secretResponse(await secretNamed(context, database, subject)),
  )
  forgetSecrets(context.tenant)
  return answer
}

async function secretNamed(context: RequestContext, database: Database, name: string): Promise<NamedSecret> {
  const secret = await readNamed(context, database, name)
  if (!secret) throw notFound('secret', name)
  return secret
}

/** Finds a secret by its name. Throws 404 if there is none, or if the resource is of another type. One round trip. */
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

/** The declaration of the secret in the newest configuration; undefined if there is none. */
async function declarationOf(
  context: RequestContext,
  staticName: string,
): Promise<SecretDeclaration | undefined> {
  const configuration = await newestConfiguration(context)
  return configuration && declarationIn(configuration, staticName)
}

const declarationIn = ({ secrets }: Configuration, staticName: string): SecretDeclaration | undefined =>
  Object.hasOwn(secrets, staticName) ? secrets[staticName] : undefined

/** Whether the version declares the secret, or has a script that reads secrets and contains this name as a literal. */
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
