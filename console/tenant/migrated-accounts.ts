// The accounts of a migration in the order in which they were sent, with warnings about oddities that were accepted.
import { get, queryOf } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { moment, words } from '../format.ts'
import { badge, type Column, collapsible, emptyNote, facts, loadedSection, table } from '../parts.ts'
import type { MigratedAccount } from '../wire.ts'
import { PAGE_SIZE, pagesOf } from './address.ts'
import { TENANT, MIGRATIONS as WORDS } from './words.ts'

type AccountList = { readonly items: readonly MigratedAccount[]; readonly listCompleted: boolean }

/** `path` is the path of the migration. The accounts are requested when opened, or if the address names a page of them. */
export const accountsOf = (path: string, locator: string, page: string | null, signal: AbortSignal): View =>
  collapsible('accounts', page !== null, [h('span', { class: 'node-name' }, WORDS.everyAccount)], () =>
    loadedSection('the accounts', async (): Promise<Child> => {
      const from = page ?? ''
      const asked = queryOf({ offset: from, count: PAGE_SIZE })
      const { items, listCompleted } = await get<AccountList>(`${path}/accounts/list?${asked}`, signal)
      return [
        table(WORDS.accounts, COLUMNS, items, accountShown),
        pagesOf(['migrations', locator], {}, from, {
          count: items.length,
          next: listCompleted ? undefined : String(Number(from) + items.length),
        }),
      ]
    }),
  )

const TONES: Readonly<Record<MigratedAccount['accountMigrationState'], string>> = {
  pending: 'waiting',
  processing: 'pending',
  completed: 'issued',
  failed: 'failed',
  error: 'failed',
}

const COLUMNS: readonly Column<MigratedAccount>[] = [
  { head: WORDS.account, cell: ({ accountOriginalId }) => accountOriginalId },
  {
    head: TENANT.state,
    cell: ({ accountMigrationState: state }) => badge(TONES[state], words(state)),
  },
  {
    head: WORDS.items,
    amount: true,
    cell: ({ processedItems, totalItems }) => WORDS.itemsText(processedItems, totalItems),
  },
  { head: WORDS.oddities, amount: true, cell: ({ warnings = [] }) => warnings.length },
  { head: WORDS.changed, cell: ({ lastUpdated }) => moment(lastUpdated) },
]

const accountShown = ({ accountLocator, warnings = [] }: MigratedAccount): View =>
  h(
    'div',
    {},
    facts([[TENANT.locator, h('code', {}, accountLocator)]]),
    warnings.length === 0
      ? emptyNote(WORDS.noOddities)
      : facts(warnings.map(({ locator, errors }) => [locator, errors.join(' ')] as const)),
  )
