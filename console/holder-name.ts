// Names of policyholders, shown once they are loaded.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { h, part, type View } from './element.ts'
import { holderOf } from './find.ts'
import { personName } from './format.ts'

/** Returns the policyholder's name, or '–' if it cannot be read. */
const nameOf = (locator: string): Promise<string> =>
  holderOf(locator)
    .then(({ entity }) => personName(entity.values))
    .catch(() => '–')

/** What to do when an element scrolls into view. */
const waiting = new WeakMap<Element, () => void>()

const observer = new IntersectionObserver(entries => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue
    observer.unobserve(target)
    waiting.get(target)?.()
  }
})

function HolderName({ locator, isLazy }: { locator: string; isLazy: boolean }): View {
  const place = useRef<HTMLElement>(null)
  const [name, show] = useState<string>()
  const [isAsked, ask] = useState(!isLazy)
  useLayoutEffect(() => {
    let isHere = true
    const start = (): void => {
      ask(true)
      void nameOf(locator).then(text => isHere && show(text))
    }
    const element = place.current
    if (!isLazy || !element) start()
    else {
      waiting.set(element, start)
      observer.observe(element)
    }
    return () => {
      isHere = false
      if (element) observer.unobserve(element)
    }
  }, [locator, isLazy])
  const isPending = isAsked && name === undefined
  return h('span', { ref: place, class: isPending ? 'holder pending' : 'holder' }, name ?? '…')
}

export const holderName = (locator: string): View => part(HolderName, { locator, isLazy: false })

/** Loads the name when its place scrolls into view, for lists with many rows. */
export const lazyHolderName = (locator: string): View => part(HolderName, { locator, isLazy: true })
