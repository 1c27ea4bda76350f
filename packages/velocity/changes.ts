// Methods that change a list or map which the template made itself.
import { ITEM_WORK, type RenderBudget } from '../liquid/limits.ts'
import { asInteger } from '../liquid/values.ts'
import { equal, ITEM_MEMORY, isMap, printed, readable } from './values.ts'

type Change<Owner> = (owner: Owner, args: readonly unknown[], budget: RenderBudget) => unknown

/** As in Java: `add` says true, `put`, `set` and `remove` give what was there before. */
const LIST: Readonly<Record<string, Change<unknown[]>>> = {
  add: (owner, [item], budget) => {
    budget.countMemory(ITEM_MEMORY)
    owner.push(item)
    return true
  },
  addAll: (owner, [items], budget) => {
    if (!Array.isArray(items)) return undefined
    budget.countMemory(items.length * ITEM_MEMORY)
    for (const item of [...items]) owner.push(readable(item))
    return items.length > 0
  },
  set: (owner, [at, item]) => {
    const index = asInteger(at) ?? -1
    if (index < 0 || index >= owner.length) return undefined
    const [before] = owner.splice(index, 1, item)
    return before
  },
  remove: (owner, [at], budget) => {
    budget.countWork(owner.length * ITEM_WORK)
    const index = asInteger(at) ?? owner.findIndex(one => equal(one, at))
    return index < 0 ? undefined : owner.splice(index, 1)[0]
  },
  clear: owner => void owner.splice(0),
}

type OwnMap = Record<string, unknown>

const MAP: Readonly<Record<string, Change<OwnMap>>> = {
  put: (owner, [key, value], budget) => {
    const name = printed(key, budget)
    budget.countMemory(ITEM_MEMORY + name.length)
    const before = owner[name]
    owner[name] = value
    return before
  },
  putAll: (owner, [other], budget) => {
    if (!isMap(other)) return
    const keys = Object.keys(other)
    budget.countMemory(keys.length * ITEM_MEMORY)
    for (const key of keys) owner[key] = readable(other[key])
  },
  remove: (owner, [key], budget) => {
    const name = printed(key, budget)
    const before = owner[name]
    delete owner[name]
    return before
  },
  clear: owner => {
    for (const key of Object.keys(owner)) delete owner[key]
  },
}

/** Whether the method, of this value, is one that changes it. */
export const changes = (owner: unknown, name: string): owner is object =>
  Array.isArray(owner) ? Object.hasOwn(LIST, name) : isMap(owner) && Object.hasOwn(MAP, name)

/** Calls it; `owner` is a list or map of the template's own, which has no prototype that a key could reach. */
export const changed = (
  owner: object,
  name: string,
  args: readonly unknown[],
  budget: RenderBudget,
): unknown =>
  Array.isArray(owner) ? LIST[name]!(owner, args, budget) : MAP[name]!(owner as OwnMap, args, budget)
