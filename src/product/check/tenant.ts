// The files at the top of an archive: what holds for every product of the tenant.

import { type CurrencyCode, currencyCode } from '../../kernel/money.ts'
import { type TimeZone, timeZone } from '../../kernel/time.ts'
import { isGrantable, isReserved } from '../../platform/http/permissions.ts'
import type { Configuration, FieldDefinition, TestUser } from '../configuration.ts'
import { typeOfRole } from '../roles.ts'
import { compileCustomEvents } from './custom-events.ts'
import { compileFields, type FieldContext } from './fields/fields.ts'
import type { FileIndex } from './file-index.ts'
import { decodeFile, readText } from './json/decode.ts'
import { compileJurisdictions } from './jurisdictions.ts'
import type { Report } from './report.ts'
import { compileResourceTables } from './resource-tables.ts'
import { configFile, dictionaryFile, paymentFile, rolesFile, testUsersFile } from './schemas/tenant.ts'
import { checkSecrets } from './secrets.ts'

type Settings = Pick<
  Configuration,
  'timeZone' | 'currency' | 'features' | 'jurisdictions' | 'resources' | 'secrets' | 'customEvents'
>

/** In place of what is missing or wrong, until all problems are reported: with an error nothing is deployed. */
const UNREAD = { timeZone: 'UTC' as TimeZone, currency: 'XXX' as CurrencyCode }

/** What config.json must have (brief 5.1), as its author writes it. */
const NEEDED = {
  timezone: `"timezone" with a name of the IANA database, like "Europe/Berlin"`,
  currency: `"currency" with a code of ISO 4217, like "EUR"`,
} as const

/**
 * config.json. A time zone and a currency are never guessed, since amounts and days of policies hang on them;
 * an archive without products has no use for either.
 */
export function compileSettings(files: FileIndex, productNames: readonly string[], report: Report): Settings {
  const hasProducts = productNames.length > 0
  const path = 'config.json'
  const file = files.take(path)
  const decoded = file && decodeFile(file, () => configFile, report)
  if (file === undefined && hasProducts)
    report.error(
      { path },
      'missingConfig',
      `There is no config.json. Add it with ${NEEDED.timezone}, and ${NEEDED.currency}.`,
    )
  if (decoded === undefined) return { ...UNREAD, features: {}, secrets: {} }
  const { value, place } = decoded
  const lacking = (['timezone', 'currency'] as const).filter(property => value[property] === undefined)
  if (lacking.length > 0 && hasProducts)
    report.error(
      place([]),
      'missingConfig',
      `config.json lacks ${lacking.map(property => `'${property}'`).join(' and ')}. Add ${lacking.map(property => NEEDED[property]).join(', and ')}.`,
    )
  checkSecrets(value.secrets, place, report)
  const zone = value.timezone === undefined ? UNREAD.timeZone : timeZone(value.timezone)
  if (zone === undefined)
    report.error(
      place(['timezone']),
      'unknownTimeZone',
      `'${value.timezone}' is no time zone of the IANA database. Use a name like 'Europe/Berlin'.${report.meant(value.timezone!, Intl.supportedValuesOf('timeZone'))}`,
    )
  const currency = value.currency === undefined ? UNREAD.currency : currencyCode(value.currency.toUpperCase())
  if (currency === undefined)
    report.error(
      place(['currency']),
      'unknownCurrency',
      `'${value.currency}' is no currency code of ISO 4217. Use three letters like 'EUR'.${report.meant(value.currency!, Intl.supportedValuesOf('currency'))}`,
    )
  const resources = compileResourceTables(value, place, report)
  const jurisdictions = compileJurisdictions(value.jurisdictions, place, report)
  const customEvents = compileCustomEvents(
    value.customEvents,
    name => productNames.includes(name),
    place,
    report,
  )
  return {
    timeZone: zone ?? UNREAD.timeZone,
    currency: currency ?? UNREAD.currency,
    secrets: value.secrets,
    features: {
      ...value.features,
      ...(value.improvedRating !== undefined && { improvedRating: value.improvedRating }),
    },
    ...(jurisdictions.length > 0 && { jurisdictions }),
    ...(resources && { resources }),
    ...(customEvents.length > 0 && { customEvents }),
  }
}

const NO_TABLES = { hasTable: (): boolean => false, tableNames: [] }

export function compilePaymentFields(files: FileIndex, report: Report): FieldDefinition[] {
  const file = files.take('payment/payment.json')
  const decoded = file && decodeFile(file, () => paymentFile, report)
  if (decoded === undefined) return []
  const context: FieldContext = { owner: 'payment', place: decoded.place, report, ...NO_TABLES }
  return compileFields(decoded.value.fields, ['fields'], context)
}

export function compilePolicyholderFields(files: FileIndex, report: Report): FieldDefinition[] {
  const path = 'policyholder/policyholder.dictionary.json'
  const file = files.take(path)
  if (file === undefined) {
    report.warning(
      { path },
      'missingFile',
      'There is no dictionary of policyholders, so they have no fields. Add it with the list of their fields.',
    )
    return []
  }
  const decoded = decodeFile(file, dictionaryFile, report)
  if (decoded === undefined) return []
  const context: FieldContext = { owner: 'policyholder', place: decoded.place, report, ...NO_TABLES }
  return compileFields(decoded.value.fields, decoded.value.path, context)
}

/** security/roles.json. All permissions that are none are named, each at its place. */
function compileRoles(files: FileIndex, report: Report): Pick<Configuration, 'roles' | 'rolePermissions'> {
  const file = files.take('security/roles.json')
  const decoded = file && decodeFile(file, () => rolesFile, report)
  if (decoded === undefined) return { roles: {} }
  const said = Object.entries(decoded.value)
  for (const [role, { permissions = [] }] of said)
    for (const [at, permission] of permissions.entries())
      if (!isGrantable(permission))
        report.error(
          decoded.place([role, 'permissions', at]),
          'unknownPermission',
          isReserved(permission)
            ? `The role '${role}' has the permission '${permission}', which only administration accounts hold. Remove it.`
            : `The role '${role}' has the permission '${permission}', which does not exist. docs/permissions.md lists those that do; 'group.*' stands for all of a group.`,
        )
  const own = said.flatMap(([role, { permissions }]) => (permissions ? [[role, permissions] as const] : []))
  return {
    roles: Object.fromEntries(said.map(([role, { displayName }]) => [role, displayName ?? role])),
    ...(own.length > 0 && { rolePermissions: Object.fromEntries(own) }),
  }
}

export function compileTestUsers(
  files: FileIndex,
  report: Report,
): Pick<Configuration, 'testUsers' | 'roles' | 'rolePermissions'> {
  const { roles, ...permissions } = compileRoles(files, report)
  const usersAt = files.take('security/test_users.json')
  const decoded = usersAt && decodeFile(usersAt, testUsersFile, report)
  if (decoded === undefined) return { testUsers: [], roles, ...permissions }
  const testUsers = new Map<string, TestUser>()
  for (const { path, user } of decoded.value) {
    if (testUsers.has(user.username))
      report.error(
        decoded.place(path),
        'duplicateName',
        `Another user has the name '${user.username}' too. Rename or remove one of them.`,
      )
    const unknown = user.roles.filter(role => typeOfRole(role) === undefined && !Object.hasOwn(roles, role))
    for (const role of unknown)
      report.warning(
        decoded.place([...path, 'roles']),
        'unknownRole',
        `The user '${user.username}' has the role '${role}', which roles.json does not name. Add it there or correct it.${report.meant(role, Object.keys(roles))}`,
      )
    testUsers.set(user.username, {
      username: user.username,
      name: user.name?.trim() || user.username,
      password: user.password,
      roles: user.roles,
    })
  }
  return { testUsers: [...testUsers.values()], roles, ...permissions }
}

/** The plugin sources by path below `scripts/`. */
export function readScripts(files: FileIndex, report: Report): Record<string, string> {
  const scripts: [string, string][] = []
  for (const path of files.pathsBelow('scripts')) {
    if (!/\.(c?js|mjs|json)$/.test(path)) continue
    const source = readText(files.take(`scripts/${path}`)!, report)
    if (source !== undefined) scripts.push([path, source])
  }
  return Object.fromEntries(scripts)
}
