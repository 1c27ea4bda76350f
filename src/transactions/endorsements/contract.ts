// Endorsements change an issued policy in steps (contract 1, Endorsements; brief 1.4). The contract of renewals is
// built from this one.
import { z } from '@hono/zod-openapi'
import {
  component,
  FieldValueLists,
  Flag,
  Locator,
  list,
  Name,
  OptionalAmount,
  OptionalBoolean,
  OptionalName,
  OptionalText,
  OptionalTimestamp,
  optional,
  optionalRecord,
  RequestFieldValues,
  Text,
  Texts,
  Timestamp,
  TimestampIfAny,
} from '../../platform/wire.ts'
import { reportProblem } from '../../platform/wire-problem.ts'
import {
  AutomatedUnderwritingResultResponse,
  FutureInvoiceResponse,
  PolicyInvoiceResponse,
} from '../../policy/contract/billing.ts'
import { PolicyDocumentResponse } from '../../policy/contract/documents.ts'
import {
  ExposureCreateRequest,
  fieldGroupChanges,
  OptionalAutofill,
  PerilCreateRequest,
  PerilUpdateRequest,
} from '../../policy/contract/requests.ts'
import { type ConflictHandling, OptionalConflictHandling } from '../cancellations/contract.ts'

export const EndorsementState = z
  .enum(['application', 'quoted', 'accepted', 'issued', 'invalidated', 'discarded'])
  .openapi('EndorsementState')
export type EndorsementState = z.infer<typeof EndorsementState>

/** A creation takes every step up to this state. Default `application`. */
export const OptionalFirstState = optional(
  EndorsementState.extract(['application', 'quoted', 'accepted', 'issued']),
)

/**
 * `endPerils` lists the locators of perils whose cover ends. A change of a peril also applies to the perils that renew it, unless
 * the request names those too.
 */
export const EndorsementExposureUpdateRequest = component('EndorsementExposureUpdateRequest', {
  exposureLocator: Locator,
  fieldValues: RequestFieldValues,
  ...fieldGroupChanges,
  addPerils: list(PerilCreateRequest),
  updatePerils: list(PerilUpdateRequest),
  endPerils: list(Locator),
})
export type EndorsementExposureUpdateRequest = z.infer<typeof EndorsementExposureUpdateRequest>

/** Returns the properties that endorsements and renewals share. `exposureUpdate` has another name in the document for each. */
export const policyChanges = (exposureUpdate: typeof EndorsementExposureUpdateRequest) => ({
  fieldValues: RequestFieldValues,
  ...fieldGroupChanges,
  addExposures: list(ExposureCreateRequest),
  updateExposures: list(exposureUpdate),
  endExposures: list(Locator),
  /**
   * A renewal bills its term by this schedule. An endorsement bills everything that is not invoiced yet by it, together with the
   * new charges, even if the policy already has that schedule.
   */
  newPaymentScheduleName: OptionalName,
  autofill: OptionalAutofill,
})

const newPolicyEndTimestamp = OptionalTimestamp.describe(
  'An earlier end cuts off everything after it, including later terms; a later end extends the last segment. Requires the feature `property.endorsement.policy.end.enabled` in config.json, unless it equals the present end of the policy.',
)

const changes = {
  startTimestamp: OptionalTimestamp,
  newPolicyEndTimestamp,
  ...policyChanges(EndorsementExposureUpdateRequest),
  reprice: OptionalBoolean.describe(
    'Only for endorsement types that are configured to require it; there it is mandatory.',
  ),
}

/** `endorsementName` is an endorsement type of the configuration. */
export const EndorsementCreateRequest = component('EndorsementCreateRequest', {
  endorsementName: Name,
  state: OptionalFirstState,
  ...changes,
  conflictHandling: OptionalConflictHandling,
})
export type EndorsementCreateRequest = z.infer<typeof EndorsementCreateRequest>

const EndorsementPolicyUpdateRequest = z
  .object(policyChanges(EndorsementExposureUpdateRequest))
  .openapi('EndorsementPolicyUpdateRequest')

const NO_CHANGES = EndorsementPolicyUpdateRequest.parse({})

/**
 * POST /policy/{policyLocator}/endorse and /previewEndorsementPrice, both legacy (brief 0.10). Published clients send no
 * `reprice`, but endorsement types that are configured to require it do so here too.
 */
export const EndorsementIssueRequest = z
  .object({
    endorsementName: Name,
    startTimestamp: OptionalTimestamp,
    newPolicyEndTimestamp,
    reprice: changes.reprice,
    updatePolicy: optionalRecord(EndorsementPolicyUpdateRequest),
  })
  .transform(
    ({ updatePolicy, ...request }): EndorsementCreateRequest => ({
      ...(updatePolicy ?? NO_CHANGES),
      ...request,
    }),
  )
  .openapi('EndorsementIssueRequest')
export type EndorsementIssueRequest = z.infer<typeof EndorsementIssueRequest>

export const EndorsementUpdateRequest = component('EndorsementUpdateRequest', changes)
export type EndorsementUpdateRequest = z.infer<typeof EndorsementUpdateRequest>

const ACTIONS = ['discard', 'quote', 'accept', 'issue', 'invalidate', 'update'] as const
export const OptionalAction = optional(z.enum(ACTIONS))

type Action = (typeof ACTIONS)[number]

/** Only `update` has changes. */
export type ActionRequest<Update> = { readonly conflictHandling?: ConflictHandling } & (
  | { readonly action: 'update'; readonly update: Update }
  | { readonly action: Exclude<Action, 'update'> }
)

/** Reads an action and the changes in property `name`. Changes without an action are an update (brief 1.4). */
export function readAction<Update>(
  { action, update, ...rest }: { action?: Action; update?: Update; conflictHandling?: ConflictHandling },
  name: string,
  ctx: z.core.ParsePayload,
): ActionRequest<Update> {
  if (update !== undefined && (action ?? 'update') === 'update') return { ...rest, action: 'update', update }
  if (update === undefined && action !== undefined && action !== 'update') return { ...rest, action }
  if (action === undefined) reportProblem(ctx, `must have an action, or changes in ${name}`)
  else if (action === 'update') reportProblem(ctx, 'must contain the changes if the action is update', [name])
  else
    reportProblem(ctx, `is permitted only with the action update; send ${action} in a separate request`, [
      name,
    ])
  return z.NEVER
}

/** PATCH /endorsements/{endorsementLocator}. */
export const EndorsementActionRequest = z
  .object({
    action: OptionalAction,
    endorsementUpdate: optionalRecord(EndorsementUpdateRequest),
    conflictHandling: OptionalConflictHandling,
  })
  .transform(({ endorsementUpdate: update, ...request }, ctx) =>
    readAction({ ...request, update }, 'endorsementUpdate', ctx),
  )
  .openapi('EndorsementActionRequest')
export type EndorsementActionRequest = z.infer<typeof EndorsementActionRequest>

/** Refers to a named component, so that the OpenAPI document contains it once. */
const repeated = (request: string) => ({
  type: 'object' as const,
  allOf: [{ $ref: `#/components/schemas/${request}` }],
})

/**
 * Describes the locator of an addition. An addition without one in the request gets one, so that an update can undo it. The
 * record created from the addition has a different locator.
 */
const additionLocator = (takenBackBy: string) => ({
  locator: {
    type: 'string' as const,
    description: `Identifies this addition while the record is an application. To remove the addition, send an update with this locator in ${takenBackBy}.`,
  },
})

const newFieldGroups = z.array(
  z.object({ fieldName: Text, locator: OptionalText, fieldValues: FieldValueLists }).openapi({
    ...repeated('FieldGroupCreateRequest'),
    properties: additionLocator('removeFieldGroups'),
  }),
)

const repeatedFieldGroupChanges = {
  addFieldGroups: newFieldGroups,
  updateFieldGroups: z.array(
    z
      .object({ fieldGroupLocator: Text, fieldName: Text, fieldValues: FieldValueLists })
      .openapi(repeated('FieldGroupUpdateRequest')),
  ),
  removeFieldGroups: Texts,
}

const perilAmounts = {
  deductible: OptionalAmount,
  lumpSumPayment: OptionalAmount,
  indemnityInAggregate: OptionalText,
  indemnityPerEvent: OptionalText,
  indemnityPerItem: OptionalText,
}

const newPerils = z.array(
  z
    .object({
      name: Text,
      locator: OptionalText,
      fieldValues: FieldValueLists,
      fieldGroups: newFieldGroups,
      ...perilAmounts,
    })
    .openapi({ ...repeated('PerilCreateRequest'), properties: additionLocator('endPerils') }),
)

const FlagIfAny = Flag.optional()

const updatedPerils = z.array(
  z
    .object({
      perilLocator: Text,
      fieldValues: FieldValueLists,
      ...repeatedFieldGroupChanges,
      ...perilAmounts,
      removeDeductible: FlagIfAny,
      removeIndemnityInAggregate: FlagIfAny,
      removeIndemnityPerEvent: FlagIfAny,
      removeIndemnityPerItem: FlagIfAny,
      removeLumpSumPayment: FlagIfAny,
    })
    .openapi(repeated('PerilUpdateRequest')),
)

const newExposures = z.array(
  z
    .object({
      exposureName: Text,
      locator: OptionalText,
      perils: newPerils,
      fieldValues: FieldValueLists,
      fieldGroups: newFieldGroups,
    })
    .openapi({ ...repeated('ExposureCreateRequest'), properties: additionLocator('endExposures') }),
)

const updatedExposure = z.object({
  exposureLocator: Text,
  fieldValues: FieldValueLists,
  ...repeatedFieldGroupChanges,
  addPerils: newPerils,
  updatePerils: updatedPerils,
  endPerils: Texts,
})

/** `policyChanges` in an answer. `exposureUpdate` is the component that updates exposures. */
export const repeatedPolicyChanges = (exposureUpdate: string) => ({
  fieldValues: FieldValueLists,
  ...repeatedFieldGroupChanges,
  addExposures: newExposures,
  updateExposures: z.array(updatedExposure.openapi(repeated(exposureUpdate))),
  endExposures: Texts,
  newPaymentScheduleName: OptionalText,
})

export const transaction = {
  locator: Text,
  policyholderLocator: Text,
  policyLocator: Text,
  productLocator: Text,
  createdTimestamp: Timestamp,
  updatedTimestamp: Timestamp,
  issuedTimestamp: TimestampIfAny,
  documents: z.array(PolicyDocumentResponse),
  automatedUnderwritingResult: AutomatedUnderwritingResultResponse.optional(),
  invoice: PolicyInvoiceResponse.optional(),
  plannedInvoices: z.array(FutureInvoiceResponse).optional().describe('Present once it is quoted.'),
}

export const EndorsementResponse = component('EndorsementResponse', {
  ...transaction,
  endorsementName: Text,
  state: EndorsementState,
  startTimestamp: TimestampIfAny,
  newPolicyEndTimestamp: TimestampIfAny,
  reprice: Flag,
  ...repeatedPolicyChanges('EndorsementExposureUpdateRequest'),
})
export type EndorsementResponse = z.infer<typeof EndorsementResponse>
