// Addresses of files in responses. A response names a file. When it leaves the service, each name becomes a signed address that is
// valid for 30 minutes (brief 5.1). Stored responses therefore get new addresses, and code that builds responses needs no secret.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Instant, instant } from '../../kernel/time.ts'
import { secretsIn } from '../sealed.ts'
import { fileKey, type Tenant } from '../tenancy.ts'
import { groupOf } from './permissions.ts'
import type { Route } from './route.ts'

/** Folders of a tenant in R2. */
type Folder = 'documents' | 'media' | 'reports'

const fileReference = (folder: Folder, locator: string, fileName: string): string =>
  `file:${folder}/${locator}/${encodeURIComponent(fileName)}`

/** Returns `url` and `urlExpirationTimestamp` in the form that they have until the response leaves the service. */
export const fileAddress = (folder: Folder, locator: string, fileName: string) => ({
  url: fileReference(folder, locator, fileName),
  urlExpirationTimestamp: '0',
})

/** Like `fileAddress`, for a file of a report. */
export const reportAddress = (locator: string, fileName: string) => fileAddress('reports', locator, fileName)

/** Returns `url` and `expiresTimestamp`, the properties of media. */
export const mediaAddress = (locator: string, fileName: string) => ({
  url: fileReference('media', locator, fileName),
  expiresTimestamp: '0',
})

/**
 * Groups of the routes whose responses name files. In responses of other groups, clients, tables or tenant code may choose names of
 * properties, e.g. `url` of a header. A forged file name there must not become an address: anyone who knows a document's locator
 * could get one.
 */
const FILE_GROUPS: ReadonlySet<string> = new Set([
  ...['policies', 'quotes', 'endorsements', 'renewals', 'cancellations', 'reinstatements', 'lapses'],
  ...['invoices', 'payments', 'transactions', 'media', 'reports', 'export'],
])

/** Whether file references in responses of the route become addresses: one of its permissions must be of such a group. */
export const mayNameFiles = ({ access }: Pick<Route, 'access'>): boolean =>
  'permissions' in access &&
  access.permissions?.some(permission => FILE_GROUPS.has(groupOf(permission))) === true

/**
 * Clients cannot forge a reference: JSON escapes quotation marks inside text, so no text matches. The UUID is resolved within the
 * signed-in tenant.
 */
const FILE_REFERENCE =
  /"url":"file:(documents|media|reports)\/([0-9a-f-]{36})\/([^"\\]*)","(urlExpirationTimestamp|expiresTimestamp)":"0"/g

/**
 * Returns the same JSON, escaped so that nothing in it is read as the name of a file. For text with properties that clients name.
 */
export const withoutFileNames = (json: string): string =>
  json.replaceAll('"url":"file:', '"url":"\\u0066ile:')

type Signing = { env: Pick<Env, 'TOKEN_SECRET'>; origin: string; now: Instant }

/** Replaces file names in the JSON by addresses. `now` is real time. */
export const withFileAddresses = (json: string, signing: Signing, tenant: Tenant): string =>
  json.includes('"url":"file:')
    ? json.replace(FILE_REFERENCE, (_, folder: Folder, locator: string, name: string, property: string) => {
        const fileName = decodeURIComponent(name)
        // A report has several files.
        const path = folder === 'reports' ? [folder, locator, fileName] : [folder, locator]
        const file = { path, fileName }
        const { address, expiresAt } = signedAddress(signing, tenant, file)
        return `"url":${JSON.stringify(address)},"${property}":"${expiresAt}"`
      })
    : json

// An address works without a token for a while. The signature covers the tenant and its generation, so links of a deleted or
// recreated tenant are invalid.
export const LINK_LIFE_MS = 30 * 60 * 1000

export const FILES_PATH = '/files/{token}'

/** Separates these signatures from those of paging tokens, which use the same secret. */
const PURPOSE = 'signed link\n'

export type FileLink = {
  readonly tenantLocator: string
  readonly generation: number
  /** Relative to the tenant's folder in R2. */
  readonly path: readonly string[]
  /** The name under which browsers save the file. */
  readonly fileName: string
  readonly expiresAt: Instant
}

/** Returns `<origin>/files/<token>`. `now` is real time, not the time of the tenant. */
export function signedAddress(
  { env, origin, now }: Signing,
  { locator, generation }: Tenant,
  file: { path: readonly string[]; fileName: string },
): { address: string; expiresAt: Instant } {
  const expiresAt = (now + LINK_LIFE_MS) as Instant
  const link: FileLink = { tenantLocator: locator, generation, ...file, expiresAt }
  return { address: origin + FILES_PATH.replace('{token}', linkToken(env.TOKEN_SECRET, link)), expiresAt }
}

/** Returns `<link>.<signature>`, both in base64url. */
export function linkToken(secret: string, link: FileLink): string {
  const { tenantLocator, generation, path, fileName, expiresAt } = link
  const fields = JSON.stringify([tenantLocator, generation, path, fileName, expiresAt])
  const text = Buffer.from(fields).toString('base64url')
  return `${text}.${signature(secretsOf(secret)[0]!, text).toString('base64url')}`
}

/** Returns undefined when the signature is wrong or the link has expired. */
export function readLinkToken(secrets: string, token: string, now: Instant): FileLink | undefined {
  const [text, signed, ...rest] = token.split('.')
  if (text === undefined || signed === undefined || rest.length > 0) return undefined
  // Compares the text, because several base64url texts decode to the same bytes.
  const actual = Buffer.from(signed)
  const isValid = secretsOf(secrets).some(secret => {
    const expected = Buffer.from(signature(secret, text).toString('base64url'))
    return actual.length === expected.length && timingSafeEqual(actual, expected)
  })
  if (!isValid) return undefined
  type Fields = [string, number, string[], string, number]
  const fields = JSON.parse(Buffer.from(text, 'base64url').toString()) as Fields
  const [tenantLocator, generation, path, fileName, expires] = fields
  const expiresAt = instant(expires)
  if (expiresAt === undefined || expiresAt <= now) return undefined
  return { tenantLocator, generation, path, fileName, expiresAt }
}

/** Returns the key in R2, or undefined when the link is for another tenant. */
export const linkedKey = (link: FileLink, tenant: Tenant | undefined): string | undefined =>
  tenant?.locator === link.tenantLocator && tenant.generation === link.generation
    ? fileKey(tenant, ...link.path)
    : undefined

const signature = (secret: string, text: string): Buffer =>
  createHmac('sha256', secret)
    .update(PURPOSE + text)
    .digest()

/** Splits TOKEN_SECRET. Signatures with earlier secrets remain valid. */
const secretsOf = (text: string | undefined): string[] => secretsIn('TOKEN_SECRET', text)
