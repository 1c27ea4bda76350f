// Addresses of files in answers. An answer names a file; as it leaves the service, each name becomes a signed address
// that holds for 30 minutes (brief 5.1). So a stored answer that is given again has addresses that work, and whoever
// makes answers needs no secret.

import type { Instant } from '../../kernel/time.ts'
import { signedAddress } from '../signed-links.ts'
import type { Tenant } from '../tenancy.ts'
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
const OPEN_GROUPS: ReadonlySet<string> = new Set([
  'calculations',
  'lambda',
  'tables',
  'constraints',
  'events',
])

/** Whether answers of the route may name files. */
export const mayNameFiles = ({ access }: Pick<Route, 'access'>): boolean =>
  'permissions' in access &&
  !access.permissions?.some(permission => OPEN_GROUPS.has(permission.slice(0, permission.indexOf('.'))))

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
