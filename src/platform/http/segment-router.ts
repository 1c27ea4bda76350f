// Which route a path is of. Hono's quick router takes no two parameters with different names in one place, and its other one
// looks through all that may fit in every request; here a path is gone along segment by segment, names before parameters.
import type { Params, Result, Router } from 'hono/router'

/** What ends at a place, by method; `parameters` are the names of those on the way. */
type Place<T> = {
  readonly names: Map<string, Place<T>>
  readonly ends: Map<string, { readonly handler: T; readonly parameters: readonly string[] }>
  parameter?: Place<T>
}

const place = <T>(): Place<T> => ({ names: new Map(), ends: new Map() })

const segmentsOf = (path: string): string[] => path.slice(1).split('/')

/** Of routes that fit alike the one that was added first counts. What is for every path comes before all. */
export class SegmentRouter<T> implements Router<T> {
  readonly name = 'SegmentRouter'
  readonly #root = place<T>()
  readonly #forAll: [T, Params][] = []

  add(method: string, path: string, handler: T): void {
    if (path === '/*') {
      this.#forAll.push([handler, {}])
      return
    }
    const parameters: string[] = []
    let at = this.#root
    for (const segment of segmentsOf(path)) {
      if (segment.startsWith(':')) {
        parameters.push(segment.slice(1))
        at.parameter ??= place()
        at = at.parameter
        continue
      }
      const next = at.names.get(segment) ?? place()
      at.names.set(segment, next)
      at = next
    }
    if (!at.ends.has(method)) at.ends.set(method, { handler, parameters })
  }

  match(method: string, path: string): Result<T> {
    const values: string[] = []
    const end = find(this.#root, segmentsOf(path), 0, method, values)
    if (!end) return [[...this.#forAll]]
    const params: Params = {}
    for (const [at, name] of end.parameters.entries()) params[name] = values[at]!
    return [[...this.#forAll, [end.handler, params]]]
  }
}

/** `values` are those of the parameters on the way. */
function find<T>(
  from: Place<T>,
  segments: readonly string[],
  at: number,
  method: string,
  values: string[],
): ReturnType<Place<T>['ends']['get']> {
  const segment = segments[at]
  if (segment === undefined) return from.ends.get(method)
  const named = from.names.get(segment)
  const end = named && find(named, segments, at + 1, method, values)
  if (end || segment === '' || !from.parameter) return end
  values.push(segment)
  const within = find(from.parameter, segments, at + 1, method, values)
  if (!within) values.pop()
  return within
}
