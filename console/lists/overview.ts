// The overview of work: each list with the number of its records.
import { type Child, h, part, type View } from '../element.ts'
import { loadedSection, section } from '../parts.ts'
import { usePromise } from '../use-promise.ts'
import { type Counted, countGroups } from './ask.ts'
import { type ListName, WORDS, WORK_LISTS } from './words.ts'

/** Shows nothing if the account may not see any list. */
export const workOverview = (signal: AbortSignal): View =>
  loadedSection('the work', async (): Promise<Child> => {
    const groups = await countGroups(signal)
    if (groups.length === 0) return undefined
    return section(
      WORDS.work,
      h(
        'ul',
        { class: 'work' },
        groups.flatMap(({ names, counts }) =>
          names.map(name => part(Tile, { key: name, name, asked: counts.then(found => found.get(name)) })),
        ),
      ),
    )
  })

function Tile({ name, asked }: { name: ListName; asked: Promise<Counted | undefined> }): View {
  const found = usePromise(asked)
  const counted = found.value
  const text = counted ? `${counted.count.toLocaleString()}${counted.hasMore ? '+' : ''}` : '–'
  return h(
    'li',
    {},
    h(
      'a',
      { href: `#/work/${name}`, class: counted?.count === 0 ? 'none' : undefined },
      h('span', { class: found.isPending ? 'count pending' : 'count' }, found.isPending ? '…' : text),
      h('span', { class: 'name' }, WORK_LISTS[name].title),
    ),
  )
}
