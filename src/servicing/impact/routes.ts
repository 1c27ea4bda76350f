import { z } from '@hono/zod-openapi'
import { Refusal } from '../../kernel/errors.ts'
import { forTenant, type Route } from '../../platform/http/route.ts'
import { LARGEST_ARCHIVE_BYTES } from '../../product/archive/read.ts'
import { ImpactCreateResponse, ImpactForm, ImpactResponse, ImpactSummaryResponse } from './contract.ts'

const routes = forTenant('Impact of a configuration')
const IMPACT = '/impacts/{impactLocator}'

type Service = typeof import('./service.ts')

/**
 * Loads the service on the first call, because it is much code for rare calls. Answers 503 while the database waits for the
 * migration that adds the table of impacts. The rest of the service works without that table.
 */
async function served<T>(work: (service: Service) => Promise<T>): Promise<T> {
  try {
    return await work(await import('./service.ts'))
  } catch (problem) {
    if (!/no such table: impact_run/.test(String((problem as { cause?: unknown }).cause ?? problem)))
      throw problem
    const message = 'The database of the tenant waits for the migration that brings impacts; try again later.'
    throw new Refusal('tenantBehind', message, {}, 60)
  }
}

const impact = { schema: ImpactResponse, description: 'The impact.' }

export const impactRoutes: readonly Route[] = [
  routes.post('/impacts', {
    summary: 'Price all policies in force by another configuration',
    description:
      'Goes through the policies a portion at a time, and writes nothing to them. Nothing is called either: no integrations, no external rater. One runs at a time. It and its files are kept for 30 days after it last changed. Mistakes in the archive are answered 200 with `success` false.',
    permission: 'impacts.write',
    form: { schema: ImpactForm, file: 'zipFile', largestFileBytes: LARGEST_ARCHIVE_BYTES },
    answer: { schema: ImpactCreateResponse, description: 'Running, or with `success` false what is wrong.' },
    handle: ({ body, file }, context) => served(service => service.createImpact(context, body, file)),
  }),
  routes.get('/impacts', {
    summary: 'List impacts, the newest first',
    permission: 'impacts.read',
    answer: { schema: z.array(ImpactSummaryResponse), description: 'At most 20.' },
    handle: (_, context) => served(service => service.listImpacts(context)),
  }),
  routes.get(IMPACT, {
    summary: 'See how far an impact is, and its totals so far',
    permission: 'impacts.read',
    answer: impact,
    handle: ({ params }, context) => served(service => service.readImpact(context, params.impactLocator)),
  }),
  routes.patch(`${IMPACT}/pause`, {
    summary: 'Pause an impact',
    description: 'Answered when the policy that is under way is done with.',
    permission: 'impacts.write',
    answer: { description: 'It is paused.' },
    handle: ({ params }, context) => served(service => service.pauseImpact(context, params.impactLocator)),
  }),
  routes.patch(`${IMPACT}/resume`, {
    summary: 'Let an impact go on that is paused or was stopped by an error',
    permission: 'impacts.write',
    answer: { description: 'It goes on.' },
    handle: ({ params }, context) => served(service => service.resumeImpact(context, params.impactLocator)),
  }),
  routes.delete(IMPACT, {
    summary: 'Remove an impact with its files',
    permission: 'impacts.write',
    answer: { description: 'It is removed.' },
    handle: ({ params }, context) => served(service => service.removeImpact(context, params.impactLocator)),
  }),
  routes.get(`${IMPACT}/rows`, {
    summary: 'Get a row for each policy so far',
    permission: 'impacts.read',
    answer: { description: 'CSV with both prices of each policy.', media: 'text/csv' },
    handle: ({ params }, context) => served(service => service.impactRows(context, params.impactLocator)),
  }),
  routes.get(`${IMPACT}/page`, {
    summary: 'Get the report as a page with charts',
    permission: 'impacts.read',
    answer: { description: 'HTML that loads nothing from elsewhere.', media: 'text/html' },
    handle: ({ params }, context) => served(service => service.impactPageOf(context, params.impactLocator)),
  }),
]
