import type { Wish } from './client.ts'

/** Something that should not be; with the wish, policy or event that it shows at. */
export type Violation = { readonly says: string; readonly wish?: Wish; readonly policy?: string }
