// A function that is named in the body, beside what it is given.
import { z } from '@hono/zod-openapi'
import { component, Name } from '../../platform/wire.ts'

export const LambdaRequest = component('LambdaRequest', {
  operation: Name.describe('What the function is asked to do, its first argument.'),
  payload: z.unknown().optional().describe('Any JSON, its second argument; null if it is left out.'),
})

export const LambdaResponse = component('LambdaResponse', {
  payload: z.unknown().describe('What the function returned; null if it returned nothing.'),
})
