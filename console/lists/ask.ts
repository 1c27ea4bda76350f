// Reads pages of the work lists, and counts the lists. The address has the filters and the page.
import { get, ownTenant, queryOf } from '../api.ts'
import { permissions } from '../find.ts'
import type {
  FailedDelivery,
  FailedDeliveryList,
  MigrationList,
  MigrationSummary,
  PolicyList,
  PolicySummary,
  WorkCount,
  WorkItem,
  WorkList,
} from '../wire.ts'
import { type ListName, POLICY_STATES, WORK_LISTS } from './words.ts'

/** Records on a page. The console never keeps more than one page. */
export const PAGE_SIZE = 50

/** Lists of interfaces other than `/workLists` are counted by reading a page of this size. */
const COUNTED = 100

export type Choice = {
  readonly list: ListName
  readonly product: string
  readonly type: string
  readonly state: string
  readonly days: string
  /** The token of the page. Empty for the first page. */
  readonly from: string
}

/** The records of lists that have several kinds. */
export const TYPES: Partial<Record<ListName, readonly string[]>> = {
  applications: ['endorsement', 'renewal'],
  quoted: ['quote', 'endorsement', 'renewal'],
}

export const STATES: Partial<Record<ListName, readonly string[]>> = {
  policies: POLICY_STATES,
  deliveries: ['failed', 'diverted'],
}

/** Lists of a period that ends or began within a number of days, and that number if none is chosen. */
export const DAYS: Partial<Record<ListName, number>> = { expiring: 30, reinstatable: 90 }

export const hasProduct = (list: ListName): boolean => list !== 'deliveries' && list !== 'migrations'

export const isList = (name: string): name is ListName => Object.hasOwn(WORK_LISTS, name)

/** Reads the filters that the list has. */
export const choiceOf = (list: ListName, query: URLSearchParams): Choice => {
  const text = (name: string, isFilter = true): string => (isFilter ? (query.get(name)?.trim() ?? '') : '')
  return {
    list,
    product: text('product', hasProduct(list)),
    type: text('type', TYPES[list] !== undefined),
    state: text('state', STATES[list] !== undefined),
    days: text('days', DAYS[list] !== undefined),
    from: text('from'),
  }
}

/** The address of a choice, at the page of the token. */
export function addressOf({ list, ...choice }: Choice, changes: Partial<Choice> = {}): string {
  const query = queryOf({ ...choice, ...changes })
  return `#/work/${list}${query === '' ? '' : `?${query}`}`
}

/** Whether any filter is chosen. */
export const isChosen = ({ product, type, state, days }: Choice): boolean =>
  [product, type, state, days].some(value => value !== '')

/** Whether the list belongs to `/workLists`, which counts it. The other lists have separate interfaces. */
export const isOfPolicies = (name: ListName): boolean =>
  name !== 'policies' && name !== 'deliveries' && name !== 'migrations'

type Page<Row> = { readonly items: readonly Row[]; readonly next: string | undefined }

export async function workPage(choice: Choice, signal: AbortSignal): Promise<Page<WorkItem>> {
  const { list, product, type, days, from } = choice
  const asked = { productName: product, recordType: type, days, pageSize: PAGE_SIZE, pagingToken: from }
  const page = await get<WorkList>(`/workLists/${list}?${queryOf(asked)}`, signal)
  return { items: page.items, next: page.pagingToken }
}

export async function policyPage(
  { product, state, from }: Choice,
  signal: AbortSignal,
): Promise<Page<PolicySummary>> {
  const asked = queryOf({ productName: product, state, pageSize: PAGE_SIZE, pagingToken: from })
  const page = await get<PolicyList>(`/policies?${asked}`, signal)
  return { items: page.policies, next: page.pagingToken }
}

export async function deliveryPage(
  { state, from }: Pick<Choice, 'state' | 'from'>,
  signal: AbortSignal,
  pageSize = PAGE_SIZE,
): Promise<Page<FailedDelivery>> {
  const asked = queryOf({ state, pageSize, pagingToken: from })
  const page = await get<FailedDeliveryList>(`/event/${ownTenant()}/deliveries/list?${asked}`, signal)
  return { items: page.items, next: page.pagingToken }
}

export async function migrationPage(
  { from }: Pick<Choice, 'from'>,
  signal: AbortSignal,
  pageSize = PAGE_SIZE,
): Promise<Page<MigrationSummary>> {
  const asked = queryOf({ open: 'true', pageSize, pagingToken: from })
  const page = await get<MigrationList>(`/migration/${ownTenant()}/migrations/list?${asked}`, signal)
  return { items: page.items, next: page.pagingToken }
}

export type Counted = { readonly count: number; readonly hasMore: boolean }

export const workCounts = (product: string, signal: AbortSignal): Promise<ReadonlyMap<string, Counted>> =>
  get<WorkCount[]>(`/workLists?${queryOf({ productName: product })}`, signal).then(
    counts =>
      new Map(counts.map(({ workList, count, hasMore }) => [workList, { count: Number(count), hasMore }])),
  )

const pageCount = ({ items, next }: Page<unknown>): Counted => ({
  count: items.length,
  hasMore: next !== undefined,
})

/** Returns the groups of lists that the account may see, each with its counts. */
export async function countGroups(
  signal: AbortSignal,
): Promise<
  readonly { readonly names: readonly ListName[]; readonly counts: Promise<ReadonlyMap<string, Counted>> }[]
> {
  const held = await permissions()
  const may = (...names: string[]): boolean => names.some(name => held.has(name))
  const one = (name: ListName, page: Promise<Page<unknown>>) => ({
    names: [name],
    counts: page.then(found => new Map([[name as string, pageCount(found)]])),
  })
  const first = { state: '', from: '' }
  const ofPolicies = (Object.keys(WORK_LISTS) as ListName[]).filter(name => isOfPolicies(name))
  return [
    ...(may('policies.list') ? [{ names: ofPolicies, counts: workCounts('', signal) }] : []),
    ...(may('webhooks.read', 'webhooks.list')
      ? [one('deliveries', deliveryPage(first, signal, COUNTED))]
      : []),
    ...(may('migration.list') ? [one('migrations', migrationPage(first, signal, COUNTED))] : []),
  ]
}
