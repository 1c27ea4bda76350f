/** What has conditions: a field, or whatever else depends on others by their names. */
type Dependent = { readonly name: string; readonly conditions: readonly { readonly field: string }[] }

/**
 * Circles of conditions among the fields of one list, each as the names on its way round; one at least where there
 * are any. A field that depends on itself is none: it has a message of its own. Linear in the conditions.
 */
export function conditionCircles(fields: ReadonlyMap<string, Dependent>): string[][] {
  const openDependencies = new Map<string, Set<string>>()
  const dependents = new Map<string, string[]>()
  for (const { name, conditions } of fields.values()) {
    const dependencies = new Set(
      conditions.map(({ field }) => field).filter(field => field !== name && fields.has(field)),
    )
    openDependencies.set(name, dependencies)
    for (const dependency of dependencies) {
      const known = dependents.get(dependency)
      if (known) known.push(name)
      else dependents.set(dependency, [name])
    }
  }
  takeAwayDecided(openDependencies, dependents)
  // What is left has a dependency that is left: following the first of them ends in a circle.
  const circles: string[][] = []
  const seen = new Set<string>()
  for (const start of openDependencies.keys()) {
    const way: string[] = []
    let name = start
    while (!seen.has(name)) {
      seen.add(name)
      way.push(name)
      const [next = start] = openDependencies.get(name) ?? []
      name = next
    }
    const first = way.indexOf(name)
    if (first >= 0) circles.push(way.slice(first))
  }
  return circles
}

/** Takes away the fields that depend on none, then those that depended on these only, and so on. */
function takeAwayDecided(
  openDependencies: Map<string, Set<string>>,
  dependents: ReadonlyMap<string, readonly string[]>,
): void {
  const decided = [...openDependencies].filter(([, open]) => open.size === 0).map(([name]) => name)
  for (let name = decided.pop(); name !== undefined; name = decided.pop()) {
    openDependencies.delete(name)
    for (const dependent of dependents.get(name) ?? []) {
      const open = openDependencies.get(dependent)
      open?.delete(name)
      if (open?.size === 0) decided.push(dependent)
    }
  }
}
