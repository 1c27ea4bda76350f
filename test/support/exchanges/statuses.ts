// Checks the statuses with which operations responded in tests against the OpenAPI document.
import { exports } from 'cloudflare:workers'
import { atFileStart } from '../fresh-start/memory.ts'

const answered = new Map<string, Set<string>>()
atFileStart(() => answered.clear())

/** Statuses that the platform returns before it knows the operation, or after a failure of the service. */
const NOT_OF_OPERATIONS: ReadonlySet<number> = new Set([405, 421, 500])

/** Notes the status and error code of the response to a call (`GET /policy/123`). */
export function noteStatus(method: string, path: string, status: number, code: string | undefined): void {
  if (NOT_OF_OPERATIONS.has(status) || code === 'unknownPath') return
  const key = `${method.toLowerCase()} ${path.split('?')[0]!.replace(/\/$/, '')}`
  answered.set(key, (answered.get(key) ?? new Set()).add(`${status}${code === undefined ? '' : ` ${code}`}`))
}

type Document = { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> }
type Operation = { readonly name: string; readonly pattern: RegExp; readonly statuses: ReadonlySet<string> }

/** Read once for all files. */
let documented: readonly Operation[] | undefined

async function readDocument(): Promise<readonly Operation[]> {
  const response = await exports.default.fetch('http://bindery.test/openapi.json')
  const { paths } = (await response.json()) as Document
  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => ({
        name: `${method} ${path}`,
        pattern: new RegExp(`^${method} ${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
        statuses: new Set(Object.keys(responses)),
      })),
    )
    .sort((a, b) => (literalsFirst(a) < literalsFirst(b) ? -1 : 1))
}

/** Sort key that puts a literal segment before a parameter, as the service's routing does. */
const literalsFirst = ({ name }: Operation): string => name.replace(/\{\w+\}/g, '\uffff')

/** Returns the statuses that operations returned and that the document does not list for them. */
export async function undocumented(): Promise<string[]> {
  if (answered.size === 0) return []
  documented ??= await readDocument()
  const operations = documented
  const missing = [...answered].flatMap(([call, statuses]) => {
    const operation = operations.find(({ pattern }) => pattern.test(call))
    const unknown = operation ? [...statuses].filter(one => !operation.statuses.has(one.split(' ')[0]!)) : []
    return unknown.map(status => `${operation!.name}: ${status}`)
  })
  return [...new Set(missing)].sort()
}
