import type { RealmHost } from './host.ts'

type Script = RealmHost['scripts'][number]

/** For each call, gives the exports of the file at a path. `places` gets the place of an error in the text of a script. */
type Loader = (places: WeakMap<object, string>) => (path: string) => unknown

/**
 * CommonJS' `require` over the archive's scripts: relative, or from the folder `scripts/` and its `lib/`. Runs inside the sandbox: it refers
 * to nothing outside itself.
 *
 * @param problems by the path of each script, its problem if it cannot run
 */
export function moduleLoader(
  host: Pick<RealmHost, 'script'>,
  problems: Readonly<Record<string, Script['problem'] | null>>,
): Loader {
  const { defineProperty } = Reflect
  const call = Function.prototype.call.bind(Function.prototype.call) as (...given: unknown[]) => unknown

  /** The list is the folder in which the request begins; it becomes that of the file. */
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
      `cannot find '${request}', which ${from} requires; it is not below scripts/`,
    )
    // As in Node: libraries tell by it that a part is not there from one that fails.
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
      /** Of what nothing is asked: no matter if it is not there. */
      require.unused = (request: string): unknown =>
        found(from, request) === undefined ? undefined : require(request)
      /** An ES module's view of another file. */
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
