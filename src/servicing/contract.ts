// What contracts of this layer share.
import { z } from '@hono/zod-openapi'
import { Flag } from '../platform/wire.ts'

type Metadata = Parameters<z.ZodObject['openapi']>[1]

/** A record under its name in the OpenAPI document, where other records refer to it. */
export const record = <Shape extends z.ZodRawShape>(name: string, shape: Shape, metadata?: Metadata) =>
  z.object(shape).openapi(name, metadata)

export const ListCompleted = Flag.describe('Whether nothing follows.')

/** A list of such items, and whether it is complete. */
export const listOf = <Item extends z.ZodType>(name: string, item: Item) =>
  record(name, { listCompleted: ListCompleted, items: z.array(item) })
