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
    summary: 'See what of the books is closed and summarized',
    permission: 'books.read',
    answer: { schema: BooksResponse, description: 'Of all databases of the tenant.' },
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
      'What is recorded from now on and takes effect before it is booked on that day, and reports say both times. A closed period stays closed.',
    permission: 'books.close',
    body: { schema: ClosePeriodRequest, required: true },
    answer: { schema: PeriodResponse, description: 'It is closed.' },
    handle: async ({ body }, context) => (await service()).closePeriod(context, body),
  }),
  routes.get('/books/balances', {
    summary: 'Read debits and credits of accounts',
    description: 'By the day to which entries are booked. Debits equal credits for every day and currency.',
    permission: 'books.read',
    query: BalancesQuery,
    answer: { schema: BalancesResponse, description: 'Amounts in major units.' },
    handle: async ({ query }, context) => (await service()).readBalances(context, query),
  }),
  routes.post('/books/summaries/rebuild', {
    summary: 'Make the summaries of the journal again',
    description: 'Balances are made from them; the next requests for balances make them from the journal.',
    permission: 'books.close',
    answer: { description: 'They are forgotten.' },
    handle: async (_, context) => (await service()).rebuildSummaries(context),
  }),
]
