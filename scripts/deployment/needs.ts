// The resources that a deployment needs at the provider, read from its configuration.

export type Bucket = {
  readonly name: string
  /** The jurisdiction within which its files stay. Undefined for none. */
  readonly jurisdiction: string | undefined
}

export type Needs = {
  readonly buckets: readonly Bucket[]
  /** Names of queues, including dead-letter queues. */
  readonly queues: readonly string[]
}

const value = (section: string, key: string): string | undefined =>
  section.match(new RegExp(`^${key} = "([^"]*)"`, 'm'))?.[1]

/** Returns the buckets and queues of the configuration, each once. */
export function needsOf(config: string): Needs {
  const sections = config.split(/^(?=\[)/m)
  const of = (header: string): string[] => sections.filter(section => section.startsWith(`[[${header}]]`))
  const buckets = of('r2_buckets').flatMap(section => {
    const name = value(section, 'bucket_name')
    return name === undefined ? [] : [{ name, jurisdiction: value(section, 'jurisdiction') }]
  })
  const queues = [...of('queues.producers'), ...of('queues.consumers')].flatMap(section =>
    ['queue', 'dead_letter_queue'].flatMap(key => value(section, key) ?? []),
  )
  return { buckets, queues: [...new Set(queues)] }
}

/** Returns the id of the control database in a configuration. */
export function controlId(config: string): string {
  const id = config.match(/binding = "CONTROL"\n(?:[^[\n].*\n)*?database_id = "([^"]*)"/)?.[1]
  if (id === undefined) throw new Error('wrangler.toml has no database CONTROL with a database_id.')
  return id
}
