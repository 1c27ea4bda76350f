// What a resource is: data or text that products run on, which changes on dates of its own (resources brief 2).
import type { Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { ResourceType, TemplateFormat } from '../product/resources.ts'

/** An uploaded thing by its own name. Its contents are those of its newest revision. */
export type Resource = {
  readonly name: string
  readonly type: ResourceType
  /** What configurations and plugins refer to; many resources may share one. */
  readonly staticName: string
  /** Empty: wherever no other resource is for the place. */
  readonly jurisdictions: readonly string[]
  readonly createdAt: Instant
  readonly createdBy: Uuid
  /** Names the contents in force: the locator that answers tell, new with every replacement. */
  readonly revision: Uuid
  /** Of templates and snippets. */
  readonly templateFormat?: TemplateFormat | null
  /** Of static documents: `pdf`, `docx` … */
  readonly format?: string | null
}

/** Earlier contents are kept, so that what was priced or printed with them can be explained. */
export type ResourceRevision = {
  readonly locator: Uuid
  readonly resourceName: string
  readonly createdAt: Instant
  readonly createdBy: Uuid
  readonly sizeBytes: number
  /** SHA-256 of the contents, in hexadecimal digits. */
  readonly hash: string
  readonly mediaType: string
}

/** Resources that are in force together, from a time on. */
export type ResourceGroup = {
  readonly locator: Uuid
  readonly name: string
  readonly selectionStart: Instant
  readonly createdAt: Instant
  readonly createdBy: Uuid
  readonly retired: boolean
  readonly version: number
  readonly resourceNames: readonly string[]
}
