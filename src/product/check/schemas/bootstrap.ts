import { z } from 'zod'
import { name, text, textList } from './scalars.ts'

/** bootstrap/resources/config.json: resources by their own names, and groups by theirs (resources brief 2). */
export const bootstrapFile = z.strictObject({
  resourceInstances: z
    .record(
      z.string(),
      z
        .strictObject({
          staticName: name,
          jurisdictions: textList.default([]),
          /** Of a secret. */
          allowedHosts: textList.optional(),
        })
        .optional(),
    )
    .default({}),
  resourceGroups: z
    .record(
      z.string(),
      z.strictObject({ selectionStartTime: text, resourceNames: textList.default([]) }).optional(),
    )
    .default({}),
})

/** A file of secrets: values by the names of items. */
export const secretFile = z.record(z.string(), z.unknown())
