// Operations with the calls that fill them in (brief 5.6, "Autofill order").
import { z } from '@hono/zod-openapi'
import { Text, Texts } from '../../../platform/wire.ts'
import { rule } from '../../../platform/wire-problem.ts'
import { AutofillCalls } from '../../../policy/contract/requests.ts'
import { isOperationName } from './sequence.ts'

const OPERATION =
  'must be <product>.<newBusiness|endorsement|renewal>.<create|update|*>, <product>.*.* or *.*.*'

export const AutofillIntegrationCreateRequest = z
  .object({
    operation: z.string().max(200).refine(isOperationName, rule(OPERATION)).openapi({
      description: 'The one that fits a request best is its.',
      example: 'private_motor.newBusiness.create',
    }),
    callSequence: AutofillCalls.openapi({
      description:
        'In this order, each sees what those before it filled in: `internal`, the plugin getDataAutofill of products that switch it on, and integrations of type data_autofill by their names. An empty list: nothing fills the operation in.',
      example: ['internal', 'vehicle-register'],
    }),
  })
  .openapi('AutofillIntegrationCreateRequest')
export type AutofillIntegrationCreateRequest = z.infer<typeof AutofillIntegrationCreateRequest>

export const AutofillCallResponse = z
  .object({ locator: Text, operation: Text, callSequence: Texts })
  .openapi('AutofillCallResponse')
export type AutofillCallResponse = z.infer<typeof AutofillCallResponse>

export const AutofillIntegrationResponse = z
  .object({ calls: z.array(AutofillCallResponse) })
  .openapi('AutofillIntegrationResponse')
export type AutofillIntegrationResponse = z.infer<typeof AutofillIntegrationResponse>
