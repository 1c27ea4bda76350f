// The overview of work: each list with the number of its records.
import { type Child, fill, h } from '../dom.ts'
import { loaded, section } from '../parts.ts'
import { type Counted, countGroups } from './ask.ts'
import { type ListName, WORDS, WORK_LISTS } from './words.ts'

/** Where the account may see no list, nothing. */
export const workOverview = (signal: AbortSignal): HTMLElement =>
  loaded('the work', async (): Promise<Child> => {
    const groups = await countGroups(signal)
    if (groups.length === 0) return undefined
    return section(
      WORDS.work,
      h(
        'ul',
        { class: 'work' },
        groups.flatMap(({ names, counts }) =>
          names.map(name =>
            tile(
              name,
              counts.then(found => found.get(name)),
            ),
          ),
        ),
      ),
    )
  })

function tile(name: ListName, asked: Promise<Counted | undefined>): HTMLElement {
  const number = h('span', { class: 'count pending' }, '…')
  const link = h(
    'a',
    { href: `#/work/${name}` },
    number,
    h('span', { class: 'name' }, WORK_LISTS[name].title),
  )
  asked
    .then(counted => {
      fill(number, counted ? `${counted.count.toLocaleString()}${counted.hasMore ? '+' : ''}` : '–')
      if (counted?.count === 0) link.classList.add('none')
    })
    .catch(() => fill(number, '–'))
    .finally(() => number.classList.remove('pending'))
  return h('li', {}, link)
}
