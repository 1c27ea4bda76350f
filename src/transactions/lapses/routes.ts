import { z } from '@hono/zod-openapi'
import { forTenant, type Route } from '../../platform/http/route.ts'
import { AddDocumentForm, AddDocumentQuery } from '../../policy/contract/documents.ts'
import { LARGEST_UPLOAD_BYTES } from '../documents/upload.ts'
import {
  GraceLapseReinstatementResponse,
  GracePeriodResponse,
  GracePeriodUpdateRequest,
  LapseReinstatementResponse,
  LapseResponse,
  ReinstatementAmountDueRequest,
  ReinstatementAmountDueResponse,
  ReinstatementDocumentRemoveRequest,
  ReinstatementInvoiceRequest,
} from './contract.ts'
import {
  actOnReinstatement,
  addReinstatementDocument,
  graceLapseReinstatementsOf,
  gracePeriodsOf,
  openReinstatement,
  readGracePeriod,
  readLapse,
  readLapseReinstatement,
  reinstatementAmountDue,
  removeReinstatementDocument,
  updateGracePeriod,
} from './service.ts'

const { get, post } = forTenant('Legacy lapse and reinstatement')
const gracePeriods = forTenant('Grace periods')
const gracePeriod = { schema: GracePeriodResponse, description: 'The grace period.' }
const reinstatement = { schema: LapseReinstatementResponse, description: 'The reinstatement.' }

export const lapseRoutes: readonly Route[] = [
  gracePeriods.get('/gracePeriod/{locator}', {
    summary: 'Get a grace period',
    permission: 'lapses.read',
    answer: gracePeriod,
    handle: ({ params }, context) => readGracePeriod(context, params.locator),
  }),
  gracePeriods.get('/policy/{policyLocator}/gracePeriods', {
    summary: 'List the grace periods of a policy, oldest first',
    permission: 'lapses.read',
    answer: {
      schema: z.array(GracePeriodResponse),
      description: 'All grace periods, including settled ones.',
    },
    handle: ({ params }, context) => gracePeriodsOf(context, params.policyLocator),
  }),
  gracePeriods.patch('/gracePeriod/{locator}', {
    summary: 'Change an open grace period',
    description: 'If the new end is now or in the past, the policy lapses immediately.',
    permission: 'lapses.write',
    body: { schema: GracePeriodUpdateRequest, required: true },
    answer: gracePeriod,
    handle: ({ params, body }, context) =>
      updateGracePeriod(context, params.locator, {
        endAt: body.endTimestamp,
        cancelEffectiveAt: body.cancelEffectiveTimestamp,
        resetCancelEffective: body.resetCancelEffectiveTimestamp,
      }),
  }),
  get('/policy/{policyLocator}/graceLapseReinstatements', {
    deprecated: true,
    summary: 'List the grace periods of a policy with the lapses and reinstatements that followed',
    permission: 'lapses.read',
    answer: { schema: z.array(GraceLapseReinstatementResponse), description: 'Oldest first.' },
    handle: ({ params }, context) => graceLapseReinstatementsOf(context, params.policyLocator),
  }),
  get('/lapse/{lapseLocator}', {
    deprecated: true,
    summary: 'Get a lapse',
    permission: 'lapses.read',
    answer: { schema: LapseResponse, description: 'The lapse.' },
    handle: ({ params }, context) => readLapse(context, params.lapseLocator),
  }),
  post('/policy/{policyLocator}/createReinstatement', {
    deprecated: true,
    summary: 'Create a reinstatement of a lapsed policy',
    description: 'Only one at a time. It is pending until the reinstatement period ends, and is then closed.',
    permission: 'lapses.write',
    answer: reinstatement,
    handle: ({ params }, context) => openReinstatement(context, params.policyLocator),
  }),
  get('/reinstatement/{reinstatementLocator}', {
    deprecated: true,
    summary: 'Get the reinstatement of a lapsed policy',
    permission: 'lapses.read',
    answer: reinstatement,
    handle: ({ params }, context) => readLapseReinstatement(context, params.reinstatementLocator),
  }),
  post('/reinstatement/{reinstatementLocator}/close', {
    deprecated: true,
    summary: 'Close the reinstatement of a lapsed policy',
    description: 'Its invoice becomes void.',
    permission: 'lapses.write',
    answer: reinstatement,
    handle: ({ params }, context) =>
      actOnReinstatement(context, params.reinstatementLocator, { action: 'close' }),
  }),
  post('/reinstatement/{reinstatementLocator}/amountDue', {
    deprecated: true,
    summary: 'Get the amount due immediately for reinstating a lapsed policy from a given time',
    description: 'The amounts to be paid by that time. Nothing is stored.',
    permission: 'lapses.read',
    body: { schema: ReinstatementAmountDueRequest, required: true },
    answer: { schema: ReinstatementAmountDueResponse, description: 'The amounts.' },
    handle: ({ params, body }, context) =>
      reinstatementAmountDue(context, params.reinstatementLocator, body.reinstatementTimestamp),
  }),
  post('/reinstatement/{reinstatementLocator}/invoice', {
    deprecated: true,
    summary: 'Invoice the reinstatement of a lapsed policy',
    description:
      'The reinstatement takes effect at the given time, which may be in the past but not before the lapse. Paying the invoice issues it.',
    permission: 'lapses.write',
    body: { schema: ReinstatementInvoiceRequest, required: true },
    answer: reinstatement,
    handle: ({ params, body }, context) =>
      actOnReinstatement(context, params.reinstatementLocator, {
        action: 'invoice',
        effectiveAt: body.reinstatementTimestamp,
      }),
  }),
  post('/reinstatement/{reinstatementLocator}/addDocument', {
    deprecated: true,
    summary: 'Upload a document to the reinstatement of a lapsed policy',
    description:
      'A PDF or HTML file of at most 25 MiB; the type is detected from its bytes. Send `displayName` and `documentType` in the query or as parts of the form. Not possible once the reinstatement is closed.',
    permission: 'lapses.write',
    query: AddDocumentQuery,
    form: { schema: AddDocumentForm, file: 'document', largestFileBytes: LARGEST_UPLOAD_BYTES },
    answer: reinstatement,
    handle: ({ params, query, body, file }, context) =>
      addReinstatementDocument(context, params.reinstatementLocator, { query, form: body, file }),
  }),
  post('/reinstatement/{reinstatementLocator}/removeDocument', {
    deprecated: true,
    summary: 'Remove an uploaded document from the reinstatement of a lapsed policy',
    description: 'Only uploaded documents can be removed, and only before the reinstatement is issued.',
    permission: 'lapses.write',
    body: { schema: ReinstatementDocumentRemoveRequest, required: true },
    answer: reinstatement,
    handle: ({ params, body }, context) =>
      removeReinstatementDocument(context, params.reinstatementLocator, body.documentLocator),
  }),
]
