// Finds policies and policyholders: by a search, and the newest. Caches values that rows repeat.
import { get, Problem } from './api.ts'
import { DAY_MS } from './calendar.ts'
import { byName, type Fields, NO_FIELDS, type ProductFields, productFields } from './field-values.ts'
import { session } from './session.ts'
import type { Found, Policyholder, PolicyList, PolicySummary, Product, ProductDetail } from './wire.ts'

const query = (values: Readonly<Record<string, string | number>>): string =>
  new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)])).toString()

const kept = new Map<string, Promise<unknown>>()

/** Requests a value once for each tenant and keeps it, such as a holder that many rows repeat. Forgets a failure. */
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

const holderKey = (locator: string): string => `holder ${locator}`

export const holderOf = (locator: string): Promise<Policyholder> =>
  once(holderKey(locator), () => get<Policyholder>(`/policyholder/${encodeURIComponent(locator)}`))

/** The permissions of the account. Rejects if they cannot be read. */
export const permissions = (): Promise<ReadonlySet<string>> =>
  once(
    'permissions',
    async () => new Set((await get<{ permissions: string[] }>('/auth/permissions')).permissions),
  )

/** Display names of products, exposures, perils and schedules, by name. Empty if they cannot be read. */
export const displayNames = (): Promise<ReadonlyMap<string, string>> =>
  once('names', async () => {
    const all = (await products()).flatMap(product => [
      product,
      ...product.exposures.flatMap(exposure => [exposure, ...exposure.perils]),
      ...product.paymentSchedules,
    ])
    return new Map(all.map(({ name, displayName }) => [name, displayName]))
  }).catch(() => new Map())

/** Empty if the account may not read products. Rejects if they cannot be read for another reason. */
export const products = (): Promise<Product[]> =>
  once('products', () =>
    get<Product[]>('/products').catch((problem: unknown) => {
      if (problem instanceof Problem && problem.status === 403) return []
      throw problem
    }),
  )

/** The reasons for which people cancel policies of the product. Every product also has `lapse`, for policies that are not paid. */
export const cancellationTypes = ({ cancellations }: ProductDetail): ProductDetail['cancellations'] =>
  cancellations.filter(({ name }) => name !== 'lapse')

/** The product in a version of the configuration, by default the latest. */
export const productDetail = (name: string, configVersion?: string): Promise<ProductDetail> =>
  once(`product ${name} ${configVersion ?? ''}`, () =>
    get<ProductDetail>(
      `/products/${encodeURIComponent(name)}${configVersion === undefined ? '' : `?${query({ configVersion })}`}`,
    ),
  )

/** The fields in that version of the product. None if the account may not read products. */
export const policyFields = (name: string, configVersion?: string): Promise<ProductFields> =>
  productDetail(name, configVersion)
    .then(productFields)
    .catch(() => NO_FIELDS)

/** The fields of policyholders, which all products share. None if they cannot be read. */
export async function holderFields(): Promise<Fields> {
  try {
    const [first] = await products()
    return first ? byName((await productDetail(first.name)).policyholderFields) : NO_FIELDS.policy
  } catch {
    return NO_FIELDS.policy
  }
}

/** In characters. The service rejects longer texts. */
export const LONGEST_SEARCH = 200

/** Searches policyholders, policies, and locators of their records. Keeps the policyholders, which the rows of policies name. */
export async function search(text: string, signal: AbortSignal): Promise<Found> {
  const found = await get<Found>(`/search?${query({ text })}`, signal)
  for (const holder of found.policyholders) void once(holderKey(holder.locator), async () => holder)
  return found
}

/** A page of the policies of a policyholder, oldest first. */
export const policiesOf = (
  policyholderLocator: string,
  pagingToken?: string,
  signal?: AbortSignal,
): Promise<PolicyList> =>
  get<PolicyList>(
    `/policies?${query({ policyholderLocator, pageSize: 50, ...(pagingToken !== undefined && { pagingToken }) })}`,
    signal,
  )

/** The policy as lists show it, with its current state. Undefined if the account may not list policies. */
export const summaryOf = async (locator: string, signal: AbortSignal): Promise<PolicySummary | undefined> =>
  (await search(locator, signal)).policies.find(one => one.locator === locator)

const PAGE = 200
const ENOUGH = 8

/**
 * Returns the newest policies, newest first. Lists are in the order of creation, so the requested span grows until it has enough
 * policies and shrinks if it has more than one page.
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

/** Locators of the policies opened last in this browser, in the tenant that is signed in to. No personal data. */
export const openedLast = (): string[] =>
  openedEver()
    .filter(({ tenant }) => tenant === session()?.tenantLocator)
    .map(({ locator }) => locator)

export function noteOpened(locator: string): void {
  const tenant = session()?.tenantLocator ?? ''
  const others = openedEver().filter(one => one.tenant !== tenant || one.locator !== locator)
  localStorage.setItem(OPENED_KEY, JSON.stringify([{ tenant, locator }, ...others].slice(0, 8)))
}
