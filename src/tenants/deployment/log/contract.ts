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
  version: optional(requestInteger(1)).describe('Entries by which this version was deployed or repaired.'),
  refused: OptionalBoolean.describe('`true`: only attempts that were refused, without regard to `version`.'),
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type DeploymentLogQuery = z.infer<typeof DeploymentLogQuery>

const entry = {
  locator: Text.describe('Names the entry in `GET /deployments/log/{logLocator}`.'),
  timestamp: Timestamp.describe('When it was deployed, or refused.'),
  kind: z.enum(['deploy', 'repair']),
  outcome: z.enum(['deployed', 'refused']).describe('What came of it.'),
  version: OptionalText.describe(
    'The configVersion, as text; of a repair that was refused, the one that it was of. Absent for a deploy that was refused.',
  ),
  route: Text.describe('Method and path of the request.'),
  username: Text.describe('Who sent it.'),
  accountLocator: Text,
  requestId: Text.describe('X-Request-Id of the request.'),
  hash: OptionalText.describe('SHA-256 of the archive, hex. Absent for one that was refused.'),
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
          description: 'What was counted in the step.',
          example: { errors: 0, warnings: 2 },
        }),
      }),
    )
    .describe('In order. The last step of an attempt that was refused is the one that refused it.'),
  findings: z
    .array(ConfigurationFinding)
    .describe(
      'The first 1,000, and no more than 100,000 characters of them; `errors` and `warnings` count all.',
    ),
})
export type DeploymentLogResponse = z.infer<typeof DeploymentLogResponse>

export const DeploymentLogChangesResponse = component('DeploymentLogChangesResponse', changes)
export type DeploymentLogChangesResponse = z.infer<typeof DeploymentLogChangesResponse>
