// The items of a secret, and how requests change them (resources brief 5).
import { invalidRequest, tooLarge } from '../../kernel/errors.ts'
import { MASK, SECRET_ITEM_NAME } from '../../platform/outbound/masking.ts'
import type { SecretDataType, SecretDeclaration } from '../../product/configuration.ts'
import { hostsProblem, normalHosts } from '../../product/resources.ts'

/** Values by the name of the item: any JSON except null. */
export type SecretItems = Readonly<Record<string, unknown>>

/** A stored secret. Without `allowedHosts`, it may be sent to every permitted address. */
export type SecretContents = { readonly items: SecretItems; readonly allowedHosts?: readonly string[] }

const MOST_ITEMS = 100
/** The most characters of all items as JSON. */
const LARGEST_SECRET = 65_536

/** Checks the items of a new secret. Rejects with 400 missing declared items and invalid ones. */
export function newItems(sent: SecretItems, declared: SecretDeclaration | undefined): SecretItems {
  const items = new Map(Object.entries(sent).filter(([, value]) => value !== null))
  const problems = [
    ...Object.keys(declared?.items ?? {})
      .filter(name => !items.has(name))
      .map(name => `'secret.${name}' is missing; the configuration declares it.`),
  ]
  for (const [name, value] of items)
    if (value === MASK)
      problems.push(
        `'secret.${name}' is ${MASK}, which stands for a stored value, but a new secret has none.`,
      )
  return checkItems(items, declared, problems)
}

/** Applies a request to the items: sets the named ones, removes those with null, and keeps the present value for `********`. */
export function changedItems(
  before: SecretItems,
  sent: SecretItems,
  declared: SecretDeclaration | undefined,
): SecretItems {
  const items = new Map(Object.entries(before))
  const problems: string[] = []
  for (const [name, value] of Object.entries(sent))
    if (value === null) {
      if (isDeclared(name, declared))
        problems.push(`'${name}' is null, but cannot be removed, because the configuration declares it.`)
      items.delete(name)
    } else if (value !== MASK) items.set(name, value)
    else if (!items.has(name))
      problems.push(`'${name}' is ${MASK}, which stands for a stored value, but there is none.`)
  return checkItems(items, declared, problems)
}

const isDeclared = (name: string, declared: SecretDeclaration | undefined): boolean =>
  declared !== undefined && Object.hasOwn(declared.items, name)

function checkItems(
  items: ReadonlyMap<string, unknown>,
  declared: SecretDeclaration | undefined,
  problems: string[],
): SecretItems {
  for (const [name, value] of items) {
    const declaration = isDeclared(name, declared) ? declared!.items[name] : undefined
    if (!SECRET_ITEM_NAME.test(name))
      problems.push(
        `'${name}' is not a name for an item: use letters, digits, _, - and $, at most 128 characters.`,
      )
    else if (declared && !declaration)
      problems.push(
        `'${name}' is not an item of this secret; the configuration declares ${Object.keys(declared.items).join(', ')}.`,
      )
    else if (declaration && !FITS[declaration.dataType](value))
      problems.push(`'${name}' is not of type ${declaration.dataType}, as the configuration declares.`)
  }
  if (problems.length > 0) throw invalidRequest(problems.join(' '))
  const contents = Object.fromEntries(items)
  if (items.size > MOST_ITEMS || JSON.stringify(contents).length > LARGEST_SECRET)
    throw tooLarge(
      `A secret can have at most ${MOST_ITEMS} items, and ${LARGEST_SECRET} characters in total.`,
    )
  return contents
}

const textOf = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : ''

/** Numbers may be text, as in all requests. */
const FITS: Record<SecretDataType, (value: unknown) => boolean> = {
  string: value => typeof value === 'string',
  int: value => /^-?\d{1,10}$/.test(textOf(value)) && Math.abs(Number(value)) < 2 ** 31,
  long: value => /^-?\d{1,19}$/.test(textOf(value)),
  decimal: value => /^-?\d{1,30}(\.\d{1,30})?$/.test(textOf(value)),
  boolean: value => typeof value === 'boolean' || value === 'true' || value === 'false',
  date: value => /^\d{4}-\d\d-\d\d$/.test(textOf(value)) && !Number.isNaN(Date.parse(textOf(value))),
  datetime: value => /^\d{4}-\d\d-\d\dT/.test(textOf(value)) && !Number.isNaN(Date.parse(textOf(value))),
}

/** Converts an item to a header value; undefined for lists and objects. */
export const plainText = (value: unknown): string | undefined =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined

/** Converts hosts to lower case, removes duplicates, and rejects with 400 invalid ones. */
export function parseAllowedHosts(wanted: readonly string[]): string[] {
  const hosts = normalHosts(wanted)
  const problem = hostsProblem(hosts)
  if (problem !== undefined) throw invalidRequest(`'allowedHosts' has ${problem}.`)
  return hosts
}

/** Whether a secret with these hosts may be sent to the address. `*.example.com` matches every name below example.com. */
export function maySendTo(allowedHosts: readonly string[] | undefined, url: string): boolean {
  if (allowedHosts === undefined) return true
  const host = new URL(url).hostname.replace(/\.+$/, '')
  return allowedHosts.some(one => (one.startsWith('*.') ? host.endsWith(one.slice(1)) : host === one))
}
