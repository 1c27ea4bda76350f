// The files at the top of an archive: what holds for every product of the tenant.
import { type CurrencyCode, currencyCode } from '../../platform/money.ts'
import { type TimeZone, timeZone } from '../../platform/time.ts'
import type { Configuration, FieldDefinition, TestUser } from '../configuration.ts'
import { typeOfRole } from '../test-user-roles.ts'
import { compileFields, type FieldContext } from './fields/fields.ts'
import type { FileIndex } from './file-index.ts'
import { decodeFile, readText } from './json/decode.ts'
import type { Report } from './report.ts'
import { configFile, dictionaryFile, paymentFile, rolesFile, testUsersFile } from './schemas/tenant.ts'

type Settings = Pick<Configuration, 'timeZone' | 'currency' | 'features'>

const DEFAULT_TIME_ZONE = 'UTC' as TimeZone
const DEFAULT_CURRENCY = 'USD' as CurrencyCode

/** config.json. What it lacks is UTC, US dollars and no features, with a warning. */
export function compileSettings(files: FileIndex, report: Report): Settings {
  const path = 'config.json'
  const file = files.take(path)
  const decoded = file && decodeFile(file, () => configFile, report)
  const settings: Settings = { timeZone: DEFAULT_TIME_ZONE, currency: DEFAULT_CURRENCY, features: {} }
  if (file === undefined)
    report.warning(
      { path },
      'missingConfig',
      `There is no config.json; time zone ${DEFAULT_TIME_ZONE} and currency ${DEFAULT_CURRENCY} count. Add it with both.`,
    )
  if (decoded === undefined) return settings
  const { value, place } = decoded
  if (value.timezone === undefined || value.currency === undefined)
    report.warning(
      place([]),
      'missingConfig',
      `config.json lacks ${value.timezone === undefined ? `'timezone'; ${DEFAULT_TIME_ZONE}` : `'currency'; ${DEFAULT_CURRENCY}`} counts. Add it.`,
    )
  const zone = timeZone(value.timezone ?? DEFAULT_TIME_ZONE)
  if (zone === undefined)
    report.error(
      place(['timezone']),
      'unknownTimeZone',
      `'${value.timezone}' is no time zone of the IANA database. Use a name like 'Europe/Berlin'.`,
    )
  const currency = currencyCode((value.currency ?? DEFAULT_CURRENCY).toUpperCase())
  if (currency === undefined)
    report.error(
      place(['currency']),
      'unknownCurrency',
      `'${value.currency}' is no currency code of ISO 4217. Use three letters like 'EUR'.`,
    )
  return {
    timeZone: zone ?? DEFAULT_TIME_ZONE,
    currency: currency ?? DEFAULT_CURRENCY,
    features: {
      ...value.features,
      ...(value.improvedRating !== undefined && { improvedRating: value.improvedRating }),
    },
  }
}

const noTables = (): boolean => false

export function compilePaymentFields(files: FileIndex, report: Report): FieldDefinition[] {
  const file = files.take('payment/payment.json')
  const decoded = file && decodeFile(file, () => paymentFile, report)
  if (decoded === undefined) return []
  const context: FieldContext = { owner: 'payment', place: decoded.place, report, hasTable: noTables }
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
  const context: FieldContext = { owner: 'policyholder', place: decoded.place, report, hasTable: noTables }
  return compileFields(decoded.value.fields, decoded.value.path, context)
}

export function compileTestUsers(
  files: FileIndex,
  report: Report,
): Pick<Configuration, 'testUsers' | 'roles'> {
  const rolesAt = files.take('security/roles.json')
  const roles = (rolesAt && decodeFile(rolesAt, () => rolesFile, report)?.value) ?? {}
  const usersAt = files.take('security/test_users.json')
  const decoded = usersAt && decodeFile(usersAt, testUsersFile, report)
  if (decoded === undefined) return { testUsers: [], roles }
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
        `The user '${user.username}' has the role '${role}', which roles.json does not name. Add it there or correct it.`,
      )
    testUsers.set(user.username, {
      username: user.username,
      name: user.name?.trim() || user.username,
      password: user.password,
      roles: user.roles,
    })
  }
  return { testUsers: [...testUsers.values()], roles }
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
