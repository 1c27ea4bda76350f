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
async function withImpactService<T>(work: (service: Service) => Promise<T>): Promise<T> {
  try {
    return await work(await import('./service.ts'))
  } catch (problem) {
    if (!/no such table: impact_run/.test(String((problem as { cause?: unknown }).cause ?? problem)))
      throw problem
    const message = "The tenant's database is not migrated for impacts yet; try again later."
    throw new Refusal('tenantBehind', message, {}, 60)
  }
}

const impact = { schema: ImpactResponse, description: 'The impact.' }

export const impactRoutes: readonly Route[] = [
  routes.post('/impacts', {
    summary: 'Price all policies in force with another configuration',
    description:
      'Processes the policies in portions and does not change them. It calls no integrations and no external rater. Scripts of the archive read secrets only if the caller has `secrets.read`. One impact runs at a time. It and its files are kept for 30 days after its last change. If the archive has errors, the response is 200 with `success` false.',
    permission: 'impacts.write',
    form: { schema: ImpactForm, file: 'zipFile', largestFileBytes: LARGEST_ARCHIVE_BYTES },
    answer: {
      schema: ImpactCreateResponse,
      description: 'The running impact, or `success` false with the errors.',
    },
    handle: ({ body, file }, context) =>
      withImpactService(service => service.createImpact(context, body, file)),
  }),
  routes.get('/impacts', {
    summary: 'List impacts, the newest first',
    permission: 'impacts.read',
    answer: { schema: z.array(ImpactSummaryResponse), description: 'At most 20.' },
    handle: (_, context) => withImpactService(service => service.listImpacts(context)),
  }),
  routes.get(IMPACT, {
    summary: 'Read the progress of an impact, and its totals so far',
    permission: 'impacts.read',
    answer: impact,
    handle: ({ params }, context) =>
      withImpactService(service => service.readImpact(context, params.impactLocator)),
  }),
  routes.patch(`${IMPACT}/pause`, {
    summary: 'Pause an impact',
    description: 'The response comes when the current policy has been processed.',
    permission: 'impacts.write',
    answer: { description: 'The impact is paused.' },
    handle: ({ params }, context) =>
      withImpactService(service => service.pauseImpact(context, params.impactLocator)),
  }),
  routes.patch(`${IMPACT}/resume`, {
    summary: 'Resume an impact that is paused or was stopped by an error',
    permission: 'impacts.write',
    answer: { description: 'The impact is resumed.' },
    handle: ({ params }, context) =>
      withImpactService(service => service.resumeImpact(context, params.impactLocator)),
  }),
  routes.delete(IMPACT, {
    summary: 'Remove an impact and its files',
    permission: 'impacts.write',
    answer: { description: 'The impact is removed.' },
    handle: ({ params }, context) =>
      withImpactService(service => service.removeImpact(context, params.impactLocator)),
  }),
  routes.get(`${IMPACT}/rows`, {
    summary: 'Get a row for each policy so far',
    permission: 'impacts.read',
    answer: { description: 'CSV with both prices of each policy.', media: 'text/csv' },
    handle: ({ params }, context) =>
      withImpactService(service => service.impactRows(context, params.impactLocator)),
  }),
  routes.get(`${IMPACT}/page`, {
    summary: 'Get the report as a page with charts',
    permission: 'impacts.read',
    answer: { description: 'HTML that loads nothing from other addresses.', media: 'text/html' },
    handle: ({ params }, context) =>
      withImpactService(service => service.impactPageOf(context, params.impactLocator)),
  }),
]
