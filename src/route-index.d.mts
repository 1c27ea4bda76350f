// Types of the written file; the file itself is made by `npm run config`.
import type { ListedRoute } from './platform/http/mount.ts'

/** Every route of src/app.ts, in its order. */
export const ROUTE_INDEX: readonly ListedRoute[]
