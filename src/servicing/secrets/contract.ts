import { z } from '@hono/zod-openapi'
import { booleanOr, Flag, Integer, Text } from '../../platform/wire.ts'

export const SecretDeleteQuery = z.object({
  force: booleanOr(false).openapi({ description: 'Also while something refers to it.' }),
})

export type SecretDeleteQuery = z.output<typeof SecretDeleteQuery>

export const SecretUsageResponse = z
  .object({
    staticName: Text,
    webhooks: z.array(z.object({ locator: Text, name: Text })),
    integrations: z.array(Text).openapi({ description: 'Names.' }),
    configVersion: Integer.optional().openapi({
      description: 'The deployed version, where it declares it or a script of it reads it.',
    }),
    isNeeded: Flag.openapi({
      description:
        'Whether a deletion is refused: something refers to the static name, and may mean this one.',
    }),
  })
  .openapi('SecretUsageResponse')

export type SecretUsageResponse = z.output<typeof SecretUsageResponse>
