/** What only the root of a configuration has. */
const ROOT_NAMES = new Set([
  'config.json',
  'products',
  'payment',
  'policyholder',
  'security',
  'scripts',
  'bootstrap',
])

const firstSegment = (path: string): string => path.split('/', 1)[0]!

/**
 * Where the configuration begins: at the top, or in the one folder wrapped around it (brief 0.8). `prefix` is empty
 * or ends with `/`; `outside` are the files beside the wrapping folder.
 */
export function configurationRoot(paths: string[]): { prefix: string; outside: string[] } {
  if (paths.some(path => ROOT_NAMES.has(firstSegment(path)))) return { prefix: '', outside: [] }
  const wrapping = new Set(
    paths
      .map(path => path.split('/', 3))
      .filter(([, second]) => second !== undefined && ROOT_NAMES.has(second))
      .map(([first]) => first!),
  )
  if (wrapping.size !== 1) return { prefix: '', outside: [] }
  const prefix = `${[...wrapping][0]}/`
  return { prefix, outside: paths.filter(path => !path.startsWith(prefix)) }
}
