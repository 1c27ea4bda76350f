import { z } from '@hono/zod-openapi'
import { Name } from '../../platform/wire.ts'

/** POST /policy/{policyLocator}/paymentSchedule: the name of a payment schedule of the product (brief 0.11). */
export const PaymentScheduleChangeRequest = z
  .object({ newPaymentScheduleName: Name })
  .openapi('PaymentScheduleChangeRequest')
export type PaymentScheduleChangeRequest = z.infer<typeof PaymentScheduleChangeRequest>
