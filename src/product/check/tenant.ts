// Compiles the files at the root of an archive other than config.json: fields of payments and policyholders, users and roles, and
// scripts.

import { z } from 'zod'
import { isGrantable, isReserved } from '../../platform/http/permissions.ts'
import type { Configuration, FieldDefinition, TestUser } from '../configuration.ts'
import { typeOfRole } from '../roles.ts'
import { type Archive, readSource } from './archive.ts'
import { compileFields } from './fields/fields.ts'
import { type FieldFiles, fieldList } from './fields/file.ts'
import { decodeFile, readJsonFile } from './json/decode.ts'
import type { JsonPath } from './json/read.ts'
import { definedEntries, filledText, list, name, text, textList, withDescription } from './json/scalars.ts'
import { readPolicyholderForm } from './policyholder-form.ts'

/** payment.json, and policyholder.dictionary.json, which may also consist of the list alone. */
export const fieldsFile = z.strictObject({
  fields: withDescription(fieldList.default([]), 'The fields, in the order of screens.', [
    { name: 'email', type: 'email', searchable: true },
  ]),
})

/** Returns the schema of a dictionary by its root value: the list alone, or an object with `fields`. */
export const dictionaryFile = (root: unknown): z.ZodType<FieldFiles | z.infer<typeof fieldsFile>> =>
  Array.isArray(root) ? fieldList : fieldsFile

const user = {
  name: withDescription(
    text.optional(),
    'Name of the user shown to people. Default: the `username`.',
    'Alice Agent',
  ),
  password: withDescription(
    filledText,
    'The password in plain text. The users in this file are only for test tenants.',
    'password',
  ),
  roles: withDescription(
    textList.default([]),
    'Keys of roles.json, or `admin`, `read-only` or `claims-only`. A user without roles can do everything with policy data, but cannot deploy.',
    ['agent'],
  ),
}
const USERNAME = 'Name with which the user signs in. Unique in the file.'
const namedUser = z.strictObject({ username: withDescription(name, USERNAME, 'alice.agent'), ...user })

type TestUserEntry = { path: JsonPath; user: z.infer<typeof namedUser> }

const entries = (path: JsonPath, users: (z.infer<typeof namedUser> | undefined)[]): TestUserEntry[] =>
  definedEntries(users).map(([index, one]) => ({ path: [...path, index], user: one }))

const userList = withDescription(list(namedUser), 'The users who can sign in to a test tenant.', [
  { username: 'alice.agent', password: 'password', roles: ['agent'] },
])

const listedUsers = userList.transform(users => entries([], users))
const wrappedUsers = z
  .strictObject({ users: userList.default([]) })
  .transform(({ users }) => entries(['users'], users))
export const mappedUsers = z
  .record(
    z.string(),
    z
      .strictObject({
        username: withDescription(name.optional(), `${USERNAME} Default: its key.`, 'alice.agent'),
        ...user,
      })
      .optional(),
  )
  .transform(users =>
    Object.entries(users).flatMap(([key, one]): TestUserEntry[] =>
      one === undefined ? [] : [{ path: [key], user: { ...one, username: one.username ?? key } }],
    ),
  )

/** security/test_users.json: a list of users, an object that contains the list, or an object by username. */
export function testUsersFile(root: unknown): z.ZodType<TestUserEntry[]> {
  if (Array.isArray(root)) return listedUsers
  return typeof root === 'object' && root !== null && 'users' in root ? wrappedUsers : mappedUsers
}

const role = z.strictObject({
  displayName: withDescription(
    text.optional(),
    'Name of the role shown to people. Default: its key.',
    'Sales agent',
  ),
  permissions: withDescription(
    textList.optional(),
    'Permissions of its users, instead of those of all employees: `group.action`, or `group.*` for all of a group ([permissions](permissions.md)).',
    ['policies.*', 'quotes.*'],
  ),
})
const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)

/** security/roles.json, by role key: a display name, or an object with a name, permissions or both. */
const rolesFile = z.record(
  z.string(),
  z.preprocess(value => (isScalar(value) ? { displayName: value } : value), role),
)

/** The same schema for editors, which need to know both forms. */
export const rolesShape = z.record(
  z.string(),
  withDescription(
    z.union([text, role]),
    'The roles, by key: a name shown to people, or an object with a name and permissions.',
    'Sales agent',
    { displayName: 'Claims', permissions: ['policies.read'] },
  ),
)

const NO_TABLES = { hasTable: (): boolean => false, tableNames: [] }

/** Compiles the fields of payments. Without the file there are none. Group and lookup fields are errors (brief 4.4). */
export function compilePaymentFields({ take, report: archive }: Archive): FieldDefinition[] {
  const decoded = decodeFile(take('payment/payment.json'), fieldsFile, archive)
  if (decoded === undefined) return []
  return compileFields(decoded.value.fields, 'payment', decoded.report.at('fields'), NO_TABLES)
}

/**
 * Compiles the fields of policyholders. A missing file is a warning, and policyholders then have no fields. Group, lookup and media
 * fields are errors.
 */
export function compilePolicyholderFields({ take, report: archive }: Archive): FieldDefinition[] {
  const path = 'policyholder/policyholder.dictionary.json'
  const file = take(path)
  const message =
    'There is no dictionary of policyholders, so policyholders have no fields. Add it with the list of their fields.'
  if (file === undefined) archive.at({ path }).warning('missingFile', message)
  const decoded = decodeFile(file, dictionaryFile, archive)
  if (decoded === undefined) return []
  const { value, report } = decoded
  if ('fields' in value) return compileFields(value.fields, 'policyholder', report.at('fields'), NO_TABLES)
  return compileFields(value, 'policyholder', report, NO_TABLES)
}

/** Compiles roles and reports each unknown permission at its place. */
function compileRoles({ take, report }: Archive): Pick<Configuration, 'roles' | 'rolePermissions'> {
  const decoded = decodeFile(take('security/roles.json'), rolesFile, report)
  if (decoded === undefined) return { roles: {} }
  const roles = Object.entries(decoded.value)
  for (const [role, { permissions = [] }] of roles)
    for (const [index, permission] of permissions.entries()) {
      if (isGrantable(permission)) continue
      const message = isReserved(permission)
        ? `The role '${role}' has the permission '${permission}', which only administration accounts can have. Remove it.`
        : `The role '${role}' has the permission '${permission}', which does not exist. docs/permissions.md lists all permissions; 'group.*' stands for all of a group.`
      decoded.report.at(role, 'permissions', index).error('unknownPermission', message)
    }
  const own = roles.flatMap(([role, { permissions }]) => (permissions ? [[role, permissions] as const] : []))
  return {
    roles: Object.fromEntries(roles.map(([role, { displayName }]) => [role, displayName?.trim() || role])),
    ...(own.length > 0 && { rolePermissions: Object.fromEntries(own) }),
  }
}

/**
 * Compiles roles.json and test_users.json. A repeated name of a user is an error, and the last one counts; an unknown role is a
 * warning.
 */
export function compileTestUsers(
  archive: Archive,
): Pick<Configuration, 'testUsers' | 'roles' | 'rolePermissions'> {
  const { roles, ...permissions } = compileRoles(archive)
  const decoded = decodeFile(archive.take('security/test_users.json'), testUsersFile, archive.report)
  const testUsers = new Map<string, TestUser>()
  for (const { path, user } of decoded?.value ?? []) {
    const { username, name: given, password } = user
    const report = decoded!.report.at(...path)
    const repeated = `Another user also has the name '${username}'. Rename or remove one of them.`
    if (testUsers.has(username)) report.error('duplicateName', repeated)
    for (const role of user.roles) {
      if (typeOfRole(role) !== undefined || Object.hasOwn(roles, role)) continue
      const message = `The user '${username}' has the role '${role}', which is not in roles.json. Add it there or correct it.${report.suggestion(role, Object.keys(roles))}`
      report.at('roles').warning('unknownRole', message)
    }
    testUsers.set(username, { username, name: given?.trim() || username, password, roles: user.roles })
  }
  return { testUsers: [...testUsers.values()], roles, ...permissions }
}

/** Scripts by path under `scripts/`. */
export function readScripts({ pathsBelow, take, report }: Archive): Record<string, string> {
  const scripts: [string, string][] = []
  for (const path of pathsBelow('scripts')) {
    if (!/\.(c?js|mjs|json)$/.test(path)) continue
    const source = readSource(take(`scripts/${path}`)!, report)
    if (source !== undefined) scripts.push([path, source])
  }
  return Object.fromEntries(scripts)
}

/**
 * Returns the policyholder form, if there is one. Reports fields of it and of the card that are not in the dictionary. These files
 * only configure user interfaces.
 */
export function compileScreens(
  { take, report: archive }: Archive,
  fields: readonly FieldDefinition[],
): Pick<Configuration, 'policyholderForm'> {
  const defined = fields.map(field => field.name)
  const screens = [
    ['policyholder/policyholder.form.json', new Set(defined)],
    ['policyholder/policyholder.card.json', new Set([...defined, 'policyholder_id'])],
  ] as const
  const [form] = screens.map(([path, names]) => {
    const document = readJsonFile(take(path), archive)
    for (const shown of document ? shownFields(document.value, []) : []) {
      const message = `'${shown.name}' is not in policyholder.dictionary.json. Define the field there or correct the name.`
      if (!names.has(shown.name)) document!.report.at(...shown.path).warning('unknownFormField', message)
    }
    return document
  })
  return form ? { policyholderForm: readPolicyholderForm(form.value) } : {}
}

type ShownField = { name: string; path: JsonPath }

/** Names of fields that a screen shows: those under `fields` and `visibleIf`, and those between `{{` and `}}`. */
function* shownFields(value: unknown, path: JsonPath): Generator<ShownField> {
  if (typeof value === 'string') {
    for (const match of value.matchAll(/\{\{([^{}]*)\}\}/g)) yield { name: match[1]!.trim(), path }
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value)) {
    const at = [...path, Array.isArray(value) ? Number(key) : key]
    if (key === 'fields') yield* listedFields(child, at)
    if (key === 'visibleIf' && typeof child === 'object' && child !== null)
      for (const name of Object.keys(child)) yield { name, path: [...at, name] }
    yield* shownFields(child, at)
  }
}

/** Fields of a list, in which each entry is a name or an object with a name. */
function* listedFields(list: unknown, path: JsonPath): Generator<ShownField> {
  if (!Array.isArray(list)) return
  for (const [index, field] of list.entries()) {
    const name = typeof field === 'object' ? field?.name : field
    if (typeof name === 'string') yield { name, path: [...path, index] }
  }
}
