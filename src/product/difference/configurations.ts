// Compares two configurations by their meaning and not by their text: spelling, the order of properties and blanks do not count.
import type { Configuration, PluginFunction } from '../configuration.ts'
import {
  AREAS,
  type Area,
  type Change,
  formatValue,
  makeAddition,
  makeChange,
  makeRemoval,
  type Place,
  pairByName,
  pairsInBoth,
  valueChanges,
  withInForce,
  withNames,
} from './change.ts'
import { fieldChanges } from './fields.ts'
import { fieldsOfProduct, productChanges } from './products.ts'
import { tableChanges } from './tables.ts'
import { textChanges } from './templates.ts'

/**
 * Changes of fields that bind policies in force, in products that both configurations have. Leaves out rates and tables, because
 * comparing them takes long and deployments wait for the result.
 */
export const bindingChanges = (before: Configuration, after: Configuration): Change[] =>
  pairsInBoth(Object.values(before.products), Object.values(after.products))
    .flatMap(([old, now]) => fieldsOfProduct(old, now))
    .filter(({ inForce }) => inForce?.effect === 'binds')

/**
 * Everything that an author changed: first what concerns all products, then each product, in the order of `AREAS`. Configurations
 * with the same meaning have no changes.
 */
export function configurationChanges(before: Configuration, after: Configuration): Change[] {
  const ofProducts = pairByName(Object.values(before.products), Object.values(after.products)).flatMap(
    ({ name, old, now }): Change[] => {
      const place: Place = {
        area: 'product',
        product: name,
        path: `products/${name}`,
        subject: `product '${name}'`,
      }
      if (!old) return [makeAddition(place)]
      if (!now) return [withInForce(makeRemoval(place), 'breaks', 'Its policies can no longer be read.')]
      return productChanges(old, now)
    },
  )
  return inOrder([...tenantChanges(before, after), ...ofProducts])
}

/** Sorts changes by product, those of all products first, and then by area. */
export function inOrder(changes: readonly Change[]): Change[] {
  const products = [undefined, ...new Set(changes.flatMap(({ product }) => product ?? []))]
  return products.flatMap(product =>
    AREAS.flatMap(area => changes.filter(change => change.product === product && change.area === area)),
  )
}

const makePlace = (area: Area, path: string, subject: string): Place => ({ area, path, subject })

function tenantChanges(before: Configuration, after: Configuration): Change[] {
  const file = 'config.json'
  const settings = makePlace('settings', file, 'configuration')
  return [
    ...valueChanges(settings, 'currency', before.currency, after.currency).map(change =>
      withInForce(change, 'breaks', 'Their amounts are in a different currency.'),
    ),
    ...valueChanges(settings, 'time zone', before.timeZone, after.timeZone).map(change =>
      withInForce(change, 'breaks', 'Their days and months begin at different times.'),
    ),
    ...compareRecordEntries(before.features, after.features, name =>
      makePlace('settings', file, `feature '${name}'`),
    ),
    ...valueChanges(settings, 'jurisdictions', before.jurisdictions, after.jurisdictions),
    ...fieldChanges(
      before.policyholderFields,
      after.policyholderFields,
      { path: 'policyholder/policyholder.dictionary.json' },
      ' of the policyholder',
    ),
    ...formChanges(before, after),
    ...fieldChanges(
      before.paymentFields,
      after.paymentFields,
      { path: 'payment/payment.json' },
      ' of payments',
    ),
    ...tableChanges(ownTables(before), ownTables(after)),
    ...scriptChanges(before, after),
    ...resourceChanges(before, after, file),
    ...booksChanges(before, after),
    ...accessChanges(before, after),
  ]
}

/** Compares the entries of a record, each as a whole. */
const compareRecordEntries = (
  before: Readonly<Record<string, unknown>> = {},
  after: Readonly<Record<string, unknown>> = {},
  placeOf: (name: string) => Place,
): Change[] => {
  const list = (record: Readonly<Record<string, unknown>>) =>
    Object.entries(record).map(([name, value]) => ({ name, value }))
  return pairByName(list(before), list(after)).flatMap(({ name, old, now }): Change[] => {
    if (!old) return [makeAddition(placeOf(name), formatValue(now!.value))]
    if (!now) return [makeRemoval(placeOf(name), formatValue(old.value))]
    return valueChanges(placeOf(name), 'value', old.value, now.value)
  })
}

/** Compares the inputs of the policyholder form, and their order if they are the same. */
function formChanges(before: Configuration, after: Configuration): Change[] {
  const path = 'policyholder/policyholder.form.json'
  const list = ({ policyholderForm = [] }: Configuration) => policyholderForm
  const inputs = (form: Configuration) =>
    Object.fromEntries(list(form).map(({ name, ...input }) => [name, input]))
  const changes = compareRecordEntries(inputs(before), inputs(after), name =>
    makePlace('fields', path, `input '${name}' of the policyholder form`),
  )
  if (changes.length > 0) return changes
  const [old, now] = [before, after].map(one => list(one).map(({ name }) => name))
  return valueChanges(makePlace('fields', path, 'policyholder form'), 'order', old, now)
}

/** Tables that belong to no product. The others are compared with their products. */
const ownTables = ({ tables }: Configuration): Configuration['tables'] =>
  Object.fromEntries(Object.entries(tables).filter(([, { path }]) => !path.startsWith('products/')))

function scriptChanges(before: Configuration, after: Configuration): Change[] {
  const list = (scripts: Readonly<Record<string, string>>) =>
    Object.entries(scripts).map(([name, source]) => ({ name, source }))
  return pairByName(list(before.scripts), list(after.scripts)).flatMap(({ name, old, now }): Change[] => {
    const place = makePlace(
      'plugins',
      `scripts/${name}`,
      `script '${name}'${pluginUsesText(name, now ? after : before)}`,
    )
    if (!old) return [makeAddition(place)]
    return now ? textChanges(place, old.source, now.source) : [makeRemoval(place)]
  })
}

/** The plugins that use a script, such as ` (getPerilRates of home)`; empty if only other scripts load it. */
function pluginUsesText(path: string, { products }: Configuration): string {
  const uses = Object.values(products).flatMap(({ name, plugins }) =>
    (Object.keys(plugins) as PluginFunction[])
      .filter(plugin => plugins[plugin]!.path === path)
      .map(plugin => `${plugin} of ${name}`),
  )
  return uses.length === 0 ? '' : ` (${uses.join(', ')})`
}

function resourceChanges(before: Configuration, after: Configuration, file: string): Change[] {
  const kinds = [
    ['tables', 'table'],
    ['rangeTables', 'range table'],
    ['constraintTables', 'constraint table'],
    ['templateSnippets', 'snippet'],
  ] as const
  const events = (list: Configuration['customEvents'] = []) =>
    Object.fromEntries(list.map(({ type, ...event }) => [type, event]))
  return [
    ...kinds.flatMap(([kind, what]) =>
      compareRecordEntries(before.resources?.[kind], after.resources?.[kind], name =>
        makePlace('resources', file, `declared ${what} '${name}'`),
      ),
    ),
    ...compareRecordEntries(before.secrets, after.secrets, name =>
      makePlace('resources', file, `secret '${name}'`),
    ),
    ...compareRecordEntries(events(before.customEvents), events(after.customEvents), name =>
      makePlace('rules', file, `event '${name}'`),
    ),
    ...startChanges(before.bootstrap, after.bootstrap),
  ]
}

/** Changes of the resources that a tenant starts with. A deployment does not change existing resources. */
function startChanges(before: Configuration['bootstrap'], after: Configuration['bootstrap']): Change[] {
  const resources = (bootstrap: Configuration['bootstrap']) =>
    Object.fromEntries((bootstrap?.resources ?? []).map(({ name, path: _, ...rest }) => [name, rest]))
  const groups = (bootstrap: Configuration['bootstrap']) =>
    Object.fromEntries((bootstrap?.groups ?? []).map(({ name, ...rest }) => [name, rest]))
  const place = (what: string) => (name: string) =>
    makePlace('resources', 'bootstrap/resources', `${what} '${name}' of new tenants`)
  return [
    ...compareRecordEntries(resources(before), resources(after), place('resource')),
    ...compareRecordEntries(groups(before), groups(after), place('group')),
  ]
}

function booksChanges({ books: before }: Configuration, { books: after }: Configuration): Change[] {
  const place = (what: string) => (name: string) => makePlace('settings', 'books.json', `${what} '${name}'`)
  return [
    ...compareRecordEntries(before?.accounts, after?.accounts, place('account')),
    ...compareRecordEntries(before?.bordereaux, after?.bordereaux, place('bordereau')),
  ]
}

/** A role without permissions gets those of its kind of account, so undefined differs from an empty list. */
function permissionChanges(
  place: Place,
  old: readonly string[] | undefined,
  now: readonly string[] | undefined,
): Change[] {
  if (!old && now)
    return [
      makeChange(place, now.length === 0 ? 'now permits nothing' : `now permits only ${formatValue(now)}`),
    ]
  if (!now)
    return old ? [makeChange(place, 'now permits the same as for users without their own permissions')] : []
  const gone = old!.filter(one => !now.includes(one))
  const fresh = now.filter(one => !old!.includes(one))
  return [
    ...(fresh.length > 0 ? [makeChange(place, `also permits ${formatValue(fresh)}`)] : []),
    ...(gone.length > 0 ? [makeChange(place, `no longer permits ${formatValue(gone)}`)] : []),
  ]
}

/** Passwords of test users are compared but never shown. */
function accessChanges(before: Configuration, after: Configuration): Change[] {
  const roles = ({ roles, rolePermissions }: Configuration) =>
    Object.entries(roles).map(([name, title]) => ({
      name,
      title,
      permissions: rolePermissions?.[name],
    }))
  const users = ({ testUsers }: Configuration) =>
    withNames(
      Object.fromEntries(
        testUsers.map(({ username, name, ...user }) => [username, { ...user, called: name }]),
      ),
    )
  return [
    ...pairByName(roles(before), roles(after)).flatMap(({ name, old, now }): Change[] => {
      const place = makePlace('access', 'security/roles.json', `role '${name}'`)
      if (!old) {
        const { permissions } = now!
        return [
          makeAddition(
            place,
            permissions ? `permits ${permissions.length === 0 ? 'nothing' : formatValue(permissions)}` : '',
          ),
        ]
      }
      if (!now) return [makeRemoval(place)]
      return [
        ...valueChanges(place, 'name', old.title, now.title),
        ...permissionChanges(place, old.permissions, now.permissions),
      ]
    }),
    ...pairByName(users(before), users(after)).flatMap(({ name, old, now }): Change[] => {
      const place = makePlace('access', 'security/test_users.json', `test user '${name}'`)
      if (!old) return [makeAddition(place, `with the roles ${formatValue(now!.roles)}`)]
      if (!now) return [makeRemoval(place)]
      return [
        ...valueChanges(place, 'name', old.called, now.called),
        ...valueChanges(place, 'roles', old.roles, now.roles),
        ...(old.password === now.password ? [] : [makeChange(place, 'has a different password')]),
      ]
    }),
  ]
}

/** The bytes of files, with their paths in the archive. */
export type Files = readonly { readonly path: string; readonly bytes: Uint8Array }[]

/** Changes of files that are used unchanged, such as static documents. The compiled configuration only contains their names. */
export function fileChanges(before: Files, after: Files): Change[] {
  const later = new Map(after.map(file => [file.path, file.bytes]))
  return before.flatMap(({ path, bytes }): Change[] => {
    const now = later.get(path)
    const [, product, name] = /^products\/([^/]+)\/policy\/static_documents\/(.+)$/.exec(path) ?? []
    const isStart = path.startsWith('bootstrap/')
    if (!now || (name === undefined && !isStart) || Buffer.compare(bytes, now) === 0) return []
    const place = isStart
      ? makePlace('resources', path, `file '${path}' of new tenants`)
      : {
          ...makePlace('documents', path, `static document '${name}'`),
          ...(product !== undefined && { product }),
        }
    return [makeChange(place, 'has different contents')]
  })
}
