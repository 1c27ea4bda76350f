import { z } from '@hono/zod-openapi'
import {
  component,
  Integer,
  OptionalBoolean,
  OptionalText,
  optional,
  PageSize,
  PagingToken,
  requestInteger,
  Text,
  Timestamp,
} from '../../../platform/wire.ts'
import { DEPLOYMENT_STEPS } from '../../../product/tables.ts'
import { ConfigurationFinding, changes, DeploymentQuery } from '../contract.ts'

export const DeploymentLogQuery = DeploymentQuery.extend({
  version: optional(requestInteger(1)).describe('Only deploys and repairs of this version.'),
  refused: OptionalBoolean.describe('`true`: only rejected attempts, regardless of `version`.'),
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type DeploymentLogQuery = z.infer<typeof DeploymentLogQuery>

const entry = {
  locator: Text.describe('Identifies the entry in `GET /deployments/log/{logLocator}`.'),
  timestamp: Timestamp.describe('When it was deployed or rejected.'),
  kind: z.enum(['deploy', 'repair']),
  outcome: z.enum(['deployed', 'refused']).describe('The result.'),
  version: OptionalText.describe(
    'The configVersion, as text. For a rejected repair, the version that it was to repair. Absent for a rejected deploy.',
  ),
  route: Text.describe('Method and path of the request.'),
  username: Text.describe('The user who sent the request.'),
  accountLocator: Text,
  requestId: Text.describe('X-Request-Id of the request.'),
  hash: OptionalText.describe('SHA-256 of the archive, in hexadecimal. Absent for a rejected archive.'),
  errors: Integer,
  warnings: Integer,
}

export const DeploymentLogEntry = component('DeploymentLogEntry', entry)
export type DeploymentLogEntry = z.infer<typeof DeploymentLogEntry>

export const DeploymentLogPageResponse = component('DeploymentLogPageResponse', {
  entries: z.array(DeploymentLogEntry),
  pagingToken: OptionalText.describe('Absent on the last page.'),
})
export type DeploymentLogPageResponse = z.infer<typeof DeploymentLogPageResponse>

export const DeploymentLogResponse = component('DeploymentLogResponse', {
  ...entry,
  steps: z
    .array(
      z.object({
        step: z.enum(DEPLOYMENT_STEPS).describe('What was done.'),
        counts: z.record(Text, Integer).openapi({
          description: 'Counts of the step.',
          example: { errors: 0, warnings: 2 },
        }),
      }),
    )
    .describe('In order. If the attempt was rejected, the last step rejected it.'),
  findings: z
    .array(ConfigurationFinding)
    .describe(
      'The first 1,000, with at most 100,000 characters in total. `errors` and `warnings` count all.',
    ),
})
export type DeploymentLogResponse = z.infer<typeof DeploymentLogResponse>

export const DeploymentLogChangesResponse = component('DeploymentLogChangesResponse', changes)
export type DeploymentLogChangesResponse = z.infer<typeof DeploymentLogChangesResponse>
