import { z } from '@hono/zod-openapi'
import { forTenant, type Route } from '../../platform/http/route.ts'
import {
  BalancesQuery,
  BalancesResponse,
  BooksResponse,
  ClosePeriodRequest,
  PeriodResponse,
} from './contract.ts'

const routes = forTenant('Books')

/** Loaded by the first call, because it is a lot of code for rare calls. */
const service = () => import('./service.ts')

export const booksRoutes: readonly Route[] = [
  routes.get('/books', {
    summary: 'Read how far the books are closed and summarized',
    permission: 'books.read',
    answer: { schema: BooksResponse, description: 'For all databases of the tenant.' },
    handle: async (_, context) => (await service()).readBooks(context),
  }),
  routes.get('/books/periods', {
    summary: 'List closed periods, the newest first',
    permission: 'books.read',
    answer: { schema: z.array(PeriodResponse), description: 'At most 1,000.' },
    handle: async (_, context) => (await service()).listPeriods(context),
  }),
  routes.post('/books/periods', {
    summary: 'Close the books until a day',
    description:
      'Entries that are recorded later and take effect before that day are booked on that day; reports show both times. A closed period stays closed.',
    permission: 'books.close',
    body: { schema: ClosePeriodRequest, required: true },
    answer: { schema: PeriodResponse, description: 'The closed period.' },
    handle: async ({ body }, context) => (await service()).closePeriod(context, body),
  }),
  routes.get('/books/balances', {
    summary: 'Read debits and credits of accounts',
    description: 'By the day on which entries are booked. Debits equal credits for every day and currency.',
    permission: 'books.read',
    query: BalancesQuery,
    answer: { schema: BalancesResponse, description: 'Amounts in major units.' },
    handle: async ({ query }, context) => (await service()).readBalances(context, query),
  }),
  routes.post('/books/summaries/rebuild', {
    summary: 'Reset the summaries of the journal',
    description:
      'Balances are computed from them. The next requests for balances compute them again from the journal.',
    permission: 'books.close',
    answer: { description: 'The summaries are deleted.' },
    handle: async (_, context) => (await service()).rebuildSummaries(context),
  }),
]
