// The files at the top of an archive: what holds for every product of the tenant.

import { z } from 'zod'
import { type CurrencyCode, currencyCode } from '../../kernel/money.ts'
import { type TimeZone, timeZone } from '../../kernel/time.ts'
import { isGrantable, isReserved } from '../../platform/http/permissions.ts'
import { SECRET_ITEM_NAME } from '../../platform/outbound/secret-references.ts'
import {
  type Configuration,
  type FieldDefinition,
  SECRET_DATA_TYPES,
  type TestUser,
} from '../configuration.ts'
import { LONGEST_RESOURCE_NAME, RESOURCE_NAME } from '../resources.ts'
import { typeOfRole } from '../roles.ts'
import { compileCustomEvents, customEventDeclarations } from './custom-events.ts'
import { compileFields } from './fields/fields.ts'
import { type FieldContext, fieldList } from './fields/files.ts'
import type { FileIndex } from './file-index.ts'
import { decodeFile, readJsonFile, readText } from './json/decode.ts'
import type { JsonPath } from './json/read.ts'
import { choice, flag, list, name, present, text, textList } from './json/scalars.ts'
import { compileJurisdictions } from './jurisdictions.ts'
import type { Place, Report } from './report.ts'
import { compileResourceTables, tableDeclarations } from './resource-tables.ts'

/** `{"items": {"apiKey": {"dataType": "string"}}}`; an item without a type is a string. */
const secretDeclaration = z.strictObject({
  items: z.record(z.string(), z.strictObject({ dataType: choice(SECRET_DATA_TYPES).default('string') })),
})

/** config.json */
const configFile = z.strictObject({
  timezone: name.optional(),
  currency: name.optional(),
  improvedRating: flag.optional(),
  features: z.record(z.string(), flag).default({}),
  secrets: z.record(z.string(), secretDeclaration).default({}),
  /** By name; what an entry says beside it is for screens. */
  jurisdictions: z
    .record(z.string(), z.strictObject({ displayName: text.optional() }).optional())
    .default({}),
  customEvents: customEventDeclarations,
  ...tableDeclarations,
})

/** payment/payment.json */
const paymentFile = z.strictObject({ fields: fieldList.default([]) })

const listedFields = fieldList.transform(fields => ({ fields, path: [] as JsonPath }))
const wrappedFields = z
  .strictObject({ fields: fieldList.default([]) })
  .transform(({ fields }) => ({ fields, path: ['fields'] as JsonPath }))

/** policyholder/policyholder.dictionary.json: the list of fields, or an object around it; `path` leads to the list. */
const dictionaryFile = (root: unknown) => (Array.isArray(root) ? listedFields : wrappedFields)

const user = {
  name: text.optional(),
  password: text.pipe(z.string().min(1)),
  roles: textList.default([]),
}
const namedUser = z.strictObject({ username: name, ...user })

type TestUserEntry = { path: JsonPath; user: z.infer<typeof namedUser> }

const entries = (path: JsonPath, users: (z.infer<typeof namedUser> | undefined)[]): TestUserEntry[] =>
  present(users).map(([index, one]) => ({ path: [...path, index], user: one }))

const listedUsers = list(namedUser).transform(users => entries([], users))
const wrappedUsers = z
  .strictObject({ users: list(namedUser).default([]) })
  .transform(({ users }) => entries(['users'], users))
const mappedUsers = z
  .record(z.string(), z.strictObject({ username: name.optional(), ...user }).optional())
  .transform(users =>
    Object.entries(users).flatMap(([key, one]): TestUserEntry[] =>
      one === undefined ? [] : [{ path: [key], user: { ...one, username: one.username ?? key } }],
    ),
  )

/** security/test_users.json: the list of users, an object around it, or an object by username. */
function testUsersFile(root: unknown): z.ZodType<TestUserEntry[]> {
  if (Array.isArray(root)) return listedUsers
  return typeof root === 'object' && root !== null && 'users' in root ? wrappedUsers : mappedUsers
}

/** security/roles.json: role key to display name, or to an object with the name, permissions or both. */
const rolesFile = z.record(
  z.string(),
  z.union([
    text.transform(displayName => ({ displayName, permissions: undefined })),
    z.object({ displayName: text.optional(), permissions: textList.optional() }),
  ]),
)

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

/** Checks the names of the secrets that config.json declares, and of their items (resources brief 0.3 and 5). */
function checkSecrets(
  secrets: Configuration['secrets'],
  place: (path: JsonPath) => Place,
  report: Report,
): void {
  for (const [staticName, { items }] of Object.entries(secrets)) {
    if (!RESOURCE_NAME.test(staticName) || staticName.length > LONGEST_RESOURCE_NAME)
      report.error(
        place(['secrets', staticName]),
        'badName',
        `'${staticName}' is no static name. Begin with a letter, $ or _ and a letter, and use letters, digits, _ and $, ${LONGEST_RESOURCE_NAME} at most.`,
      )
    for (const item of Object.keys(items))
      if (!SECRET_ITEM_NAME.test(item))
        report.error(
          place(['secrets', staticName, 'items', item]),
          'badName',
          `'${item}' is no name of a secret's item. Use letters, digits, _, - and $, 128 at most.`,
        )
  }
}

/** Names that a card may show without a field of that name: the policyholder's locator. */
const BUILT_IN_CARD_NAMES: readonly string[] = ['policyholder_id']

/**
 * The form and the card of a policyholder bind screens only, so they are read loosely: what is checked is that
 * the fields they show are in the dictionary.
 */
export function checkScreens(files: FileIndex, fields: readonly FieldDefinition[], report: Report): void {
  const defined = fields.map(field => field.name)
  const screens = [
    ['policyholder/policyholder.form.json', new Set(defined)],
    ['policyholder/policyholder.card.json', new Set([...defined, ...BUILT_IN_CARD_NAMES])],
  ] as const
  for (const [path, names] of screens) {
    const file = files.take(path)
    const document = file && readJsonFile(file, report)
    if (document === undefined) continue
    for (const shown of shownFields(document.value, []))
      if (!names.has(shown.name))
        report.warning(
          document.place(shown.path),
          'unknownFormField',
          `'${shown.name}' is not in policyholder.dictionary.json. Define the field there or correct the name.`,
        )
  }
}

type ShownField = { name: string; path: JsonPath }

/** Names under `fields` and `visibleIf`, and those between `{{` and `}}`. */
function* shownFields(value: unknown, path: JsonPath): Generator<ShownField> {
  if (typeof value === 'string') {
    for (const match of value.matchAll(/\{\{([^{}]*)\}\}/g)) yield { name: match[1]!.trim(), path }
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value)) {
    const at = [...path, Array.isArray(value) ? Number(key) : key]
    if (key === 'fields' && Array.isArray(child))
      for (const [index, field] of child.entries()) {
        const name = typeof field === 'object' ? field?.name : field
        if (typeof name === 'string') yield { name, path: [...at, index] }
      }
    if (key === 'visibleIf' && typeof child === 'object' && child !== null)
      for (const name of Object.keys(child)) yield { name, path: [...at, name] }
    yield* shownFields(child, at)
  }
}
