// Modifications: one for each transaction of a policy, with what it changed (brief 2.1.3 to 2.1.5).
import { z } from '@hono/zod-openapi'
import {
  Currency,
  FieldGroupValues,
  FieldValueLists,
  Integer,
  OptionalAmount,
  OptionalText,
  Text,
  Texts,
  Timestamp,
  TimestampIfAny,
} from '../../platform/wire.ts'
import { MediaByLocator } from './characteristics.ts'
import { AutomatedUnderwritingResultResponse } from './prices.ts'

const part = {
  locator: Text,
  policyholderLocator: Text,
  policyLocator: Text,
  productLocator: Text,
}

/** One for each new peril segment; `premiumChange` = the new amount less the replaced share. */
export const PerilModificationResponse = z
  .object({
    ...part,
    exposureModificationLocator: Text,
    perilLocator: Text,
    premiumChange: OptionalAmount,
    premiumChangeCurrency: Currency,
    newPerilCharacteristicsLocator: OptionalText,
    replacedPerilCharacteristicsLocator: OptionalText,
  })
  .openapi('PerilModificationResponse')
export type PerilModificationResponse = z.infer<typeof PerilModificationResponse>

/** `newExposureCharacteristicsLocator` only when the exposure's own data changed. */
export const ExposureModificationResponse = z
  .object({
    ...part,
    exposureLocator: Text,
    policyModificationLocator: Text,
    perilModifications: z.array(PerilModificationResponse),
    newExposureCharacteristicsLocator: OptionalText,
  })
  .openapi('ExposureModificationResponse')
export type ExposureModificationResponse = z.infer<typeof ExposureModificationResponse>

export const PolicyModificationResponse = z
  .object({
    ...part,
    name: Text.openapi({
      description:
        "modification.policy.create, .renew, .cancel, .withdraw, .lapse, .reinstate, or an endorsement's type.",
    }),
    displayId: Text,
    number: Integer.openapi({ description: 'Counts from 0 in creation order.' }),
    createdTimestamp: Timestamp,
    updatedTimestamp: Timestamp,
    issuedTimestamp: TimestampIfAny,
    effectiveTimestamp: TimestampIfAny,
    policyEndTimestamp: TimestampIfAny,
    premiumChange: OptionalAmount,
    premiumChangeCurrency: Currency,
    automatedUnderwritingResult: AutomatedUnderwritingResultResponse.optional(),
    exposureModifications: z.array(ExposureModificationResponse),
    newPolicyCharacteristicsLocator: OptionalText.openapi({
      description: 'The first of newPolicyCharacteristicsLocators.',
    }),
    newPolicyCharacteristicsLocators: Texts,
    mediaByLocator: MediaByLocator.openapi({
      description:
        'Media that the modification brought: fields of the segments, exposures and perils that it made name them, and those of no modification before it do.',
    }),
    cancellationName: OptionalText,
    endorsementLocator: OptionalText,
    renewalLocator: OptionalText,
    fieldValues: FieldValueLists.openapi({ deprecated: true }),
    fieldGroupsByLocator: FieldGroupValues.openapi({ deprecated: true }),
    configVersion: Integer.optional().openapi({ deprecated: true }),
  })
  .openapi('PolicyModificationResponse')
export type PolicyModificationResponse = z.infer<typeof PolicyModificationResponse>
