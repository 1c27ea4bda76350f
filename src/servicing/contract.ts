import { z } from '@hono/zod-openapi'
import { Flag } from '../platform/wire.ts'

type Metadata = Parameters<z.ZodObject['openapi']>[1]

/** The name is a schema of the OpenAPI document. */
export const record = <Shape extends z.ZodRawShape>(name: string, shape: Shape, metadata?: Metadata) =>
  z.object(shape).openapi(name, metadata)

export const ListCompleted = Flag.describe('Whether nothing follows.')

export const listOf = <Item extends z.ZodType>(name: string, item: Item) =>
  record(name, { listCompleted: ListCompleted, items: z.array(item) })
