// A control that selects permissions, group by group.
import { checkInput } from '../desk/inputs.ts'
import { type Child, h } from '../element.ts'
import { words } from '../format.ts'
import { byGroup } from './permission-list.ts'
import { TOKENS as WORDS } from './words.ts'

type Choice = {
  readonly title: string
  readonly hint: string
  /** The permissions to choose from. */
  readonly offered: Iterable<string>
  /**
   * Whether a whole group can be chosen as `group.*`, which includes permissions that are added to it later. The interface
   * rejects this for an account that holds only part of the group.
   */
  readonly isWhole?: boolean
  readonly chosen: ReadonlySet<string>
  readonly choose: (permissions: ReadonlySet<string>) => void
}

const ofAll = (group: string): string => `${group}.*`

export function permissionChoice({ title, hint, offered, isWhole = false, chosen, choose }: Choice): Child {
  const turn = (permissions: readonly string[], isOn: boolean, begin = chosen): void => {
    const others = [...begin].filter(one => !permissions.includes(one))
    choose(new Set(isOn ? [...others, ...permissions] : others))
  }
  const allOf = isWhole ? WORDS.allOfAndLater : WORDS.allOf
  const groups = byGroup([...new Set([...offered, ...chosen])].sort())
  const isChosen = (group: string, one: string): boolean => chosen.has(one) || chosen.has(ofAll(group))
  const groupOf = ([group, all]: [string, string[]]): Child => {
    const some = all.filter(one => one !== ofAll(group))
    const count = some.filter(one => isChosen(group, one)).length
    const isAll = isWhole ? chosen.has(ofAll(group)) : count === some.length
    const turnAll = (isOn: boolean): void => {
      const others = new Set([...chosen].filter(one => !some.includes(one)))
      turn(isWhole ? [ofAll(group)] : some, isOn, others)
    }
    // Without one of its permissions, the group is no longer whole.
    const turnOne = (one: string, isOn: boolean): void =>
      chosen.has(ofAll(group))
        ? turn([ofAll(group), one], false, new Set([...chosen, ...some]))
        : turn([one], isOn)
    return h(
      'details',
      { key: group },
      h('summary', {}, words(group), (isAll || count > 0) && ` (${isAll ? WORDS.allShort : count})`),
      (some.length > 1 || isWhole) && checkInput(allOf(words(group).toLowerCase()), isAll, turnAll),
      some.map(one => checkInput(one, isChosen(group, one), isOn => turnOne(one, isOn))),
    )
  }
  return h(
    'fieldset',
    { class: 'checks' },
    h('legend', {}, title),
    h('p', { class: 'soft small' }, hint),
    [...groups].map(groupOf),
    h('p', { role: 'status', class: 'soft small' }, WORDS.chosen(chosen.size)),
  )
}
