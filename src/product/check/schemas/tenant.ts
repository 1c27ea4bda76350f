import { z } from 'zod'
import { SECRET_DATA_TYPES } from '../../configuration.ts'
import type { JsonPath } from '../json/read.ts'
import { customEventDeclarations } from './custom-events.ts'
import { fieldList } from './field.ts'
import { tableDeclarations } from './resource-tables.ts'
import { choice, flag, list, name, present, text, textList } from './scalars.ts'

/** `{"items": {"apiKey": {"dataType": "string"}}}`; an item without a type is a string. */
const secretDeclaration = z.strictObject({
  items: z.record(z.string(), z.strictObject({ dataType: choice(SECRET_DATA_TYPES).default('string') })),
})

/** config.json */
export const configFile = z.strictObject({
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
export const paymentFile = z.strictObject({ fields: fieldList.default([]) })

const listedFields = fieldList.transform(fields => ({ fields, path: [] as JsonPath }))
const wrappedFields = z
  .strictObject({ fields: fieldList.default([]) })
  .transform(({ fields }) => ({ fields, path: ['fields'] as JsonPath }))

/** policyholder/policyholder.dictionary.json: the list of fields, or an object around it; `path` leads to the list. */
export const dictionaryFile = (root: unknown) => (Array.isArray(root) ? listedFields : wrappedFields)

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
export function testUsersFile(root: unknown): z.ZodType<TestUserEntry[]> {
  if (Array.isArray(root)) return listedUsers
  return typeof root === 'object' && root !== null && 'users' in root ? wrappedUsers : mappedUsers
}

/** security/roles.json: role key to display name, or to an object with the name, permissions or both. */
export const rolesFile = z.record(
  z.string(),
  z.union([
    text.transform(displayName => ({ displayName, permissions: undefined })),
    z.object({ displayName: text.optional(), permissions: textList.optional() }),
  ]),
)
