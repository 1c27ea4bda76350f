import type { RealmHost } from './host.ts'

type Script = RealmHost['scripts'][number]

/**
 * Makes the function of one call that returns the exports of the file at a path. Adds the place of a script's syntax error to
 * `places`.
 */
type Loader = (places: WeakMap<object, string>) => (path: string) => unknown

/**
 * CommonJS `require` for the archive's scripts. Paths are relative to the file, or to the folder `scripts/` or its `lib/`. Runs
 * inside the sandbox, so it refers to nothing outside itself.
 *
 * @param problems the problem of each script that cannot run, by path
 */
export function moduleLoader(
  host: Pick<RealmHost, 'script'>,
  problems: Readonly<Record<string, Script['problem'] | null>>,
): Loader {
  const { defineProperty } = Reflect
  const call = Function.prototype.call.bind(Function.prototype.call) as (...given: unknown[]) => unknown

  /** Resolves the request from the folder `steps`, which is changed in place. */
  const joined = (steps: string[], request: string): string => {
    for (const step of request.split('/')) {
      if (step === '..') steps.pop()
      else if (step !== '.' && step !== '') steps.push(step)
    }
    return steps.join('/')
  }
  const found = (from: string, request: string): string | undefined => {
    const isRelative = /^\.\.?(\/|$)/.test(request)
    const target = joined(isRelative ? from.split('/').slice(0, -1) : [], request)
    const targets = isRelative ? [target] : [target, `lib/${target}`]
    for (const one of targets)
      for (const ending of ['', '.js', '.cjs', '.mjs', '.json', '/index.js'])
        if (one + ending in problems) return one + ending
    return undefined
  }
  const resolve = (from: string, request: string): string => {
    const path = found(from, request)
    if (path !== undefined) return path
    const missing: Error & { code?: string } = new Error(
      `cannot find '${request}', which ${from} requires; it is not under scripts/`,
    )
    // As in Node: libraries use the code to distinguish an absent module from one that fails.
    missing.code = 'MODULE_NOT_FOUND'
    throw missing
  }
  const folderOf = (path: string): string => path.split('/').slice(0, -1).join('/')

  return places => {
    const loaded = new Map<string, { exports: unknown }>()
    const load = (path: string): unknown => {
      const known = loaded.get(path)
      if (known) return known.exports
      const problem = problems[path]
      if (problem) {
        const error = new SyntaxError(problem.message)
        places.set(error, `${path}:${problem.line}`)
        throw error
      }
      const module = { exports: {} as unknown, id: path, filename: path }
      loaded.set(path, module)
      try {
        call(host.script(path), module.exports, module.exports, requireOf(path), module, path, folderOf(path))
      } catch (error) {
        loaded.delete(path)
        throw error
      }
      return module.exports
    }
    const requireOf = (from: string) => {
      const require = (request: unknown): unknown => load(resolve(from, String(request)))
      /** A require whose result is not used: the file may be absent. */
      require.unused = (request: string): unknown =>
        found(from, request) === undefined ? {} : require(request)
      /** The exports of a file as an ES module sees them. */
      require.module = (request: string): object => {
        const exports = require(request)
        const isModule = typeof exports === 'object' && exports !== null && '__esModule' in exports
        return isModule ? exports : { ...(exports as object), default: exports }
      }
      require.all = (onto: object, exports: object): void => {
        for (const name of Object.keys(exports))
          if (name !== 'default' && !Object.hasOwn(onto, name))
            defineProperty(onto, name, {
              enumerable: true,
              get: () => (exports as Record<string, unknown>)[name],
            })
      }
      return require
    }
    return load
  }
}
