// Finding policies and policyholders: by locator, by what fields hold, and the newest.
import { call, get, Problem } from './api.ts'
import { byName, type Fields, NO_FIELDS, type ProductFields, productFields } from './field-values.ts'
import { session } from './session.ts'
import type {
  Policyholder,
  PolicyholderList,
  PolicyList,
  PolicySummary,
  Product,
  ProductDetail,
} from './wire.ts'

const query = (values: Readonly<Record<string, string | number>>): string =>
  new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)])).toString()

const kept = new Map<string, Promise<unknown>>()

/** Asked once for a session: names and holders that rows repeat. */
function once<Value>(key: string, ask: () => Promise<Value>): Promise<Value> {
  const name = `${session()?.tenantLocator} ${key}`
  let asked = kept.get(name) as Promise<Value> | undefined
  if (!asked) {
    asked = ask()
    kept.set(name, asked)
    asked.catch(() => kept.delete(name))
  }
  return asked
}

export const forgetAll = (): void => kept.clear()

export const holderOf = (locator: string): Promise<Policyholder> =>
  once(`holder ${locator}`, () => get<Policyholder>(`/policyholder/${encodeURIComponent(locator)}`))

/** What the account may do; nothing where that cannot be told. */
export const permissions = (): Promise<ReadonlySet<string>> =>
  once(
    'permissions',
    async () => new Set((await get<{ permissions: string[] }>('/auth/permissions')).permissions),
  )

/** Display names of products, exposures, perils and schedules, by their names; none where products may not be read. */
export const displayNames = (): Promise<ReadonlyMap<string, string>> =>
  once('names', async () => {
    const all = (await products()).flatMap(product => [
      product,
      ...product.exposures.flatMap(exposure => [exposure, ...exposure.perils]),
      ...product.paymentSchedules,
    ])
    return new Map(all.map(({ name, displayName }) => [name, displayName]))
  })

/** None where they may not be read. */
export const products = (): Promise<Product[]> =>
  once('products', () => get<Product[]>('/products').catch(() => []))

/** The product as the configuration of that version has it, the latest by default. */
export const productDetail = (name: string, configVersion?: string): Promise<ProductDetail> =>
  once(`product ${name} ${configVersion ?? ''}`, () =>
    get<ProductDetail>(
      `/products/${encodeURIComponent(name)}${configVersion === undefined ? '' : `?${query({ configVersion })}`}`,
    ),
  )

/** In that version of the product; none where they may not be read. */
export const policyFields = (name: string, configVersion?: string): Promise<ProductFields> =>
  productDetail(name, configVersion)
    .then(productFields)
    .catch(() => NO_FIELDS)

/** Of policyholders, which all products share. */
export async function holderFields(): Promise<Fields> {
  const [first] = await products()
  if (!first) return new Map()
  return productDetail(first.name)
    .then(({ policyholderFields }) => byName(policyholderFields))
    .catch(() => new Map())
}

/** Fields that can be searched: the refusal of a search in a field that is none names them. */
const fieldsOf = (path: '/policies' | '/policyholders'): Promise<string[]> =>
  once(`fields ${path}`, async () => {
    try {
      await call('GET', `${path}?${query({ searchField: '-', searchPrefix: '-', pageSize: 1 })}`)
      return []
    } catch (problem) {
      if (problem instanceof Problem && problem.status === 400) return problem.body.searchableFields ?? []
      if (problem instanceof Problem && problem.status === 403) return []
      throw problem
    }
  })

const FOUND_AT_MOST = 20

export type Found = {
  readonly policies: readonly PolicySummary[]
  readonly policyholders: readonly Policyholder[]
  /** Names of the fields that were looked through. */
  readonly fields: readonly string[]
}

const distinct = <Row extends { locator: string }>(rows: readonly Row[]): Row[] => [
  ...new Map(rows.map(row => [row.locator, row])).values(),
]

/** Policies and policyholders with a field that begins with the text; of several words, each for itself and together. */
export async function search(text: string, signal: AbortSignal): Promise<Found> {
  const [policyFields, holderFields] = await Promise.all([fieldsOf('/policies'), fieldsOf('/policyholders')])
  const ask = <Page>(path: string, searchField: string, searchPrefix: string): Promise<Page> =>
    get<Page>(`${path}?${query({ searchField, searchPrefix, pageSize: FOUND_AT_MOST })}`, signal)
  const holdersBy = async (prefix: string): Promise<Policyholder[]> => {
    const pages = await Promise.all(
      holderFields.map(field => ask<PolicyholderList>('/policyholders', field, prefix)),
    )
    return distinct(pages.flatMap(page => page.policyholders))
  }
  const [whole, policies] = await Promise.all([
    holdersBy(text),
    Promise.all(policyFields.map(field => ask<PolicyList>('/policies', field, text))),
  ])
  // "Greta Lindner": nobody's first name begins so, but somebody has a value for each of the words.
  const parts = text.split(/\s+/).slice(0, 4)
  const byWord = whole.length === 0 && parts.length > 1 ? await Promise.all(parts.map(holdersBy)) : []
  const each = byWord.reduce<Policyholder[] | undefined>(
    (found, some) => found?.filter(({ locator }) => some.some(one => one.locator === locator)) ?? some,
    undefined,
  )
  return {
    policies: distinct(policies.flatMap(page => page.policies)).slice(0, FOUND_AT_MOST),
    policyholders: [...whole, ...(each ?? [])].slice(0, FOUND_AT_MOST),
    fields: [...holderFields, ...policyFields],
  }
}

export const policiesOf = (policyholderLocator: string, signal?: AbortSignal): Promise<PolicyList> =>
  get<PolicyList>(`/policies?${query({ policyholderLocator, pageSize: 50 })}`, signal)

const DAY_MS = 86_400_000
const PAGE = 200
const ENOUGH = 8

/**
 * The newest policies, newest first. Lists are in the order of creation, so the span that is asked for grows until it has
 * enough, and shrinks where it has more than a page.
 */
export async function newest(signal: AbortSignal): Promise<PolicySummary[]> {
  let best: PolicySummary[] = []
  let days = 2
  let tooLong = Number.POSITIVE_INFINITY
  for (let asked = 0; asked < 6; asked += 1) {
    const createdAfterTimestamp = days > 5_000 ? 0 : Date.now() - Math.round(days * DAY_MS)
    const page = await get<PolicyList>(
      `/policies?${query({ createdAfterTimestamp, pageSize: PAGE })}`,
      signal,
    )
    if (page.listCompleted) {
      best = page.policies
      if (best.length >= ENOUGH || createdAfterTimestamp === 0 || days * 8 >= tooLong) break
      days *= 14
    } else {
      if (best.length === 0) best = page.policies
      tooLong = days
      days /= 10
    }
  }
  return best.toReversed().slice(0, 12)
}

const OPENED_KEY = 'bindery.opened'

type Opened = { tenant: string; locator: string }

const openedEver = (): Opened[] => {
  try {
    return JSON.parse(localStorage.getItem(OPENED_KEY) ?? '[]') as Opened[]
  } catch {
    return []
  }
}

/** Locators of the policies that were opened last in this browser, of the tenant signed in to; no personal data. */
export const openedLast = (): string[] =>
  openedEver()
    .filter(({ tenant }) => tenant === session()?.tenantLocator)
    .map(({ locator }) => locator)

export function noteOpened(locator: string): void {
  const tenant = session()?.tenantLocator ?? ''
  const others = openedEver().filter(one => one.tenant !== tenant || one.locator !== locator)
  localStorage.setItem(OPENED_KEY, JSON.stringify([{ tenant, locator }, ...others].slice(0, 8)))
}
