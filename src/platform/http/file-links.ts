// Addresses of files in answers. An answer names a file; as it leaves the service, each name becomes a signed address
// that holds for 30 minutes (brief 5.1). So a stored answer that is given again has addresses that work, and whoever
// makes answers needs no secret.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Instant, instant } from '../../kernel/time.ts'
import { secretsIn } from '../sealed.ts'
import { fileKey, type Tenant } from '../tenancy.ts'
import { groupOf } from './permissions.ts'
import type { Route } from './route.ts'

/** Folders below a tenant's place in R2 whose files answers name. */
type Folder = 'documents' | 'media'

const named = (folder: Folder, locator: string, fileName: string): string =>
  `file:${folder}/${locator}/${encodeURIComponent(fileName)}`

/** `url` and `urlExpirationTimestamp` of a file, until the answer leaves. */
export const fileAddress = (folder: Folder, locator: string, fileName: string) => ({
  url: named(folder, locator, fileName),
  urlExpirationTimestamp: '0',
})

/** `url` and `expiresTimestamp`, as media have them. */
export const mediaAddress = (locator: string, fileName: string) => ({
  url: named('media', locator, fileName),
  expiresTimestamp: '0',
})

/**
 * Groups of routes whose answers have properties that clients, tables or tenant code name, e.g. `url`. They name no files,
 * and what reads like the name of one there gives no address: it would be one for whoever knows a document's locator.
 */
const OPEN_GROUPS: ReadonlySet<string> = new Set('calculations lambda tables constraints events'.split(' '))

/** Whether answers of the route may name files. */
export const mayNameFiles = ({ access }: Pick<Route, 'access'>): boolean =>
  'permissions' in access && !access.permissions?.some(permission => OPEN_GROUPS.has(groupOf(permission)))

/**
 * Quotes cannot stand in a text of JSON as they are, so no text reads like this; and a file is named by a UUID
 * of the signed-in tenant.
 */
const NAMED =
  /"url":"file:(documents|media)\/([0-9a-f-]{36})\/([^"\\]*)","(urlExpirationTimestamp|expiresTimestamp)":"0"/g

type Signing = { env: Pick<Env, 'TOKEN_SECRET'>; origin: string; now: Instant }

/** The JSON with addresses in place of names. `now` is the real time. */
export const withFileAddresses = (json: string, signing: Signing, tenant: Tenant): string =>
  json.includes('"url":"file:')
    ? json.replace(NAMED, (_, folder: Folder, locator: string, name: string, property: string) => {
        const file = { path: [folder, locator], fileName: decodeURIComponent(name) }
        const { address, expiresAt } = signedAddress(signing, tenant, file)
        return `"url":${JSON.stringify(address)},"${property}":"${expiresAt}"`
      })
    : json

// Addresses of a tenant's files that work without a token, for a while: what names the file is signed, with the
// tenant and its generation, so that a link of a tenant that was deleted or recreated leads nowhere.
/** How long an address holds (brief 5.1). */
export const LINK_LIFE_MS = 30 * 60 * 1000

/** Path that the addresses have. */
export const FILES_PATH = '/files/{token}'

/** Keeps these signatures apart from those of paging tokens, which have the same secret. */
const PURPOSE = 'signed link\n'

export type FileLink = {
  readonly tenantLocator: string
  readonly generation: number
  /** Below the tenant's own place in R2. */
  readonly path: readonly string[]
  /** What a browser saves it as. */
  readonly fileName: string
  readonly expiresAt: Instant
}

/** The address of a file of the tenant: `<origin>/files/<token>`. `now` is the real time, not the tenant's. */
export function signedAddress(
  { env, origin, now }: Signing,
  { locator, generation }: Tenant,
  file: { path: readonly string[]; fileName: string },
): { address: string; expiresAt: Instant } {
  const expiresAt = (now + LINK_LIFE_MS) as Instant
  const link: FileLink = { tenantLocator: locator, generation, ...file, expiresAt }
  return { address: origin + FILES_PATH.replace('{token}', linkToken(env.TOKEN_SECRET, link)), expiresAt }
}

/** The signed text: `<link>.<signature>`, both base64url. */
export function linkToken(secret: string, link: FileLink): string {
  const { tenantLocator, generation, path, fileName, expiresAt } = link
  const fields = JSON.stringify([tenantLocator, generation, path, fileName, expiresAt])
  const text = Buffer.from(fields).toString('base64url')
  return `${text}.${signature(secretsOf(secret)[0]!, text).toString('base64url')}`
}

/** The link of a token; undefined when it was not signed here, or has expired. */
export function readLinkToken(secrets: string, token: string, now: Instant): FileLink | undefined {
  const [text, signed, ...rest] = token.split('.')
  if (text === undefined || signed === undefined || rest.length > 0) return undefined
  // As it is written, since several texts of base64url stand for the same bytes.
  const given = Buffer.from(signed)
  const isRight = secretsOf(secrets).some(secret => {
    const right = Buffer.from(signature(secret, text).toString('base64url'))
    return given.length === right.length && timingSafeEqual(given, right)
  })
  if (!isRight) return undefined
  type Fields = [string, number, string[], string, number]
  const fields = JSON.parse(Buffer.from(text, 'base64url').toString()) as Fields
  const [tenantLocator, generation, path, fileName, expires] = fields
  const expiresAt = instant(expires)
  if (expiresAt === undefined || expiresAt <= now) return undefined
  return { tenantLocator, generation, path, fileName, expiresAt }
}

/** Where the file is in R2; undefined when the tenant is not the one that the link was made for. */
export const linkedKey = (link: FileLink, tenant: Tenant | undefined): string | undefined =>
  tenant?.locator === link.tenantLocator && tenant.generation === link.generation
    ? fileKey(tenant, ...link.path)
    : undefined

const signature = (secret: string, text: string): Buffer =>
  createHmac('sha256', secret)
    .update(PURPOSE + text)
    .digest()

/** TOKEN_SECRET: signatures of earlier ones still hold. */
const secretsOf = (text: string | undefined): string[] => secretsIn('TOKEN_SECRET', text)
